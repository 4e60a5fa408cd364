// A protected server, and those who have no token for it, or not the right one.
import type { BearerAuthOptions } from "halyard/auth";
import { bearerAuth } from "halyard/auth";
import { ConfigurationError } from "halyard";
import { expect } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { modernPost, post, type RawRequest } from "../../support/http.ts";
import { modernCall, toolCall } from "../../support/http-server.ts";
import { modernRequest } from "../../support/raw.ts";
import { Issuer, resource } from "../../support/issuer.ts";
import { makeKey } from "../../support/signing-keys.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";

type Mount = Parameters<HttpRow["attack"]>[0];

const sseOnly = { "HTTP+SSE": "takes messages of a stream that is open, which needs a token first" } as const;

/** `read` is for everybody with a token, `write` for those who may. */
export async function guarded(mount: Mount, changes: Partial<BearerAuthOptions> = {}) {
  const issuer = await Issuer.start();
  const { server, log, events } = makeServer();
  let calls = 0;
  server.tool("read", {}, () => `${++calls}`);
  server.tool("write", { scopes: ["write"] }, () => `${++calls}`);
  server.prompt("write", { scopes: ["write"] }, () => `${++calls}`);
  const auth = bearerAuth({ resource, authorizationServers: [issuer.issuer], ...changes });
  const door = await openHttp(mount, server, { auth });
  /** What each token comes to, with no request between: there are too many of them. */
  const authenticate = (token: string): unknown =>
    auth.authenticate({
      // As the door sees it: web requests say nothing of addresses.
      address: mount === "fetchHandler" ? undefined : "127.0.0.1",
      header: (name: string) => (name === "authorization" ? `Bearer ${token}` : undefined),
    } as never);
  return { issuer, server, log, events, door, authenticate, calls: () => calls };
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

const withHeaders = (request: RawRequest, headers: Record<string, string>): RawRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Every route answers a request with these headers with that status. */
async function expectEverywhere(
  door: HttpDoor,
  headers: Record<string, string>,
  statuses: readonly number[],
): Promise<void> {
  for (const route of door.routes) {
    const reply = await door.send(withHeaders(route, headers));
    expect(statuses, `${route.method ?? "POST"} ${JSON.stringify(headers).slice(0, 80)}`).toContain(
      reply.status,
    );
    reply.abort();
  }
}

const unsigned = (header: object, claims: object): string =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

/** The routes of an authorization server, or of a proxy for one. */
const foreignRoutes = [
  "/authorize",
  "/token",
  "/register",
  "/callback",
  "/oauth/callback",
  "/auth",
  "/login",
];

export const authorizationRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "a token that was issued for another resource gets in nowhere, and a server that would take it does not start",
    advisories: ["GHSA-rvq5-wwqv-78pq", "CVE-2026-116684", "CVE-2025-69196"],
    requirements: ["RS-AUDIENCE"],
    async attack(mount) {
      const { issuer, door, calls } = await guarded(mount);
      const audiences = [
        undefined,
        "",
        [],
        {},
        "https://mcp.example",
        `${resource}/`,
        `${resource}?x`,
        "*",
        [["x"]],
      ];
      for (const aud of [...audiences, resource.toUpperCase(), ["https://other.example/mcp"]])
        await expectEverywhere(door, bearer(await issuer.token({ aud })), [401]);
      expect(calls()).toBe(0);
      for (const changes of [
        { resource: "" },
        { audience: "" },
        { audience: [] },
        { authorizationServers: [] },
      ])
        expect(() => bearerAuth({ resource, authorizationServers: [issuer.issuer], ...changes })).toThrow(
          ConfigurationError,
        );
    },
  },
  {
    over: "http",
    name: "no route is open without a token, however one is offered instead",
    advisories: ["CVE-2026-59822"],
    requirements: ["RS-401", "RS-NO-OTHER-TOKENS", "RS-PER-REQUEST"],
    async attack(mount) {
      const { issuer, door, calls } = await guarded(mount);
      const token = await issuer.token();
      const offers: Record<string, string>[] = [
        {},
        { authorization: `Basic ${btoa(`alice:${token}`)}` },
        { authorization: token },
        { authorization: `Token ${token}` },
        { cookie: `access_token=${token}` },
        { "x-authorization": `Bearer ${token}`, "x-user": "alice", "x-forwarded-user": "alice" },
      ];
      for (const headers of offers) await expectEverywhere(door, headers, [401]);
      for (const route of door.routes) {
        const path = `${route.path ?? "/mcp"}${route.path?.includes("?") ? "&" : "?"}access_token=${token}`;
        expect((await door.send({ ...route, path })).status).toBe(401);
      }
      expect(calls()).toBe(0);
    },
  },
  {
    over: "http",
    name: "where tokens cannot be verified nobody gets in, with a good token or without",
    advisories: ["CVE-2026-59822"],
    async attack(mount) {
      const { issuer, door, calls } = await guarded(mount);
      issuer.misbehave = (_, response) => void response.writeHead(404).end();
      await expectEverywhere(door, bearer(await issuer.token()), [503]);
      await expectEverywhere(door, {}, [401]);
      await expectEverywhere(door, bearer("x"), [401]);
      expect(calls()).toBe(0);
    },
  },
  {
    over: "http",
    name: "a token that was forged, or is out of its time, gets in nowhere",
    requirements: ["RS-VALIDATE", "RS-401"],
    async attack(mount) {
      const { issuer, door, calls } = await guarded(mount);
      const good = await issuer.token();
      const [head = "", body = "", signature = ""] = good.split(".");
      const claims = { iss: issuer.issuer, sub: "alice", aud: resource, exp: 9e9 };
      const stranger = await makeKey();
      const now = Math.floor(Date.now() / 1000);
      const forged = [
        `${unsigned({ alg: "none" }, claims)}.`,
        `${unsigned({ alg: "none" }, claims)}.${signature}`,
        `${unsigned({ alg: "HS256", kid: issuer.keys[0]?.kid }, claims)}.${signature}`,
        `${head}.${unsigned({}, claims).split(".")[1]}.${signature}`,
        `${head}.${body}.${"A".repeat(86)}`,
        `${head}.${body}`,
        await issuer.token({}, { key: stranger }),
        await issuer.token({}, { key: stranger, kid: issuer.keys[0]?.kid ?? "" }),
        await issuer.token({}, { key: stranger, jwk: stranger.jwk as never }),
        await issuer.token({}, { key: stranger, jku: `${issuer.issuer}/evil`, x5u: `${issuer.issuer}/evil` }),
        await issuer.token({ iss: `${issuer.issuer}/` }),
        await issuer.token({ iss: { toString: 1 } }),
        await issuer.token({ exp: now - 60 }),
        await issuer.token({ exp: undefined }),
        await issuer.token({ nbf: now + 60 }),
        await issuer.token({ sub: undefined }),
        await issuer.token({ sub: { toString: 1 } }),
        await issuer.token({ cnf: { jkt: "x" } }),
        await issuer.token({}, { typ: "id+jwt" }),
      ];
      for (const token of forged) {
        const reply = await door.send(withHeaders(door.routes[0] ?? {}, bearer(token)));
        expect(reply.status, token).toBe(401);
        await reply.complete();
      }
      expect(calls()).toBe(0);
      expect(issuer.asked.get("/evil")).toBeUndefined();
    },
  },
  {
    over: "http",
    name: "there is no go-between for the authorization server, and no request decides where clients are sent",
    advisories: ["CVE-2026-27124"],
    async attack(mount) {
      const { issuer, door } = await guarded(mount);
      for (const path of foreignRoutes)
        for (const method of ["GET", "POST"])
          expect([401, 404], path).toContain((await door.send({ method, path })).status);
      const forged = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        forwarded: "host=evil.example",
      };
      const document = "/.well-known/oauth-protected-resource";
      for (const path of [document, `${document}/mcp`]) {
        const reply = await (await door.send({ method: "GET", path, headers: forged })).complete();
        expect(JSON.parse(reply.text)).toMatchObject({ resource, authorization_servers: [issuer.issuer] });
      }
      const refused = await door.send(withHeaders(door.routes[0] ?? {}, forged));
      const metadata = `resource_metadata="https://mcp.example${document}/mcp"`;
      expect(refused.headers["www-authenticate"]).toContain(metadata);
      expect(JSON.stringify(refused.headers)).not.toContain("evil");
    },
  },
  {
    over: "http",
    name: "the documents for clients stand behind the same guard, and are all that can be read without a token",
    async attack(mount) {
      const { door } = await guarded(mount);
      const path = "/.well-known/oauth-protected-resource/mcp";
      for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }])
        for (const method of ["GET", "OPTIONS"])
          expect((await door.send({ method, path, headers })).status).toBe(403);
      for (const method of ["POST", "PUT", "DELETE"])
        expect((await door.send({ method, path })).status).toBe(405);
      for (const other of [
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-authorization-server",
      ])
        expect([401, 404]).toContain((await door.send({ method: "GET", path: other })).status);
    },
  },
  {
    over: "http",
    name: "what needs a scope is refused before its handler, in a batch as a whole, and under no other name",
    requirements: ["RS-403", "RS-INSUFFICIENT-SCOPE"],
    leftOut: sseOnly,
    async attack(mount) {
      const { issuer, door, calls } = await guarded(mount);
      const headers = bearer(await issuer.token());
      const refused = await door.send(modernPost(modernCall(1, "write"), headers));
      expect(refused.status).toBe(403);
      expect(refused.headers["www-authenticate"]).toMatch(/error="insufficient_scope", scope="write"/);
      const session = await door.send(
        post(
          {
            jsonrpc: "2.0",
            id: 0,
            method: "initialize",
            params: {
              protocolVersion: "2025-03-26",
              capabilities: {},
              clientInfo: { name: "x", version: "1" },
            },
          },
          headers,
        ),
      );
      const own = { ...headers, "mcp-session-id": session.headers["mcp-session-id"] ?? "" };
      const batch = [toolCall(1, "read"), toolCall(2, "write")];
      expect((await door.send(post(batch, own))).status).toBe(403);
      for (const name of [
        "Write",
        " write",
        "write\u0000",
        "__proto__",
        ["write"],
        { toString: 1, valueOf: 1 },
        null,
      ]) {
        const params = {
          name,
          arguments: {},
          ref: { type: "ref/prompt", name },
          argument: { name: "a", value: "" },
        };
        for (const method of ["tools/call", "prompts/get", "completion/complete"]) {
          const reply = await door.send(post({ jsonrpc: "2.0", id: 1, method, params }, own));
          expect(reply.status, `${method} ${JSON.stringify(name)}`).toBeLessThan(500);
          expect((await reply.answer()).error).toBeDefined();
        }
      }
      expect(calls()).toBe(0);
      const listed = await door.send(modernPost(modernRequest(1, "tools/list"), headers));
      expect((await listed.answer()).result?.["tools"]).toMatchObject([{ name: "read" }]);
    },
  },
  {
    over: "http",
    name: "neither a token nor what it says is repeated, to anybody",
    async attack(mount) {
      const { issuer, door, log, events } = await guarded(mount);
      const secrets = { sub: "hunter2", email: "hunter2@example.com" };
      const tokens = [
        await issuer.token({ ...secrets, aud: "x" }),
        await issuer.token({ ...secrets, exp: 1 }),
      ];
      issuer.keys = [];
      tokens.push(
        await issuer.token(secrets, { key: await makeKey() }),
        `hunter2${"x".repeat(20_000)}`.slice(0, 12_000),
      );
      for (const token of tokens) {
        const reply = await (await door.send(withHeaders(door.routes[0] ?? {}, bearer(token)))).complete();
        const told = JSON.stringify([reply.text, reply.headers, log, events]);
        expect(told).not.toContain("hunter2");
        expect(told).not.toContain(token.slice(0, 40));
      }
    },
  },
];
