// The store behind sessions: its contract, and two endpoints that share one.
import { McpServer } from "halyard";
import { MemorySessionStore, type SessionRecord, type SessionStore } from "halyard/node";
import { sessionStoreContract } from "halyard/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { holdTime } from "../support/clock.ts";
import { recordingLogger } from "../support/log.ts";
import { edges, initialize, methodsOf, serve, SessionClient } from "../support/sessions.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("peer", {}, (_, ctx) =>
    JSON.stringify({
      session: ctx.session,
      client: ctx.client?.name,
      revision: ctx.revision,
      capabilities: ctx.clientCapabilities,
      principal: ctx.principal?.subject,
    }),
  );
  server.resource("note:///a", {}, () => "a");
  server.secureRequestState({ keys: ["the same secret for every process of the test"] });
  return server;
}

afterEach(() => void vi.useRealTimers());

describe("MemorySessionStore", () => {
  test.each(sessionStoreContract())("$title", ({ run }) => run(() => new MemorySessionStore()));
});

describe("sessionStoreContract", () => {
  const broken: Record<string, () => SessionStore> = {
    "keeps what was removed": () => Object.assign(new MemorySessionStore(), { remove: async () => {} }),
    "never forgets": () => {
      const store = new MemorySessionStore();
      return override(store, { save: (record) => store.save(record, 1e9) });
    },
    "brings back by touching": () => {
      const store = new MemorySessionStore();
      const known = new Map<string, SessionRecord>();
      return override(store, {
        save: (record, idleMs) => (known.set(record.id, record), store.save(record, idleMs)),
        touch: async (ids, idleMs) => {
          for (const id of ids) {
            const record = known.get(id);
            if (record !== undefined) await store.save(record, idleMs);
          }
        },
      });
    },
    "hands out its own objects": () => {
      const records = new Map<string, SessionRecord>();
      return override(new MemorySessionStore(), {
        save: async (record) => void records.set(record.id, record),
        load: async (id) => records.get(id),
      });
    },
  };

  test.each(Object.entries(broken))("finds a store that %s", async (_, make) => {
    const outcomes = await Promise.allSettled(sessionStoreContract().map(({ run }) => run(make)));
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  });
});

function override(store: SessionStore, changes: Partial<SessionStore>): SessionStore {
  return {
    save: (record, idleMs) => store.save(record, idleMs),
    load: (id) => store.load(id),
    touch: (ids, idleMs) => store.touch(ids, idleMs),
    remove: (id) => store.remove(id),
    ...changes,
  };
}

describe.each(edges)("two endpoints that share a store · %s", (edge) => {
  const authenticate = (request: {
    header(name: string): string | undefined;
  }): { issuer: string; subject: string } | undefined => {
    const subject = request.header("x-user");
    return subject === undefined ? undefined : { issuer: "https://issuer.example", subject };
  };

  test("the second goes on with a session that the first has begun", async () => {
    const sessionStore = new MemorySessionStore();
    const options = { sessionStore, auth: authenticate };
    const [first, second] = [
      await serve(makeServer(), options, edge),
      await serve(makeServer(), options, edge),
    ];
    const headers = { "x-user": "alice" };
    const client = await SessionClient.open(first, {
      revision: "2025-06-18",
      capabilities: { roots: {} },
      headers,
    });
    await client.request("logging/setLevel", { level: "error" });
    const moved = new SessionClient(second.url, client.id, { revision: "2025-06-18", headers });
    const answer = (await moved.request("tools/call", { name: "peer" })) as {
      result: { content: { text: string }[] };
    };
    expect(JSON.parse(answer.result.content[0]?.text ?? "")).toEqual({
      session: client.id,
      client: "test-client",
      revision: "2025-06-18",
      capabilities: { roots: {} },
      principal: "alice",
    });
    expect(await sessionStore.load(client.id)).toMatchObject({ logLevel: "error", initialized: true });
    expect(second.stats().sessions).toBe(1);
  });

  test("subscriptions to resources move with the session", async () => {
    const sessionStore = new MemorySessionStore();
    const server = makeServer();
    const other = makeServer();
    const [first, second] = [
      await serve(server, { sessionStore }, edge),
      await serve(other, { sessionStore }, edge),
    ];
    const client = await SessionClient.open(first);
    await client.request("resources/subscribe", { uri: "note:///a" });
    const moved = new SessionClient(second.url, client.id);
    const stream = await moved.get();
    expect(await other.resources.updated("note:///a")).toBe(1);
    await stream.message((message) => message["method"] === "notifications/resources/updated");
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    expect(await sessionStore.load(client.id)).toMatchObject({ subscriptions: [] });
  });

  test("one subscription for another in one batch is kept, too", async () => {
    const sessionStore = new MemorySessionStore();
    const served = await serve(makeServer(), { sessionStore }, edge);
    const client = await SessionClient.open(served, { revision: "2025-03-26" });
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.say([
      { jsonrpc: "2.0", id: "a", method: "resources/unsubscribe", params: { uri: "note:///a" } },
      { jsonrpc: "2.0", id: "b", method: "resources/subscribe", params: { uri: "note:///b" } },
    ]);
    expect(await sessionStore.load(client.id)).toMatchObject({ subscriptions: ["note:///b"] });
  });

  test("a principal that comes back to many sessions pushes out its own, and nobody else's", async () => {
    const options = { sessionStore: new MemorySessionStore(), auth: authenticate };
    const limits = { maxSessions: 4, maxSessionsPerPrincipal: 2 };
    const [first, second] = [
      await serve(makeServer(), options, edge),
      await serve(makeServer(), { ...options, limits }, edge),
    ];
    const [mallory, bob] = [{ headers: { "x-user": "mallory" } }, { headers: { "x-user": "bob" } }];
    const victim = await SessionClient.open(second, bob);
    const back: SessionClient[] = [];
    for (let at = 0; at < 6; at++) {
      const { id } = await SessionClient.open(first, mallory);
      const client = new SessionClient(second.url, id, mallory);
      expect((await client.start("ping")).status).toBe(200);
      back.push(client);
    }
    expect(second.stats().sessions).toBe(3);
    expect((await victim.start("ping")).status).toBe(200);
    const statuses = await Promise.all(back.map(async (client) => (await client.start("ping")).status));
    expect(statuses).toEqual([404, 404, 404, 404, 200, 200]);
  });

  test("many requests at once bring in one session, and a stranger's none", async () => {
    const sessionStore = new MemorySessionStore();
    const server = makeServer();
    const [first, second] = [
      await serve(makeServer(), { sessionStore, auth: authenticate }, edge),
      await serve(server, { sessionStore, auth: authenticate }, edge),
    ];
    const client = await SessionClient.open(first, { headers: { "x-user": "alice" } });
    const thief = new SessionClient(second.url, client.id, { headers: { "x-user": "bob" } });
    expect((await thief.start("ping")).status).toBe(404);
    expect(await server.push.count()).toBe(0);
    const moved = new SessionClient(second.url, client.id, { headers: { "x-user": "alice" } });
    await Promise.all(Array.from({ length: 10 }, () => moved.request("ping")));
    expect(second.stats().sessions).toBe(1);
    expect(await server.push.count()).toBe(1);
  });

  test("a stream of the first is resumed at the second as a fresh one that says what to read again", async () => {
    const sessionStore = new MemorySessionStore();
    const [first, second] = [
      await serve(makeServer(), { sessionStore }, edge),
      await serve(makeServer(), { sessionStore }, edge),
    ];
    const client = await SessionClient.open(first);
    const stream = await client.get();
    await until(() => stream.events.length === 1);
    const moved = new SessionClient(second.url, client.id);
    const resumed = await moved.get(stream.lastEventId);
    await resumed.count(2);
    expect(methodsOf(resumed.messages)).toEqual(["tools/list_changed", "resources/list_changed"]);
    stream.cut();
  });

  test("a session that ends at one is unknown at the other once it has let go of it", async () => {
    const sessionStore = new MemorySessionStore();
    const [first, second] = [
      await serve(makeServer(), { sessionStore }, edge),
      await serve(makeServer(), { sessionStore }, edge),
    ];
    const client = await SessionClient.open(first);
    expect(await client.delete()).toBeLessThan(300);
    expect((await new SessionClient(second.url, client.id).start("ping")).status).toBe(404);
  });
});

describe("the store and the process", () => {
  test("close() keeps the sessions in the store, so that another process goes on", async () => {
    const sessionStore = new MemorySessionStore();
    const first = await serve(makeServer(), { sessionStore });
    const client = await SessionClient.open(first);
    await first.close();
    const second = await serve(makeServer(), { sessionStore });
    expect(await new SessionClient(second.url, client.id).request("ping")).toMatchObject({ result: {} });
  });

  test("a process that sees nothing of a session lets go of it without ending it elsewhere", async () => {
    holdTime();
    const options = { sessionStore: new MemorySessionStore(), limits: { idleMs: 60_000 } };
    const [first, second] = [await serve(makeServer(), options), await serve(makeServer(), options)];
    const client = await SessionClient.open(first);
    const moved = new SessionClient(second.url, client.id);
    for (let minute = 0; minute < 4; minute++) {
      expect(await moved.request("ping")).toMatchObject({ result: {} });
      await vi.advanceTimersByTimeAsync(30_000);
    }
    expect([first.stats().sessions, second.stats().sessions]).toEqual([0, 1]);
    expect(await client.request("ping")).toMatchObject({ result: {} });
  });

  test("a session with a stream open is touched in the store, in few batches", async () => {
    holdTime();
    const touches: (readonly string[])[] = [];
    const store = new MemorySessionStore();
    const sessionStore = override(store, {
      touch: (ids, idleMs) => (touches.push(ids), store.touch(ids, idleMs)),
    });
    const served = await serve(makeServer(), { sessionStore, limits: { idleMs: 60_000 } });
    const clients = [await SessionClient.open(served), await SessionClient.open(served)];
    const streams = [await clients[0]?.get(), await clients[1]?.get()];
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    for (const { id } of clients) expect(await store.load(id)).toBeDefined();
    expect(touches.length).toBeGreaterThan(10);
    expect(touches.length).toBeLessThan(60);
    for (const stream of streams) stream?.cut();
  });

  test.each([
    ["resources/subscribe", { uri: "note:///a" }],
    ["logging/setLevel", { level: "error" }],
  ])("a store that keeps late holds the reply to %s back, and no other", async (method, params) => {
    const store = new MemorySessionStore();
    const [kept, saving] = [deferred(), deferred()];
    let isSlow = false;
    const sessionStore = override(store, {
      save: async (record, idleMs) => {
        if (isSlow) saving.resolve();
        if (isSlow) await kept.promise;
        return store.save(record, idleMs);
      },
    });
    const served = await serve(makeServer(), { sessionStore });
    const client = await SessionClient.open(served);
    isSlow = true;
    const order: string[] = [];
    const changed = client.request(method, params).then((answer) => (order.push("changed"), answer));
    await saving.promise;
    await client.request("ping");
    await client.request("ping");
    order.push("kept");
    kept.resolve();
    expect(await changed).toMatchObject({ result: {} });
    expect(order).toEqual(["kept", "changed"]);
  });

  test("a store that keeps late holds the reply to initialize back, and to its notification", async () => {
    const store = new MemorySessionStore();
    const order: string[] = [];
    const sessionStore = override(store, {
      save: async (record, idleMs) => {
        for (let turn = 0; turn < 20; turn++) await nextTurn();
        await store.save(record, idleMs);
        order.push(`kept ${record.initialized ? "initialized" : "initialize"}`);
      },
    });
    const served = await serve(makeServer(), { sessionStore });
    const reply = await initialize(served.url);
    order.push("initialize");
    await reply.closed;
    const client = new SessionClient(served.url, String(reply.headers["mcp-session-id"]));
    expect(await client.say({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe(202);
    order.push("initialized");
    expect(order).toEqual(["kept initialize", "initialize", "kept initialized", "initialized"]);
  });

  test("a store that fails is a 503 for the one request, and the server goes on", async () => {
    const store = new MemorySessionStore();
    let isDown = false;
    const sessionStore = override(store, {
      load: (id) => (isDown ? Promise.reject(new Error("down")) : store.load(id)),
    });
    const served = await serve(makeServer(), { sessionStore });
    const client = await SessionClient.open(served);
    isDown = true;
    expect((await new SessionClient(served.url, "unknown").start("ping")).status).toBe(503);
    expect(await client.request("ping")).toMatchObject({ result: {} });
  });
});
