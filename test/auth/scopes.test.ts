// Scopes on definitions: refused before anything runs, hidden from lists, and the same over every way in.
import { type JsonObject, McpServer } from "halyard";
import { Connection, Pipe, portOf } from "halyard/transport";
import { fetchHandler } from "halyard/fetch";
import { connect } from "halyard/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modernPost, openEdge, openSession, post } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { recordingLogger } from "../support/log.ts";
import { modernRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { bearer, initialize, mounts, notesServer, openSse, protect, type Protected } from "./protected.ts";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await AuthorizationServer.start();
});
afterAll(() => issuer.close());

type Send = (method: string, params: JsonObject) => Promise<HttpReply>;
const eras = ["modern", "session", "HTTP+SSE"] as const;

/** Sends requests with a token as a client of that era does. */
async function sender(edge: Protected, era: (typeof eras)[number], token: string): Promise<Send> {
  if (era === "modern") {
    return (method, params) => edge.send(modernPost(modernRequest(1, method, params), bearer(token)));
  }
  if (era === "session") {
    const { headers } = await openSession(edge, "2025-11-25", bearer(token));
    return (method, params) =>
      edge.send(post({ jsonrpc: "2.0", id: 1, method, params }, { ...headers, ...bearer(token) }));
  }
  const stream = await openSse(edge, token);
  await until(() => stream.events.length > 0);
  const path = stream.events[0]?.data ?? "";
  const say = (message: object): Promise<HttpReply> => edge.send({ ...post(message, bearer(token)), path });
  await say(initialize);
  await until(() => stream.events.length > 1);
  return (method, params) => say({ jsonrpc: "2.0", id: 1, method, params });
}

interface Request {
  readonly name: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly only?: "modern" | "legacy";
}

const guarded: readonly Request[] = [
  { name: "a tool", method: "tools/call", params: { name: "write_note" } },
  { name: "a prompt", method: "prompts/get", params: { name: "secret" } },
  { name: "a resource", method: "resources/read", params: { uri: "note:///secret" } },
  { name: "a resource of a template", method: "resources/read", params: { uri: "secret:///a" } },
  {
    name: "a subscription",
    method: "resources/subscribe",
    params: { uri: "note:///secret" },
    only: "legacy",
  },
  {
    name: "a listen request",
    method: "subscriptions/listen",
    params: { notifications: { resourceSubscriptions: ["note:///open", "secret:///a"] } },
    only: "modern",
  },
  {
    name: "a completion of a prompt",
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "secret" }, argument: { name: "to", value: "" } },
  },
  {
    name: "a completion of a template",
    method: "completion/complete",
    params: { ref: { type: "ref/resource", uri: "secret:///{id}" }, argument: { name: "id", value: "" } },
  },
];

const ways = mounts.flatMap((mount) => eras.map((era) => ({ mount, era })));

const lacksWrite = "Insufficient scope: notes:write is missing; this requires notes:read notes:write";

describe.each(ways)("scopes over HTTP · $era · $mount", ({ mount, era }) => {
  const possible = guarded.filter(
    ({ only }) => only === undefined || (only === "modern") === (era === "modern"),
  );
  test.each(possible)(
    "$name is 403 without its scope, naming all that are needed at once, and there with it [RS-403, RS-INSUFFICIENT-SCOPE, RS-SCOPE-SINGLE-CHALLENGE, RS-SCOPE-CONSISTENT]",
    async ({ method, params }) => {
      const { server } = notesServer();
      const edge = await protect(mount, server, issuer.issuer, { requiredScopes: ["notes:read"] });
      const weak = await sender(edge, era, await issuer.issue(edge.resource, "notes:read"));
      const refused = await (await weak(method, params)).complete();
      expect(refused.status).toBe(403);
      expect(refused.headers["www-authenticate"]).toBe(
        `Bearer error="insufficient_scope", scope="notes:read notes:write", error_description="${lacksWrite}", resource_metadata="${edge.metadataUrl}"`,
      );
      expect((await refused.answer()).error?.message).toBe(lacksWrite);
      const strong = await sender(edge, era, await issuer.issue(edge.resource, "notes:read notes:write"));
      const reply = await strong(method, params);
      expect(reply.status).toBe(era === "HTTP+SSE" ? 202 : 200);
      reply.abort();
    },
  );
});

describe("scopes over HTTP", () => {
  test.each(mounts)(
    "requiredScopes are asked of everybody, whatever they want · %s [RS-403, RS-INSUFFICIENT-SCOPE]",
    async (mount) => {
      const edge = await protect(mount, notesServer().server, issuer.issuer, {
        requiredScopes: ["notes:read"],
      });
      const reply = await edge.send({
        method: "GET",
        headers: bearer(await issuer.issue(edge.resource, "notes:write")),
      });
      expect(reply.status).toBe(403);
      expect(reply.headers["www-authenticate"]).toContain('error="insufficient_scope", scope="notes:read"');
    },
  );

  test("one message of a batch is enough to refuse all of it, and nothing of it runs [RS-403, RS-SCOPE-SINGLE-CHALLENGE]", async () => {
    const { server } = notesServer();
    let ran = 0;
    server.tool("count", {}, () => String(++ran));
    server.tool("admin", { scopes: ["notes:admin"] }, () => String(++ran));
    const edge = await protect("serveHttp", server, issuer.issuer);
    const token = await issuer.issue(edge.resource, "notes:read");
    const { headers } = await openSession(edge, "2025-03-26", bearer(token));
    const batch = ["count", "write_note", "admin"].map((name, id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name },
    }));
    const reply = await (await edge.send(post(batch, { ...headers, ...bearer(token) }))).complete();
    expect(reply.status).toBe(403);
    expect(reply.headers["www-authenticate"]).toContain('scope="notes:write notes:admin"');
    expect(ran).toBe(0);
  });

  test("each request of a session has the scopes of its own token, and not those of another [RS-PER-REQUEST, SESS-NOT-AUTH]", async () => {
    const { server } = notesServer();
    const edge = await protect("serveHttp", server, issuer.issuer);
    const [weak, strong] = await Promise.all(
      ["notes:read", "notes:write"].map((scope) => issuer.issue(edge.resource, scope)),
    );
    const { headers } = await openSession(edge, "2025-11-25", bearer(strong));
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write_note" } };
    const status = async (token: string | undefined): Promise<number> =>
      (await edge.send(post(call, { ...headers, ...bearer(token) }))).status;
    expect(await status(weak)).toBe(403);
    expect(await status(strong)).toBe(200);
    expect(await status(weak)).toBe(403);
  });

  test("a scope that stands above others includes them, at every level [RS-SCOPE-HIERARCHY]", async () => {
    const { server } = notesServer();
    const scopeHierarchy = {
      "notes:admin": ["notes:middle"],
      "notes:middle": ["notes:write", "notes:admin"],
    };
    const auth = { scopeHierarchy, requiredScopes: ["notes:middle"] };
    const edge = await protect("serveHttp", server, issuer.issuer, auth);
    const call = async (scope: string): Promise<number> => {
      const send = await sender(edge, "modern", await issuer.issue(edge.resource, scope));
      return (await send("tools/call", { name: "write_note" })).status;
    };
    expect(await call("notes:admin")).toBe(200);
    expect(await call("notes:write")).toBe(403);
  });

  test("a definition with scopes that comes after an endpoint without auth is visible to no caller", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: notesServer().logger });
    const edge = await openEdge("serveHttp", server);
    server.tool("late", { scopes: ["notes:write"] }, () => "late");
    const reply = await edge.send(modernPost(modernRequest(1, "tools/call", { name: "late" })));
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe('Bearer scope="notes:write"');
  });

  test("auth may be a function: an anonymous caller gets 401 where scopes are needed, one that lacks them 403, and a refusal is passed on [AUTH-CUSTOM]", async () => {
    const { server } = notesServer();
    const people: Record<string, object | undefined> = {
      alice: { issuer: "test", subject: "alice", scopes: ["notes:write"] },
      bob: { issuer: "test", subject: "bob" },
      mallory: { status: 403, message: "Not you", headers: { "x-why": "because" } },
    };
    const edge = await openEdge("serveHttp", server, {
      auth: (request) => people[request.header("x-user") ?? ""] as never,
    });
    const call = async (name: string, user?: string): Promise<HttpReply> =>
      edge.send(modernPost(modernRequest(1, "tools/call", { name }), { "x-user": user }));
    expect((await call("write_note", "alice")).status).toBe(200);
    expect((await call("write_note", "bob")).status).toBe(403);
    expect((await call("write_note")).status).toBe(401);
    expect((await call("whoami")).status).toBe(200);
    const refused = await call("whoami", "mallory");
    expect(refused.status).toBe(403);
    expect(refused.headers["x-why"]).toBe("because");
  });

  test.each<[string, unknown, string]>([
    ["scopes as a text that has the right one in it", { scopes: "notes:write-own" }, "list of strings"],
    ["scopes as an object", { scopes: { includes: () => true } }, "list of strings"],
    ["scopes of numbers", { scopes: [1] }, "list of strings"],
    ["no issuer", { issuer: undefined }, "issuer and subject"],
    ["a subject that is a number", { subject: 1 }, "issuer and subject"],
    ["null", null, "issuer and subject"],
    ["a name", "alice", "issuer and subject"],
    ["true", true, "issuer and subject"],
  ])("auth that answers %s lets nobody in, and the log says why", async (_, answer, problem) => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.tool("write", { scopes: ["notes:write"] }, () => "secret");
    const whole = { issuer: "test", subject: "alice", scopes: ["notes:write"] };
    const principal = typeof answer === "object" && answer !== null ? { ...whole, ...answer } : answer;
    const edge = await openEdge("serveHttp", server, { auth: () => principal as never });
    const reply = await edge.send(modernPost(modernRequest(1, "tools/call", { name: "write" })));
    expect(reply.status).toBe(500);
    expect(String(logger.entries.at(-1)?.details?.["error"])).toContain(problem);
  });

  test.each([
    ["a name", "bearer"],
    ["null", null],
    ["false", false],
    ["half of it", { authenticate: () => undefined }],
  ])("auth that is %s is refused at the start", (_, auth) => {
    const { server } = notesServer();
    expect(() => fetchHandler(server, { auth: auth as never })).toThrow("HTTP: auth must be bearerAuth");
  });
});

describe("lists", () => {
  const lists = [
    ["tools/list", "tools", ["whoami"], ["whoami", "write_note"]],
    ["prompts/list", "prompts", ["open"], ["open", "secret"]],
    ["resources/list", "resources", ["note:///open"], ["note:///open", "note:///secret"]],
    ["resources/templates/list", "resourceTemplates", [], ["secret:///{id}"]],
  ] as const;

  async function listed(
    edge: Protected,
    era: "modern" | "session",
    scope: string,
    method: string,
  ): Promise<JsonObject> {
    const send = await sender(edge, era, await issuer.issue(edge.resource, scope));
    return ((await (await send(method, {})).answer()).result ?? {}) as JsonObject;
  }

  const keysOf = (result: JsonObject, member: string): unknown[] =>
    (result[member] as JsonObject[]).map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name);

  describe.each(["modern", "session"] as const)("of a client · %s", (era) => {
    test.each(lists)(
      "%s shows what the caller may use, and may not be shared [CACHE-PRIVATE, CACHE-PUBLIC-AWARE, CACHE-NOT-ACL]",
      async (method, member, weak, strong) => {
        const cache = { [method]: { ttlMs: 1000, scope: "public" } };
        const { server } = notesServer({ cache });
        const edge = await protect("serveHttp", server, issuer.issuer);
        const few = await listed(edge, era, "notes:read", method);
        expect(keysOf(few, member)).toEqual(weak);
        expect(keysOf(await listed(edge, era, "notes:write", method), member)).toEqual(strong);
        expect(keysOf(await listed(edge, era, "notes:read", method), member)).toEqual(weak);
        if (era === "modern") expect(few).toMatchObject({ ttlMs: 1000, cacheScope: "private" });
      },
    );
  });

  test("show everything with scopedLists: all, so that a client can find what to ask more scopes for", async () => {
    const { server } = notesServer({ scopedLists: "all" });
    const edge = await protect("serveHttp", server, issuer.issuer);
    expect(keysOf(await listed(edge, "modern", "notes:read", "tools/list"), "tools")).toEqual([
      "whoami",
      "write_note",
    ]);
  });

  test("have pages of what is left, and follow what changes", async () => {
    const { server } = notesServer({ pageSize: 2 });
    for (const name of ["a", "b", "c"]) server.tool(name, { scopes: ["notes:admin"] }, () => "");
    server.tool("d", {}, () => "");
    server.tool("e", {}, () => "");
    const edge = await protect("serveHttp", server, issuer.issuer);
    const send = await sender(edge, "modern", await issuer.issue(edge.resource, "notes:read"));
    const first = (await (await send("tools/list", {})).answer()).result as JsonObject;
    expect(keysOf(first, "tools")).toEqual(["whoami", "d"]);
    const rest = (await (await send("tools/list", { cursor: first["nextCursor"] })).answer())
      .result as JsonObject;
    expect(keysOf(rest, "tools")).toEqual(["e"]);
    expect(rest).not.toHaveProperty("nextCursor");
    server.tools.get("a")?.update({ scopes: [] });
    const changed = (await (await send("tools/list", {})).answer()).result as JsonObject;
    expect(keysOf(changed, "tools")).toEqual(["whoami", "a"]);
  });

  test("stay public where no definition of theirs names a scope", async () => {
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { cache: { "tools/list": { scope: "public" } } },
    );
    server.tool("open", {}, () => "");
    server.prompt("secret", { scopes: ["a"] }, () => "");
    const edge = await protect("serveHttp", server, issuer.issuer);
    expect(await listed(edge, "modern", "notes:read", "tools/list")).toMatchObject({ cacheScope: "public" });
  });
});

describe("scopes without HTTP", () => {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write_note" } } as const;
  const alice = { issuer: "test", subject: "alice" };

  test("a caller that is known is refused, and told what is needed [AUTH-OTHER-TRANSPORTS]", async () => {
    const { server } = notesServer();
    const request = modernRequest(1, "tools/call", call.params);
    const ask = (principal: object): Promise<unknown> => {
      const connection = new Connection({ transport: "socket", principal: { ...alice, ...principal } });
      return server.handle(request as never, { connection });
    };
    expect(await ask({})).toMatchObject({
      error: {
        code: -32600,
        message: "Insufficient scope: the request requires notes:write",
        data: { requiredScopes: ["notes:write"] },
      },
    });
    expect(await ask({ scopes: ["notes:write"] })).toHaveProperty("result");
  });

  test("a message that is sent again is looked at again: its URI or the catalogue may have changed", async () => {
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    const open = server.resourceTemplate("open:///{id}{?q*}", {}, () => "open");
    server.resourceTemplate("secret:///{id}{?q*}", { scopes: ["read"] }, () => "secret");
    const params = { uri: "open:///a?q=1" };
    const request = modernRequest(1, "resources/read", params);
    const again = Object.assign(request.params as JsonObject, params);
    const ask = (): Promise<unknown> =>
      server.handle(request as never, {
        connection: new Connection({ transport: "socket", principal: alice }),
      });
    expect(await ask()).toHaveProperty("result");
    Object.assign(again, { uri: "secret:///a?q=1" });
    expect(await ask()).toHaveProperty("error.data.requiredScopes");
    Object.assign(again, params);
    expect(await ask()).toHaveProperty("result");
    open.update({ scopes: ["read"] });
    expect(await ask()).toHaveProperty("error.data.requiredScopes");
  });

  test("a pipe belongs to its principal, and each message may bring its own grant [AUTH-OTHER-TRANSPORTS]", async () => {
    const { server } = notesServer();
    const written: string[] = [];
    const pipe = new Pipe(
      portOf(server),
      { write: (text) => written.push(text) > 0, destroy: () => {} },
      { transport: "socket", principal: alice },
    );
    const say = async (id: number, scopes?: readonly string[]): Promise<unknown> => {
      const text = JSON.stringify({ ...modernRequest(id, "tools/call", call.params) });
      pipe.receive(text, { principal: scopes && { ...alice, scopes } });
      await until(() => written.length === id);
      return JSON.parse(written[id - 1] ?? "");
    };
    expect(await say(1)).toHaveProperty("error.data.requiredScopes");
    expect(await say(2, ["notes:write"])).toHaveProperty("result");
    expect(await say(3)).toHaveProperty("error");
    await pipe.end(0);
  });

  test("an anonymous caller, such as the process that started a server on stdio, is not asked for any [AUTH-STDIO]", async () => {
    const { server } = notesServer();
    const client = await connect(server, { revision: "2026-07-28" });
    expect(await client.request("tools/call", call.params)).toMatchObject({
      content: [{ text: "Noted for undefined" }],
    });
    expect((await client.request("tools/list"))["tools"]).toHaveLength(2);
    await client.close();
  });
});
