// The fixture, protected from the command line with the tokens of a given issuer.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEverything, type Everything } from "../support/everything.ts";
import { modernPost, sendTo } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { bearer } from "./protected.ts";

const resource = "https://everything.example.com/mcp";

describe("everything --oauth-issuer --resource", () => {
  let issuer: AuthorizationServer;
  let fixture: Everything;
  beforeAll(async () => {
    issuer = await AuthorizationServer.start();
    fixture = await startEverything("--oauth-issuer", issuer.issuer, "--resource", resource);
  });
  afterAll(async () => {
    await fixture.stop();
    await issuer.close();
  });

  const call = async (name: string, token?: string): Promise<[number, string]> => {
    const { port } = new URL(fixture.url);
    const request = modernPost(modernRequest(1, "tools/call", { name, arguments: {} }), bearer(token));
    const reply = await (await sendTo(Number(port), request)).complete();
    return [reply.status, reply.headers["www-authenticate"] ?? reply.text];
  };

  test("asks for tokens of that issuer and for that resource [RS-401, RS-AUDIENCE]", async () => {
    const [status, challenge] = await call("write_note");
    expect(status).toBe(401);
    expect(challenge).toContain(
      'resource_metadata="https://everything.example.com/.well-known/oauth-protected-resource/mcp"',
    );
    const [elsewhere] = await call("write_note", await issuer.issue("https://other.example.com/mcp"));
    expect(elsewhere).toBe(401);
  });

  test("lets write_note be called with notes:write only [RS-403]", async () => {
    const [status, challenge] = await call("write_note", await issuer.issue(resource, "notes:read"));
    expect(status).toBe(403);
    expect(challenge).toContain('error="insufficient_scope", scope="notes:write"');
    const [allowed, text] = await call("write_note", await issuer.issue(resource, "notes:write"));
    expect(allowed).toBe(200);
    expect(text).toContain("robot noted: nothing");
  });
});
