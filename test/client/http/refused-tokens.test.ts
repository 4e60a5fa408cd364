// What a user reads when a server refuses a token, or wants one: the server's own reason, the scopes it names, and what to do.
import { McpServer } from "halyard";
import { bearerAuth } from "halyard/auth";
import { AuthRequired, connect, type ConnectOptions } from "halyard/client";
import { serveHttp } from "halyard/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failing, newestModern, start } from "../../support/http-script.ts";

const issuer = "https://issuer.example.com";
let url: string;
let close: () => Promise<void>;

/** Tokens that are their claims. */
const tokenFor = (aud: string, scope: string): string =>
  Buffer.from(JSON.stringify({ iss: issuer, sub: "ada", aud, scope, exp: 4_000_000_000 })).toString(
    "base64url",
  );

beforeAll(async () => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.tool("read", {}, () => "Read");
  server.tool("write", { scopes: ["notes:write"] }, () => "Written");
  const http = await serveHttp(server, {
    port: 0,
    auth: bearerAuth({
      resource: "https://notes.example.com/mcp",
      authorizationServers: [issuer],
      requiredScopes: ["notes:read"],
      verify: (token) => JSON.parse(Buffer.from(token, "base64url").toString()) as never,
    }),
  });
  ({ url } = http);
  close = () => http.close();
});

afterAll(() => close());

async function refusal(options: ConnectOptions): Promise<AuthRequired> {
  const error = await failing(connect(url, options).then((client) => client.callTool("write")));
  expect(error).toBeInstanceOf(AuthRequired);
  return error as unknown as AuthRequired;
}

describe("a server of ours", () => {
  test("says that the token is for another audience", async () => {
    const { message } = await refusal({ auth: tokenFor("https://other.example.com", "notes:read") });
    expect(message).toBe(
      `${url} answered 401: invalid_token: The token is not for this resource: its audience must be https://notes.example.com/mcp: the token was refused: pass one that is valid now and meant for this server, with the scopes notes:read`,
    );
  });

  test("says which scopes the token lacks, when connecting and for one tool", async () => {
    const aud = "https://notes.example.com/mcp";
    expect((await refusal({ auth: tokenFor(aud, "mail") })).message).toBe(
      `${url} answered 403: insufficient_scope: Insufficient scope: notes:read is missing: the token was refused: pass one with the scopes notes:read`,
    );
    expect((await refusal({ auth: () => tokenFor(aud, "notes:read") })).message).toBe(
      `${url} answered 403: insufficient_scope: Insufficient scope: notes:write is missing; this requires notes:read notes:write: the token was refused: pass one with the scopes notes:read notes:write`,
    );
  });

  test("is reached with no token: the error says to pass one, and which scopes it needs", async () => {
    expect((await refusal({})).message).toBe(
      `${url} answered 401: A bearer token is required: send it as Authorization: Bearer <token>: pass a token with the scopes notes:read, or oauth() of halyard/client/oauth, as the option auth`,
    );
  });
});

interface Row {
  readonly status: 401 | 403;
  readonly challenge?: string;
  readonly body?: string | object;
  readonly auth?: NonNullable<ConnectOptions["auth"]>;
  readonly headers?: Record<string, string>;
  /** What follows the address and the status. */
  readonly says: string;
}

const token = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
const valid = "pass one that is valid now and meant for this server";
const none = "pass a token, or oauth() of halyard/client/oauth, as the option auth";

const rows: Readonly<Record<string, Row>> = {
  "nothing at all, to no token": { status: 401, says: none },
  "nothing at all, to a token": { status: 401, auth: token, says: `the token was refused: ${valid}` },
  "a page": {
    status: 403,
    auth: token,
    body: "<html><head><title>Forbidden</title></head><body><h1>Forbidden</h1><p>Your IP is blocked</p></body></html>",
    says: "Forbidden Your IP is blocked: the token was refused: pass one that permits this",
  },
  "JSON of OAuth": {
    status: 401,
    auth: token,
    body: { error: "invalid_token", error_description: "The token has expired" },
    says: `The token has expired: the token was refused: ${valid}`,
  },
  "a token in headers": {
    status: 401,
    headers: { Authorization: `Bearer ${token}` },
    body: "No",
    says: `No: the token was refused: ${valid}`,
  },
  "an object auth that gives up": {
    status: 403,
    auth: { headers: () => ({ Authorization: `Bearer ${token}` }), refused: () => false },
    challenge: 'Bearer error="insufficient_scope", scope="a b"',
    says: "insufficient_scope: the token that auth obtained was refused: it must obtain one with the scopes a b",
  },
  "the token itself, and orders to a terminal": {
    status: 401,
    auth: token,
    challenge: `Bearer error="invalid_token", error_description="${token} is bad\u009b31m"`,
    says: `invalid_token: [redacted] is bad: the token was refused: ${valid}`,
  },
  "a very long reason": {
    status: 401,
    auth: token,
    challenge: `Bearer error="e", error_description="${"x".repeat(5000)}", scope="${"s ".repeat(2000)}"`,
    says: `e: ${"x".repeat(197)}…: the token was refused: ${valid}, with the scopes ${"s ".repeat(100)}…`,
  },
};

test.each(Object.entries(rows))(
  "a refusal that says %s",
  async (_, { status, challenge, body, says, ...options }) => {
    const { server, client } = await start({ revision: newestModern, ...options });
    server.on("work", ({ refuse }) =>
      refuse(status, body, challenge === undefined ? {} : { "www-authenticate": challenge }),
    );
    const error = await failing(client.request("work"));
    expect(error).toBeInstanceOf(AuthRequired);
    expect(error.message).toBe(`${server.url} answered ${status}: ${says}`);
  },
);
