// The official client finds its own way in: discovery, a user's consent, a token, calls; and asks for more when it must.
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { mounts, notesServer, protect } from "./protected.ts";
import { User } from "./user.ts";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.start();
});
afterAll(() => issuer.close());

const eras = [
  ["modern", { versionNegotiation: { mode: { pin: "2026-07-28" } } }, StreamableHTTPClientTransport, "/mcp"],
  ["a legacy session", {}, StreamableHTTPClientTransport, "/mcp"],
  ["HTTP+SSE", {}, SSEClientTransport, "/sse"],
] as const;

const cells = mounts.flatMap((mount) =>
  eras.map(([era, options, Transport, path]) => ({ mount, era, options, Transport, path })),
);

describe.each(cells)("the official client · $era · $mount", ({ mount, options, Transport, path, era }) => {
  test("goes from 401 through discovery and consent with PKCE to a call, and steps up where a scope is missing [RS-401, RS-PRM, RS-PRM-DISCOVERY, RS-SCOPE-CHALLENGE, RS-403, RS-INSUFFICIENT-SCOPE, RS-AUDIENCE]", async () => {
    const { server } = notesServer();
    const edge = await protect(mount, server, issuer.issuer, {
      requiredScopes: ["notes:read"],
      resource: `http://127.0.0.1:PORT${path}`,
    });
    const user = new User(issuer);
    const open = async (): Promise<{ client: Client; transport: InstanceType<typeof Transport> }> => {
      const client = new Client({ name: "test", version: "1.0.0" }, options);
      onTestFinished(() => client.close());
      const transport = new Transport(new URL(path, edge.resource), { authProvider: user });
      return { client, transport };
    };
    const first = await open();
    await expect(first.client.connect(first.transport)).rejects.toThrow(UnauthorizedError);
    expect(user.asked).toEqual(["notes:read"]);
    await first.transport.finishAuth(user.answer ?? new URLSearchParams());
    const { client, transport } = await open();
    await client.connect(transport);
    expect(await client.callTool({ name: "whoami" })).toMatchObject({
      content: [{ text: `${issuer.issuer} alice` }],
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["whoami"]);
    if (era === "HTTP+SSE") return;
    // The refusal names the missing scope. The client asks the user for it and repeats the call.
    await expect(client.callTool({ name: "write_note" })).rejects.toThrow(UnauthorizedError);
    expect(user.asked[1]?.split(" ").toSorted()).toEqual(["notes:read", "notes:write"]);
    await transport.finishAuth(user.answer ?? new URLSearchParams());
    expect(await client.callTool({ name: "write_note" })).toMatchObject({
      content: [{ text: "Noted for alice" }],
    });
  });
});
