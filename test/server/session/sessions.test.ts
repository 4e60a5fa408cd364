// Legacy sessions over HTTP: how they begin and end, and whose they are.
import { McpServer, type ServerOptions } from "halyard";
import { describe, expect, test } from "vitest";
import { send } from "../../support/event-reply.ts";
import { recordingLogger } from "../../support/log.ts";
import { newestModern } from "../../support/raw.ts";
import { edges, initialize, sendModern, serve, sessionCells, SessionClient } from "../../support/sessions.ts";
import { deferred } from "../../support/turns.ts";

function makeServer(options: ServerOptions = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger(), ...options });
  server.tool("whoami", {}, (_, ctx) => ctx.session ?? "nobody");
  return server;
}

describe.each(sessionCells)("sessions · $revision · $edge", ({ revision, edge }) => {
  test("a successful initialize mints an id of 256 random bits in visible ASCII [SESS-ASSIGN, SESS-ID-ASCII, SESS-ID-SECURE, SESS-ID-NONDETERMINISTIC]", async () => {
    const served = await serve(makeServer(), {}, edge);
    const ids = new Set<string>();
    for (let at = 0; at < 20; at++) {
      const { headers } = await initialize(served.url, { revision });
      ids.add(String(headers["mcp-session-id"]));
    }
    expect(ids.size).toBe(20);
    // 43 characters of 6 bits each.
    for (const id of ids) expect(id).toMatch(/^[\w-]{43}$/);
    const positions = Array.from({ length: 42 }, (_, at) => new Set([...ids].map((id) => id[at])).size);
    expect(Math.min(...positions)).toBeGreaterThan(5);
    expect(served.stats().sessions).toBe(20);
  });

  test("a request under the session is answered in it, and one without it is 400 [SESS-MISSING-400]", async () => {
    const served = await serve(makeServer(), {}, edge);
    const client = await SessionClient.open(served, { revision });
    const answer = await client.request("tools/call", { name: "whoami" });
    expect(answer).toMatchObject({ result: { content: [{ text: client.id }] } });
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await client.post(ping, { "mcp-session-id": undefined })).status).toBe(400);
    expect((await client.get(undefined, { "mcp-session-id": undefined })).status).toBe(400);
    expect(await client.delete({ "mcp-session-id": undefined })).toBe(400);
  });

  test("an unknown id is 404, and so is an ended one, whatever the method [SESS-TERMINATED-404, SESS-TERMINATE]", async () => {
    const served = await serve(makeServer(), {}, edge);
    const client = await SessionClient.open(served, { revision });
    const stream = await client.get();
    expect(await client.delete()).toBeLessThan(300);
    await stream.closed;
    expect(stream.end).toBe("complete");
    const stranger = new SessionClient(served.url, "A".repeat(43), { revision });
    for (const ended of [client, stranger]) {
      const reply = await ended.start("ping");
      expect(reply.status).toBe(404);
      expect(await reply.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
      expect((await ended.get()).status).toBe(404);
      expect((await ended.get("gAAAAAAAAAAAAAAAAAAAAAA.1")).status).toBe(404);
      expect(await ended.delete()).toBe(404);
      expect(await ended.say({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe(404);
    }
    expect(served.stats()).toMatchObject({ sessions: 0, streams: 0, replayStreams: 0, replayBytes: 0 });
  });

  test("a second initialize in a session is an error that changes nothing", async () => {
    const served = await serve(makeServer(), {}, edge);
    const client = await SessionClient.open(served, { revision });
    const params = {
      protocolVersion: "2025-03-26",
      capabilities: { roots: {} },
      clientInfo: { name: "x", version: "1" },
    };
    const reply = await client.start("initialize", params);
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    expect(await reply.json()).toMatchObject({ error: { code: -32600 } });
    expect(await client.request("tools/call", { name: "whoami" })).toMatchObject({
      result: { content: [{ text: client.id }] },
    });
    expect(served.stats().sessions).toBe(1);
  });

  test("two requests with the same id in flight in one session both get their own answer", async () => {
    const server = makeServer();
    const gates = { first: deferred(), second: deferred() };
    server.tool("held", { input: { type: "object" } }, async (args) => {
      const { name } = args as { name: keyof typeof gates };
      await gates[name].promise;
      return name;
    });
    const client = await SessionClient.open(await serve(server, {}, edge), { revision });
    const ask = (name: string): Promise<unknown> =>
      client.request("tools/call", { name: "held", arguments: { name } }, 1);
    const [first, second] = [ask("first"), ask("second")];
    gates.second.resolve();
    expect(await second).toMatchObject({ id: 1, result: { content: [{ text: "second" }] } });
    gates.first.resolve();
    expect(await first).toMatchObject({ id: 1, result: { content: [{ text: "first" }] } });
  });
});

describe("sessions", () => {
  test.each([
    ["without a protocol version", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }],
    [
      "that is a notification",
      { jsonrpc: "2.0", method: "initialize", params: { protocolVersion: "2025-11-25" } },
    ],
    [
      "in a batch",
      [{ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-03-26" } }],
    ],
    ["that is no request", { jsonrpc: "1.0", id: 1, method: "initialize" }],
  ])("an initialize %s mints nothing", async (_, message) => {
    const server = makeServer();
    const served = await serve(server);
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const reply = await send(served.url, { headers, body: JSON.stringify(message) });
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    expect(served.stats().sessions).toBe(0);
    expect(await server.push.count()).toBe(0);
  });

  test("middleware that refuses an initialize leaves no session behind", async () => {
    const server = makeServer();
    server.use(async (request, _ctx, next) => {
      const result = await next();
      if (request.method === "initialize") throw new Error("not today");
      return result;
    });
    const served = await serve(server);
    const reply = await initialize(served.url);
    expect(await reply.json()).toHaveProperty("error");
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    expect(served.stats().sessions).toBe(0);
    expect(await server.push.count()).toBe(0);
  });

  test("initialize by a client that takes only events mints a session too [SESS-ASSIGN]", async () => {
    const served = await serve(makeServer());
    const reply = await initialize(served.url, { headers: { accept: "text/event-stream" } });
    expect(reply.headers["content-type"]).toBe("text/event-stream");
    expect(reply.headers["mcp-session-id"]).toMatch(/^[\w-]{43}$/);
    await reply.closed;
    expect(reply.messages).toMatchObject([{ id: 0, result: { protocolVersion: "2025-11-25" } }]);
  });

  test("a stateless server mints none, and ignores one that is sent [SESS-MODERN-IGNORE]", async () => {
    const served = await serve(makeServer({ mode: "stateless" }));
    const reply = await initialize(served.url);
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    const client = new SessionClient(served.url, "whatever");
    const answer = await client.start("tools/call", { name: "whoami" });
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "nobody" }] } });
    expect((await client.get()).status).toBe(405);
    expect(await client.delete()).toBe(405);
  });

  test("a modern request has no session, whatever header it sends, and lists do not depend on one [SESS-MODERN-NONE, SESS-MODERN-IGNORE]", async () => {
    const served = await serve(makeServer());
    const client = await SessionClient.open(served);
    const lists: unknown[] = [];
    for (const id of [client.id, "unknown", undefined]) {
      const headers: Record<string, string> = id === undefined ? {} : { "mcp-session-id": id };
      const called = await sendModern(
        served.url,
        "tools/call",
        { name: "whoami", arguments: {} },
        { headers },
      );
      expect(called.headers["mcp-session-id"]).toBeUndefined();
      expect(await called.json()).toMatchObject({ result: { content: [{ text: "nobody" }] } });
      lists.push(await (await sendModern(served.url, "tools/list", {}, { headers })).json());
    }
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[2]).toEqual(lists[0]);
    expect((await client.get(undefined, { "mcp-protocol-version": newestModern })).status).toBe(405);
    expect(await client.delete({ "mcp-protocol-version": newestModern })).toBe(405);
    expect(served.stats().sessions).toBe(1);
  });

  test("the end of a session cancels its calls and ends its streams, and no other's", async () => {
    const server = makeServer();
    const [began, aborted] = [deferred(), deferred()];
    server.tool("held", {}, async (_, ctx) => {
      began.resolve();
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      aborted.resolve();
      return "too late";
    });
    const served = await serve(server);
    const [one, two] = [await SessionClient.open(served), await SessionClient.open(served)];
    const [ends, stays] = [await one.get(), await two.get()];
    const running = one.call("held");
    await began.promise;
    await one.delete();
    await aborted.promise;
    await ends.closed;
    expect(await server.push.broadcast("notifications/message", { level: "info", data: 1 })).toBe(1);
    expect(await stays.count(1)).toHaveLength(1);
    expect(await (await running).text()).toBe("");
  });
});

describe.each(edges)("principals · %s", (edge) => {
  const principals: Record<string, { issuer: string; subject: string } | undefined> = {
    alice: { issuer: "https://issuer.example", subject: "alice" },
    bob: { issuer: "https://issuer.example", subject: "bob" },
    "other alice": { issuer: "https://other.example", subject: "alice" },
  };
  const authenticate = (request: { header(name: string): string | undefined }): (typeof principals)[string] =>
    principals[request.header("x-user") ?? ""];

  test("a session is its principal's alone: for other callers it does not exist, on POST, GET, DELETE and resume [SESS-BIND-USER, SESS-NOT-AUTH, SESS-TERMINATED-404]", async () => {
    const server = makeServer();
    const served = await serve(server, { auth: authenticate }, edge);
    const alice = await SessionClient.open(served, { headers: { "x-user": "alice" } });
    const stream = await alice.get();
    await server.push.toSession(alice.id, "notifications/message", { level: "info", data: 1 });
    await stream.count(1);
    const unknown = new SessionClient(served.url, "A".repeat(43), { headers: { "x-user": "alice" } });
    const expected = await (await unknown.start("ping")).json();
    for (const user of ["bob", "other alice", "nobody"]) {
      const thief = new SessionClient(served.url, alice.id, { headers: { "x-user": user } });
      const reply = await thief.start("ping");
      expect(reply.status).toBe(404);
      expect(await reply.json()).toEqual(expected);
      expect((await thief.get()).status).toBe(404);
      expect((await thief.get(stream.lastEventId)).status).toBe(404);
      expect(await thief.delete()).toBe(404);
    }
    expect(await alice.request("ping")).toMatchObject({ result: {} });
    await server.push.toSession(alice.id, "notifications/message", { level: "info", data: 2 });
    expect(await stream.count(2)).toHaveLength(2);
  });

  test("every request of a session is authenticated, and sees its own principal [SESS-NOT-AUTH]", async () => {
    const server = makeServer();
    server.tool("who", {}, (_, ctx) => `${ctx.principal?.issuer} ${ctx.principal?.subject}`);
    let asked = 0;
    const served = await serve(server, { auth: (request) => (asked++, authenticate(request)) }, edge);
    const alice = await SessionClient.open(served, { headers: { "x-user": "alice" } });
    const before = asked;
    const answer = await alice.request("tools/call", { name: "who" });
    expect(answer).toMatchObject({ result: { content: [{ text: "https://issuer.example alice" }] } });
    await alice.get();
    await alice.delete();
    expect(asked - before).toBe(3);
  });
});
