// Sessions while the engine fails or a node hears nothing: copies serve for a while, nothing is refused wrongly, nothing hangs.
import { type Backplane, McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { nodeHandler } from "halyard/node";
import { describe, expect, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { engineOf } from "../support/backplane.ts";
import { clientAt, serveCluster, serveNode, type TestNode } from "../support/cluster.ts";
import { faultyBackplane, type FaultyNode } from "../support/faulty-backplane.ts";
import { listening } from "../support/listening.ts";
import { recordingLogger } from "../support/log.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { edges, initialize, sendModern, SessionClient } from "../support/sessions.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

expectNoUnhandledRejections();

const allTimers = ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const;
const note = { uri: "note:///a" };

function define(server: McpServer): void {
  server.tool("echo", {}, () => "echo");
  server.resource("note:///a", {}, () => "");
}

/** Lets the time pass that an engine has for an operation, once it has been asked. */
async function orTimeUp<T>(engine: FaultyNode, work: Promise<T>): Promise<T> {
  const asked = engine.asked.length;
  while (engine.asked.length === asked) await nextTurn();
  await vi.advanceTimersByTimeAsync(5000);
  return work;
}

async function modernStatus(node: TestNode): Promise<number> {
  const reply = await sendModern(node.url, "tools/call", { name: "echo", arguments: {} });
  await reply.closed;
  return reply.status;
}

const outages: Readonly<Record<string, (engine: FaultyNode) => void>> = {
  rejects: (engine) => engine.fail(),
  throws: (engine) => engine.throw(),
  "never answers": (engine) => engine.hang(),
};

describe.each(edges)("%s", (edge) => {
  describe.each(Object.entries(outages))("an engine that %s", (_, breakIt) => {
    test("copies serve until the lease ends, then 503; modern calls continue", async () => {
      holdClocks(...allTimers);
      const [node] = await serveCluster({ nodes: 1, define, edge });
      const client = await SessionClient.open(node);
      breakIt(node.engine);
      expect(await client.request("ping")).toMatchObject({ result: {} });
      const unknown = await orTimeUp(node.engine, new SessionClient(node.url, "unknown").start("ping"));
      expect([unknown.status, unknown.headers["retry-after"]]).toEqual([503, "5"]);
      await vi.advanceTimersByTimeAsync(5000);
      const unleased = await orTimeUp(node.engine, client.start("ping"));
      expect([unleased.status, unleased.headers["retry-after"]]).toEqual([503, "5"]);
      const fresh = await orTimeUp(node.engine, initialize(node.url));
      expect([fresh.status, fresh.headers["mcp-session-id"]]).toEqual([503, undefined]);
      expect(await modernStatus(node)).toBe(200);
      node.engine.heal();
      expect(await client.request("ping")).toMatchObject({ result: {} });
      expect((await initialize(node.url)).status).toBe(200);
    });

    test("a change that cannot be saved is 503 and saved later; DELETE is 503 and ends nothing", async () => {
      holdClocks(...allTimers);
      const [first, second] = await serveCluster({ nodes: 2, define, edge });
      const client = await SessionClient.open(first);
      await client.request("resources/subscribe", { uri: "note:///b" });
      breakIt(first.engine);
      expect((await orTimeUp(first.engine, client.start("resources/subscribe", note))).status).toBe(503);
      expect(await orTimeUp(first.engine, client.delete())).toBe(503);
      first.engine.heal();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await clientAt(second, client).request("ping")).toMatchObject({ result: {} });
      expect(await client.delete()).toBe(204);
      expect((await clientAt(second, client).start("ping")).status).toBe(404);
    });
  });

  test("a change that was not saved is saved when the engine is back, and reaches the others", async () => {
    holdClocks(...allTimers);
    const [first, second] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    await clientAt(second, client).request("ping");
    first.engine.fail("replace");
    expect((await client.start("resources/subscribe", note)).status).toBe(503);
    expect((await client.start("resources/subscribe", note)).status).toBe(503);
    expect((await client.start("ping")).status).toBe(200);
    first.engine.heal();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await second.server.push.isSubscribed("note:///a")).toBe(true);
  });

  test("a node that does not hear the others reads the record, once its lease has ended", async () => {
    holdClocks(...allTimers);
    const [first, deaf] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    const elsewhere = clientAt(deaf, client);
    const kept = await SessionClient.open(deaf);
    await elsewhere.request("ping");
    deaf.engine.deafen();
    expect(await client.delete()).toBe(204);
    expect((await elsewhere.start("ping")).status).toBe(200);
    await vi.advanceTimersByTimeAsync(6000);
    expect((await elsewhere.start("ping")).status).toBe(404);
    deaf.engine.forget();
    expect((await kept.start("ping")).status).toBe(200);
    expect(deaf.engine.operations).toEqual(["get session"]);
    deaf.engine.heal();
    await vi.advanceTimersByTimeAsync(2000);
    deaf.engine.forget();
    for (let at = 0; at < 3; at++) expect((await kept.start("ping")).status).toBe(200);
    expect(deaf.engine.operations).toEqual(["get session"]);
  });

  test("what a node missed while it heard nothing is read after it hears again", async () => {
    holdClocks(...allTimers);
    const [first, deaf] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    const elsewhere = clientAt(deaf, client);
    await elsewhere.request("ping");
    deaf.engine.deafen();
    await vi.advanceTimersByTimeAsync(6000);
    expect(await client.delete()).toBe(204);
    deaf.engine.heal();
    await vi.advanceTimersByTimeAsync(2000);
    expect((await elsewhere.start("ping")).status).toBe(404);
    expect(deaf.stats().sessions).toBe(0);
  });

  test("doubled and reordered messages change nothing", async () => {
    const [first, second] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    await clientAt(second, client).request("ping");
    first.engine.double();
    second.engine.hold();
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.request("resources/subscribe", { uri: "note:///b" });
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    second.engine.release();
    second.engine.heal();
    expect(await second.server.push.isSubscribed("note:///b")).toBe(true);
    expect(await second.server.push.isSubscribed("note:///a")).toBe(false);
  });

  test("a session that ends while a node reads its record is not brought back", async () => {
    const [first, second] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    const gate = deferred();
    second.engine.delayAnswers("get session", () => gate.promise);
    const reading = clientAt(second, client).start("ping");
    await until(() => second.engine.operations.includes("get session"));
    expect(await client.delete()).toBe(204);
    await nextTurn();
    gate.resolve();
    expect((await reading).status).toBe(404);
    expect(second.stats().sessions).toBe(0);
  });

  test("the end of a session is reported later if it could not be reported at once", async () => {
    holdClocks("setInterval", "clearInterval");
    const [first, second] = await serveCluster({ nodes: 2, define, edge });
    const client = await SessionClient.open(first);
    const stream = await clientAt(second, client).get();
    first.engine.fail("send");
    expect(await client.delete()).toBe(204);
    expect(second.stats().sessions).toBe(1);
    first.engine.heal();
    await vi.advanceTimersByTimeAsync(2000);
    await stream.closed;
    expect(second.stats().sessions).toBe(0);
  });
});

describe("records that are invalid", () => {
  const bad: Readonly<Record<string, (record: Record<string, unknown>) => unknown>> = {
    "no JSON": () => undefined,
    "another id": (record) => ({ ...record, id: "another" }),
    "capabilities that are not an object": (record) => ({ ...record, clientCapabilities: "[]" }),
    "a revision that the server does not support": (record) => ({ ...record, revision: "1999-01-01" }),
    "a modern revision": (record) => ({ ...record, revision: "2026-07-28" }),
    "a principal that is none": (record) => ({ ...record, principal: { issuer: 1 } }),
    "another principal": (record) => ({ ...record, principal: { issuer: "https://x", subject: "eve" } }),
    "a log level that is none": (record) => ({ ...record, logLevel: "loud" }),
    "subscriptions that are none": (record) => ({ ...record, subscriptions: [1] }),
    "a version that is none": (record) => ({ ...record, version: "2" }),
  };

  test.each(Object.entries(bad))("%s: the session is unknown", async (name, spoil) => {
    const backplane = memoryBackplane();
    const [first, second] = await serveCluster({ nodes: 2, define, backplane });
    const client = await SessionClient.open(first);
    const engine = await engineOf(backplane);
    const key = { kind: "session", tag: client.id } as const;
    const stored = await engine.get(key);
    const spoilt = spoil(JSON.parse(stored?.text ?? "") as Record<string, unknown>);
    const text = spoilt === undefined ? "{" : JSON.stringify(spoilt);
    await engine.replace(key, text, 60_000, stored?.version ?? "");
    expect((await clientAt(second, client).start("ping")).status).toBe(404);
    if (name !== "another principal") {
      expect(second.logger.entries.filter(({ level }) => level === "error")).toHaveLength(1);
    }
  });

  test("messages that are none are ignored", async () => {
    const backplane = memoryBackplane();
    const [first] = await serveCluster({ nodes: 1, define, backplane });
    const client = await SessionClient.open(first);
    const engine = await engineOf(backplane);
    const say = (kind: string, body: unknown): Promise<void> =>
      engine.send("all", JSON.stringify({ v: 1, from: "nobody", kind, body }));
    await say("session", {
      id: client.id,
      record: { id: client.id, version: 99, initialized: "no" },
      version: "1",
    });
    await say("session", { id: client.id });
    await say("ended", { id: 1 });
    await say("ended", {});
    await say("cancel", { session: client.id, id: {}, reason: 1 });
    await say("sse", { token: 1 });
    await nextTurn();
    expect(await client.request("ping")).toMatchObject({ result: {} });
    expect(first.stats().sessions).toBe(1);
  });
});

test("changes that the engine has lost are saved again", async () => {
  holdClocks(...allTimers);
  const backplane = memoryBackplane();
  const [first, second] = await serveCluster({ nodes: 2, define, backplane });
  const client = await SessionClient.open(first);
  const engine = await engineOf(backplane);
  const key = { kind: "session", tag: client.id } as const;
  const before = await engine.get(key);
  await client.request("resources/subscribe", note);
  const { version = "" } = (await engine.get(key)) ?? {};
  await engine.replace(key, before?.text ?? "", 60_000, version);
  first.engine.deafen();
  await vi.advanceTimersByTimeAsync(6000);
  first.engine.heal();
  await vi.advanceTimersByTimeAsync(2000);
  await client.request("ping");
  await vi.advanceTimersByTimeAsync(2000);
  await clientAt(second, client).request("ping");
  expect(await second.server.push.isSubscribed("note:///a")).toBe(true);
});

describe("what it costs", () => {
  test("a call of a session that the node knows needs no operation, nor does a modern call", async () => {
    const [first, second] = await serveCluster({ nodes: 2, define });
    const client = await SessionClient.open(first);
    const elsewhere = clientAt(second, client);
    await elsewhere.request("ping");
    for (const { engine } of [first, second]) engine.forget();
    for (let at = 0; at < 5; at++) {
      await client.request("tools/call", { name: "echo" });
      await elsewhere.request("tools/call", { name: "echo" });
      expect(await modernStatus(first)).toBe(200);
    }
    expect([...first.engine.operations, ...second.engine.operations]).toEqual([]);
  });

  test("a call at a node that does not know the session needs one operation", async () => {
    const [first, second] = await serveCluster({ nodes: 2, define });
    const client = await SessionClient.open(first);
    second.engine.forget();
    await clientAt(second, client).request("tools/call", { name: "echo" });
    expect(second.engine.operations).toEqual(["get session"]);
  });

  test("sessions in use are touched together, about four times in idleMs", async () => {
    holdClocks(...allTimers);
    const [node] = await serveCluster({ nodes: 1, define, http: { limits: { idleMs: 60_000 } } });
    const clients = [await SessionClient.open(node), await SessionClient.open(node)];
    const streams = [await clients[0]?.get(), await clients[1]?.get()];
    node.engine.forget();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const touches = node.engine.operations.filter((operation) => operation === "touch session");
    expect(touches.length).toBeGreaterThan(20);
    expect(touches.length).toBeLessThanOrEqual(41);
    for (const client of clients) expect((await client.start("ping")).status).toBe(200);
    for (const stream of streams) stream?.cut();
  });
});

describe("before the node has joined", () => {
  async function unjoined(shared: Backplane, breakIt?: (engine: FaultyNode) => void) {
    const { backplane, node } = faultyBackplane(shared);
    const server = new McpServer(
      { name: "test", version: "1.0.0" },
      { logger: recordingLogger(), backplane },
    );
    define(server);
    const gate = deferred();
    node.delay("create node", () => gate.promise);
    breakIt?.(node);
    const handler = nodeHandler(server, { legacySse: true });
    const url = await listening(handler);
    return { handler, gate, url, node };
  }

  test("legacy requests wait, and modern ones are served", async () => {
    const shared = memoryBackplane();
    const first = await serveNode(shared, { define });
    const client = await SessionClient.open(first);
    const { url, gate, handler } = await unjoined(shared);
    let status = 0;
    const waiting = clientAt({ url }, client)
      .start("ping")
      .then((reply) => (status = reply.status));
    const fresh = initialize(url);
    const modern = await sendModern(url, "tools/call", { name: "echo", arguments: {} });
    expect(modern.status).toBe(200);
    expect(status).toBe(0);
    gate.resolve();
    await handler.ready;
    expect(await waiting).toBe(200);
    expect((await fresh).headers["mcp-session-id"]).toBeDefined();
  });

  test("if it cannot join, legacy requests are 503, and modern ones are served", async () => {
    const { url, handler } = await unjoined(memoryBackplane(), (engine) => engine.fail("create node"));
    await expect(handler.ready).rejects.toThrow("cannot be used");
    expect((await new SessionClient(url, "unknown").start("ping")).status).toBe(503);
    expect((await initialize(url)).status).toBe(503);
    expect((await sendModern(url, "tools/call", { name: "echo", arguments: {} })).status).toBe(200);
  });
});
