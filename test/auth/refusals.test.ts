// What a refused caller reads: the words and bodies of an author's own auth, and reasons that a header can carry.
import { McpServer, type ServerEvent } from "halyard";
import { type AuthRefusal, bearerAuth, type RequestHead } from "halyard/auth";
import { describe, expect, test } from "vitest";
import { describeEdges, modernPost } from "../support/http.ts";
import { recordingLogger } from "../support/log.ts";
import { modernRequest } from "../support/raw.ts";
import { allowBeyondSchema } from "../support/schemas/witness.ts";
import { limitOf } from "./limits.ts";
import { headWith } from "./protected.ts";

const info = { name: "test", version: "1.0.0" };
const ping = modernPost(modernRequest(1, "tools/list"));

describeEdges("a refusal of auth", (open) => {
  async function refusedBy(
    refusal: unknown,
  ): Promise<{ status: number; type: string | undefined; text: string }> {
    const edge = await open(new McpServer(info, { logger: recordingLogger() }), {
      auth: () => refusal as AuthRefusal,
    });
    const reply = await (await edge.send(ping)).complete();
    return { status: reply.status, type: reply.type, text: reply.text };
  }

  test("has the body that its author wrote: an object as JSON, a text as text", async () => {
    allowBeyondSchema("help: unknown key");
    const json = { error: "no_key", help: "https://example.com/keys" };
    expect(await refusedBy({ status: 401, message: "No key", body: json })).toEqual({
      status: 401,
      type: "application/json",
      text: JSON.stringify(json),
    });
    expect(await refusedBy({ status: 403, message: "Blocked", body: "Grüße" })).toEqual({
      status: 403,
      type: "text/plain; charset=utf-8",
      text: "Grüße",
    });
    const html = {
      status: 403,
      message: "Blocked",
      body: "<p>Blocked",
      headers: { "Content-Type": "text/html" },
    };
    expect(await refusedBy(html)).toEqual({ status: 403, type: "text/html", text: "<p>Blocked" });
  });

  test("without a body is a JSON-RPC error with its message", async () => {
    const { type, text } = await refusedBy({ status: 401, message: "Who are you?" });
    expect([type, JSON.parse(text)]).toEqual([
      "application/json",
      { jsonrpc: "2.0", error: { code: -32600, message: "Who are you?" } },
    ]);
  });

  test("with 401 has the challenge that HTTP requires, or the one of its author [RS-401]", async () => {
    const challengeOf = async (refusal: AuthRefusal, auth: object = {}): Promise<string | undefined> => {
      const authenticate = (): AuthRefusal => refusal;
      const whole = { authenticate, refuseScopes: authenticate, ...auth };
      const edge = await open(new McpServer(info, { logger: recordingLogger() }), { auth: whole });
      return (await (await edge.send(ping)).complete()).headers["www-authenticate"];
    };
    const refusal: AuthRefusal = { status: 401, message: "Send your key as X-API-Key" };
    expect(await challengeOf(refusal)).toBe("Bearer");
    expect(await challengeOf({ ...refusal, headers: { "WWW-Authenticate": "ApiKey" } })).toBe("ApiKey");
    expect(await challengeOf({ ...refusal, body: "No" })).toBe("Bearer");
    expect(await challengeOf({ ...refusal, status: 403 })).toBeUndefined();
    const { resource, documents } = bearerAuth({
      resource: "https://mcp.example.com/mcp",
      authorizationServers: ["https://auth.example.com"],
    });
    expect(await challengeOf(refusal, { resource, documents })).toBe(
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
    );
  });

  test.each([
    [
      { expiresAt: Math.floor(Date.UTC(2030, 0) / 1000) },
      "expiresAt is 1893456000, which looks like seconds: it is in milliseconds since 1970, so multiply by 1000",
    ],
    [{ scope: "a b" }, "it has scope: did you mean scopes, which is a list?"],
    [{ expiresAt: "2030-01-01" }, 'expiresAt must be a number of milliseconds since 1970, not "2030-01-01"'],
  ])("is not made of a principal with %j: the log says why", async (fields, problem) => {
    const logger = recordingLogger();
    const principal = { issuer: "https://example.com", subject: "alice", ...fields };
    const edge = await open(new McpServer(info, { logger }), { auth: () => principal as never });
    expect((await (await edge.send(ping)).complete()).status).toBe(500);
    const entry = logger.entries.find(({ level }) => level === "error");
    expect((entry?.details?.["error"] as Error | undefined)?.message).toBe(
      `The value that auth returns must be undefined, a refusal { status, message } or a principal { issuer, subject, scopes?, expiresAt? }: ${problem}`,
    );
  });

  test("is observed by its message, not by its body", async () => {
    const events: ServerEvent[] = [];
    const server = new McpServer(info, { observe: (event) => void events.push(event) });
    const edge = await open(server, { auth: () => ({ status: 401, message: "No key", body: "a secret" }) });
    await (await edge.send(ping)).complete();
    expect(JSON.stringify(events)).toContain("No key");
    expect(JSON.stringify(events)).not.toContain("a secret");
  });

  const most = limitOf("characters of a refusal's body");
  test.each<[string, unknown, string]>([
    ["another status", { status: 200, message: "" }, "status must be 400, 401, 403 or 503, not 200"],
    ["no message", { status: 401 }, "message must be a text"],
    [
      "a header that cannot be sent",
      { status: 401, message: "", headers: { "x-a": "a\nb: c" } },
      'headers has "x-a", which cannot be sent as a header',
    ],
    [
      "a header that is no text",
      { status: 401, message: "", headers: { "retry-after": 5 } },
      'headers has "retry-after", which cannot be sent as a header',
    ],
    ["a body of another kind", { status: 401, message: "", body: 5 }, "body must be a text or an object"],
    [
      "a body that is too long",
      { status: 401, message: "", body: "a".repeat(most + 1) },
      `body has ${most + 1} characters: the limit is ${most}`,
    ],
  ])("with %s lets nobody in, and the log says why", async (_, refusal, problem) => {
    const logger = recordingLogger();
    const edge = await open(new McpServer(info, { logger }), { auth: () => refusal as AuthRefusal });
    const reply = await (await edge.send(ping)).complete();
    expect(reply.status).toBe(500);
    const entry = logger.entries.find(({ level }) => level === "error");
    expect((entry?.details?.["error"] as Error | undefined)?.message).toBe(
      `auth returned a refusal that cannot be sent: ${problem}`,
    );
  });

  test("may have a body of as many characters as docs/reference/limits.md says", async () => {
    const { status, text } = await refusedBy({ status: 401, message: "", body: "a".repeat(most) });
    expect([status, text.length]).toEqual([401, most]);
  });
});

describe("reasons of bearerAuth", () => {
  const whole = {
    resource: "https://mcp.example.com/mcp",
    authorizationServers: ["https://auth.example.com"],
  };
  const refusalOf = async (options: object, claims: object, token = "abc"): Promise<AuthRefusal> => {
    const auth = bearerAuth({ ...whole, verify: () => ({ sub: "alice", ...claims }), ...options });
    return (await auth.authenticate(headWith(token))) as AuthRefusal;
  };

  test.each<[string, object, object, string]>([
    [
      "the audience that is configured",
      { audience: ["api://notes", "https://mcp.example.com"] },
      { aud: "api://mail" },
      "The token is not for this resource: its audience must be api://notes or https://mcp.example.com",
    ],
    [
      "each issuer",
      { authorizationServers: ["https://a.example", "https://b.example"] },
      { iss: "https://c.example", aud: whole.resource },
      "The token is from another issuer: this server accepts tokens of https://a.example or https://b.example",
    ],
    [
      "all scopes where none is there",
      { requiredScopes: ["a", "b"] },
      { aud: whole.resource },
      "Insufficient scope: a b are missing",
    ],
  ])("name %s, and nothing of the token", async (_, options, claims, message) => {
    const refusal = await refusalOf(options, claims);
    expect(refusal.message).toBe(message);
    expect(refusal.headers?.["www-authenticate"]).toContain(`error_description="${message}"`);
    expect(JSON.stringify(refusal)).not.toMatch(/api:\/\/mail|c\.example|alice/);
  });

  test("say that verify must return aud, to the operator and not to callers", async () => {
    const refusal = await refusalOf({}, { scope: "notes" });
    expect(refusal.message).toBe(
      "The token is not for this resource: its audience must be https://mcp.example.com/mcp",
    );
    expect(refusal.problem).toBe(
      'verify() returned claims without aud, so the token was refused: return claims such as { sub, aud: "https://mcp.example.com/mcp", scope, exp }, with aud only if the token is for this server and exp in seconds',
    );
    expect((await refusalOf({}, { aud: "api://mail" })).problem).toBeUndefined();
  });

  test("stay within what a header can carry", async () => {
    const refusal = await refusalOf({ audience: 'api "notes" \\ größe' }, { aud: "other" });
    expect(refusal.headers?.["www-authenticate"]).toContain(
      'error_description="The token is not for this resource: its audience must be api ?notes? ? gr??e"',
    );
    const scopes = Array.from({ length: 40 }, (_, nth) => `scope:${nth}`);
    const many = await refusalOf({ requiredScopes: scopes }, { aud: whole.resource });
    expect(many.message).toMatch(/^Insufficient scope: (?:scope:\d ){10}and 30 more are missing$/);
    expect(many.headers?.["www-authenticate"]).toContain(`scope="${scopes.join(" ")}"`);
  });

  test("say how to send a token where there is none, or not one", async () => {
    const auth = bearerAuth(whole);
    const none: RequestHead = { ...headWith(""), header: () => undefined };
    expect(await auth.authenticate(none)).toMatchObject({
      status: 401,
      message: "A bearer token is required: send it as Authorization: Bearer <token>",
    });
    expect(await auth.authenticate(headWith("two tokens"))).toMatchObject({
      status: 400,
      message: "The Authorization header must be Bearer, a space and one token of at most 16384 characters",
    });
  });
});
