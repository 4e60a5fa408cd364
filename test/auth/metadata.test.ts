// The documents that lead a client to a token: where they are, what they say, and who may read them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEdge } from "../support/http.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { mounts, notesServer, protect } from "./protected.ts";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.start();
});
afterAll(() => issuer.close());

const root = "/.well-known/oauth-protected-resource";
const paths = [root, `${root}/mcp`];

describe.each(mounts)("the metadata of the resource · %s", (mount) => {
  test.each(paths)(
    "%s is public, and names the resource exactly and at least one authorization server [RS-PRM, RS-PRM-AS, RS-PRM-DISCOVERY, RS-OFFLINE]",
    async (path) => {
      const edge = await protect(mount, notesServer().server, issuer.issuer, {
        requiredScopes: ["notes:read"],
        resourceName: "Notes",
        resourceDocumentation: "https://example.com/docs",
      });
      const reply = await (await edge.send({ method: "GET", path })).complete();
      expect(reply.status).toBe(200);
      expect(reply.type).toBe("application/json");
      expect(reply.headers["access-control-allow-origin"]).toBe("*");
      expect(JSON.parse(reply.text)).toEqual({
        resource: edge.resource,
        authorization_servers: [issuer.issuer],
        scopes_supported: ["notes:read"],
        bearer_methods_supported: ["header"],
        resource_name: "Notes",
        resource_documentation: "https://example.com/docs",
      });
    },
  );

  test("can be asked for with HEAD and OPTIONS, and with nothing else", async () => {
    const edge = await protect(mount, notesServer().server, issuer.issuer);
    const ask = async (method: string): Promise<number> => (await edge.send({ method, path: root })).status;
    expect(await ask("HEAD")).toBe(200);
    expect(await ask("OPTIONS")).toBe(204);
    expect(await ask("POST")).toBe(405);
    const preflight = await edge.send({
      method: "OPTIONS",
      path: root,
      headers: { origin: "http://localhost:6274", "access-control-request-headers": "mcp-protocol-version" },
    });
    expect(preflight.headers["access-control-allow-origin"]).toBe("*");
    expect(preflight.headers["access-control-allow-headers"]).toBe("MCP-Protocol-Version");
  });

  test("is behind the guard like everything else", async () => {
    const edge = await protect(mount, notesServer().server, issuer.issuer);
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await edge.send({ method: "GET", path: root, headers })).status;
    expect(await ask({ host: "evil.example" })).toBe(403);
    expect(await ask({ origin: "https://evil.example" })).toBe(403);
  });

  test("does not believe what the request says of its host: a forged header leads no client astray", async () => {
    const edge = await protect(mount, notesServer().server, issuer.issuer, {}, { trustProxy: true });
    const headers = {
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example",
    };
    const refused = await edge.send({ headers });
    expect(refused.headers["www-authenticate"]).toContain(`resource_metadata="${edge.metadataUrl}"`);
    const document = await (await edge.send({ method: "GET", path: root, headers })).complete();
    expect(JSON.parse(document.text)).toMatchObject({ resource: edge.resource });
  });

  test("leads from the challenge of a resource behind a proxy to its public address [RS-PRM-DISCOVERY]", async () => {
    const auth = { resource: "https://mcp.example.com/notes/mcp" };
    const edge = await protect(mount, notesServer().server, issuer.issuer, auth, { trustProxy: true });
    const refused = await edge.send({ headers: { host: "mcp.example.com" } });
    expect(refused.headers["www-authenticate"]).toBe(
      `Bearer resource_metadata="https://mcp.example.com${root}/notes/mcp"`,
    );
    const document = await (await edge.send({ method: "GET", path: `${root}/notes/mcp` })).complete();
    expect(JSON.parse(document.text)).toMatchObject(auth);
  });
});

describe("the metadata of the authorization server", () => {
  const path = "/.well-known/oauth-authorization-server";

  test.each(mounts)(
    "is passed on for clients of 2025-03-26 where that is wanted, and only there · %s [AUTH25-BASE-URL, AUTH25-METADATA-SERVER]",
    async (mount) => {
      const passing = await protect(mount, notesServer().server, issuer.issuer, { passServerMetadata: true });
      const reply = await (await passing.send({ method: "GET", path })).complete();
      expect(JSON.parse(reply.text)).toMatchObject({
        issuer: issuer.issuer,
        authorization_endpoint: `${issuer.issuer}/auth`,
        token_endpoint: `${issuer.issuer}/token`,
      });
      const other = await protect(mount, notesServer().server, issuer.issuer);
      expect((await other.send({ method: "GET", path })).status).toBe(401);
    },
  );

  test("is 503 while it cannot be had", async () => {
    const { server, logger } = notesServer();
    const edge = await protect("serveHttp", server, "http://127.0.0.1:1", { passServerMetadata: true });
    const reply = await edge.send({ method: "GET", path });
    expect(reply.status).toBe(503);
    expect(reply.headers["retry-after"]).toBe("5");
    expect(logger.entries).toContainEqual(expect.objectContaining({ level: "error" }));
    // The document is public, so requests for it must not fill the log.
    for (let at = 0; at < 20; at++) await (await edge.send({ method: "GET", path })).complete();
    expect(logger.entries.filter(({ level }) => level === "error").length).toBeLessThanOrEqual(20);
  });
});

describe("CORS", () => {
  test("lets a page that was named read the challenge", async () => {
    const origin = "https://client.example";
    const cors = { origins: [origin] };
    const edge = await protect("serveHttp", notesServer().server, issuer.issuer, {}, { cors });
    const reply = await edge.send({ headers: { origin } });
    expect(reply.status).toBe(401);
    expect(reply.headers["access-control-allow-origin"]).toBe(origin);
    expect(reply.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
  });
});

test("without bearerAuth there is no metadata", async () => {
  const { server } = notesServer();
  const edge = await openEdge("serveHttp", server, { auth: () => undefined });
  expect((await edge.send({ method: "GET", path: root })).status).toBe(404);
});
