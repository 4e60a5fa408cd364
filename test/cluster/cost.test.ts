// What requests, pushes, changes and idle sessions cost in the engine: counted at the nodes, and by redis-server itself.
import { createClient } from "@redis/client";
import { type Backplane, type McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { redisBackplane } from "halyard/redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { clientAt, type ClusterOptions, serveCluster, type TestNode } from "../support/cluster.ts";
import { hasEngine } from "../support/engines.ts";
import type { EventReply } from "../support/event-reply.ts";
import { CountedRedis } from "../support/redis-counts.ts";
import { SessionClient, sendModern } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";

function define(server: McpServer): void {
  server.tool("echo", {}, () => "echo");
  server.tool("talk", {}, async (_, ctx) => {
    for (let at = 0; at < 10; at++) await ctx.log("error", `line ${at}`);
    return "done";
  });
  server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");
}

const message = "notifications/prompts/list_changed";

/** No beats come in between. */
const options = { leaseMs: 3_600_000 };

type Nodes = readonly [TestNode, TestNode, TestNode];

function operationsOf(nodes: readonly TestNode[]): string[] {
  return nodes.flatMap(({ engine }) => engine.operations);
}

async function callEcho(client: SessionClient): Promise<void> {
  expect(await client.request("tools/call", { name: "echo", arguments: {} })).toHaveProperty("result");
}

function heard(stream: EventReply, method: string, count = 1): Promise<void> {
  return until(() => stream.messages.filter((one) => one["method"] === method).length === count);
}

/** Sessions in turn on each of the nodes, each with an open stream on the next node. */
async function openSessions(nodes: Nodes, count: number): Promise<EventReply[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const client = await SessionClient.open(nodes[at % 3] as TestNode);
      return clientAt(nodes[(at + 1) % 3] as TestNode, client).get();
    }),
  );
}

interface Engine {
  readonly name: string;
  /** Starts it, and returns the commands that it was sent since the last call, if it counts them. */
  start(): Promise<Counted>;
}

interface Counted {
  readonly backplane: Backplane;
  commands?(): Promise<string[]>;
  stop(): Promise<void>;
}

const engines: Engine[] = [
  { name: "memory", start: async () => ({ backplane: memoryBackplane(options), stop: async () => {} }) },
];
if (hasEngine("redis-server")) {
  engines.push({
    name: "Redis",
    async start() {
      const redis = await CountedRedis.start();
      const backplane = redisBackplane(createClient({ url: redis.url }), { ...options, prefix: "cost:" });
      return { backplane, commands: () => redis.commands(), stop: () => redis.stop() };
    },
  });
}

describe.each(engines)("operations of the engine · $name", ({ start }) => {
  let engine: Counted;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine?.stop());

  /** What `run` costs: operations at the nodes, and commands where the engine counts them. */
  async function costOf(nodes: readonly TestNode[], run: () => Promise<unknown>) {
    for (const node of nodes) node.engine.forget();
    await engine.commands?.();
    await run();
    const commands = await engine.commands?.();
    return { operations: operationsOf(nodes), commands };
  }

  const commands = (...names: readonly string[]): readonly string[] | undefined => engine.commands && names;

  const serve = (more: ClusterOptions = {}): Promise<Nodes> =>
    serveCluster({ backplane: engine.backplane, define, ...more });

  test("a modern call: none", async () => {
    const [node] = await serve({ nodes: 1 });
    const cost = await costOf([node], async () => {
      for (let at = 0; at < 5; at++) {
        const reply = await sendModern(node.url, "tools/call", { name: "echo", arguments: {} });
        expect(await reply.json()).toHaveProperty("result");
      }
    });
    expect(cost).toEqual({ operations: [], commands: commands() });
  });

  test("a legacy call answered as JSON: none, and one where the session was never seen", async () => {
    const nodes = await serve();
    const client = await SessionClient.open(nodes[0]);
    const elsewhere = clientAt(nodes[1], client);
    const first = await costOf(nodes, () => callEcho(elsewhere));
    expect(first).toEqual({ operations: ["get session"], commands: commands("GET") });
    const later = await costOf(nodes, async () => {
      for (let at = 0; at < 5; at++) for (const one of [client, elsewhere]) await callEcho(one);
    });
    expect(later).toEqual({ operations: [], commands: commands() });
  });

  test("a new session: four with its handshake", async () => {
    const [node] = await serve({ nodes: 1 });
    await SessionClient.open(node);
    const cost = await costOf([node], () => SessionClient.open(node));
    // The count of all sessions is at most a second old.
    const operations = cost.operations.filter((operation) => operation !== "count session");
    expect(operations).toEqual(["create session", "replace session", "send"]);
  });

  test("a push to a session whose stream is elsewhere: one, with or without a copy", async () => {
    const nodes = await serve();
    const client = await SessionClient.open(nodes[0]);
    const stream = await clientAt(nodes[1], client).get();
    for (const [at, { server }] of nodes.entries()) {
      // The first time, the server may not have the script.
      if (at === 0) await server.push.toSession(client.id, message);
      const cost = await costOf(nodes, async () => {
        expect(await server.push.toSession(client.id, message)).toBe(true);
        await heard(stream, message, at + 2);
      });
      expect(cost).toEqual({ operations: ["append"], commands: commands("EVALSHA") });
    }
    const unknown = await costOf(nodes, async () => {
      expect(await nodes[2].server.push.toSession("unknown", message)).toBe(false);
    });
    // Two more tell a session that has ended from an engine that has lost its data.
    expect(unknown).toEqual({ operations: ["append"], commands: commands("EVALSHA", "GET", "EVALSHA") });
    stream.cut();
  });

  test.each([1, 10, 100])("a change or a broadcast with %i sessions: one", async (count) => {
    const nodes = await serve();
    const streams = await openSessions(nodes, count);
    const changes = {
      "notifications/message": () =>
        nodes[0].server.push.broadcast("notifications/message", { level: "error", data: "Hello" }),
      "notifications/resources/list_changed": () =>
        nodes[1].server.push.publish("notifications/resources/list_changed"),
    };
    for (const [method, change] of Object.entries(changes)) {
      const cost = await costOf(nodes, async () => {
        await change();
        await Promise.all(streams.map((stream) => heard(stream, method)));
      });
      expect(cost).toEqual({ operations: ["append"], commands: commands("EVALSHA") });
    }
    for (const stream of streams) stream.cut();
  });

  test("a stream that resumes after an unknown or dropped id: an entry and one read of the log", async () => {
    const [node] = await serve({ nodes: 1 });
    const client = await SessionClient.open(node);
    const first = await client.get();
    await first.vanish();
    await until(() => node.engine.operations.includes("unfollow"));
    const dropped = String(first.lastEventId).replaceAll(/\d{2,}/g, "7");
    for (const id of ["unknown", dropped]) {
      const cost = await costOf([node], async () => {
        const stream = await client.get(id);
        expect(stream.status).toBe(200);
        const { operations } = node.engine;
        stream.cut();
        expect(operations).toEqual(["append", "read"]);
        await until(() => node.engine.operations.includes("unfollow"));
      });
      expect(cost.operations.filter((operation) => operation === "read")).toHaveLength(1);
    }
  });

  test("a reply that becomes a stream: its begin, its end, and no longer following", async () => {
    const [node] = await serve({ nodes: 1 });
    const client = await SessionClient.open(node);
    await client.request("tools/call", { name: "talk", arguments: {} });
    const cost = await costOf([node], async () => {
      const reply = await client.call("talk");
      await reply.closed;
      expect(reply.messages).toHaveLength(11);
      await until(() => node.engine.operations.length === 3);
    });
    expect(cost).toEqual({
      operations: ["append", "append", "unfollow"],
      commands: commands("EVALSHA", "EVALSHA", "ZREM"),
    });
  });
});

test("many sessions in use are touched in one operation", async () => {
  holdClocks("setTimeout", "clearTimeout", "setInterval", "clearInterval");
  const [node] = await serveCluster({ nodes: 1, define, http: { limits: { idleMs: 60_000 } } });
  const clients = await Promise.all(Array.from({ length: 50 }, () => SessionClient.open(node)));
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(clients.map(callEcho));
  node.engine.forget();
  await vi.advanceTimersByTimeAsync(10_000);
  const touches = node.engine.asked.filter(({ operation }) => operation === "touch");
  expect(touches).toHaveLength(1);
  expect(touches[0]?.args[0]).toHaveLength(50);
});

describe.skipIf(!hasEngine("redis-server"))("Redis", () => {
  const count = 100;
  let redis: CountedRedis;
  beforeAll(async () => {
    redis = await CountedRedis.start();
  });
  afterAll(() => redis?.stop());

  /** What one session costs in all keys, its share of those that all share included. */
  async function bytesPerSession(prepare: (nodes: Nodes, client: SessionClient) => Promise<unknown>) {
    const backplane = redisBackplane(createClient({ url: redis.url }), { ...options, prefix: "cost:" });
    const nodes = await serveCluster({ backplane, define });
    const before = await redis.bytes();
    for (let at = 0; at < count; at++) {
      await prepare(nodes, await SessionClient.open(nodes[at % 3] as TestNode));
    }
    return ((await redis.bytes()) - before) / count;
  }

  test("an idle session has less than 1 KB", async () => {
    expect(await bytesPerSession(async () => {})).toBeLessThan(1024);
  });

  test("an idle session with an open stream has less than 1 KB", async () => {
    const streams: EventReply[] = [];
    const bytes = await bytesPerSession(async (nodes, client) => {
      streams.push(await clientAt(nodes[0], client).get());
    });
    for (const stream of streams) stream.cut();
    expect(bytes).toBeLessThan(1024);
  });

  test("an idle session whose stream is closed has less than 1 KB", async () => {
    const bytes = await bytesPerSession(async (nodes, client) => {
      const [node] = nodes;
      const stream = await clientAt(node, client).get();
      const [said, left] = [deferred(), deferred()];
      node.engine.delayAnswers("append", async () => said.resolve());
      node.engine.delayAnswers("unfollow", async () => left.resolve());
      stream.cut();
      await Promise.all([said.promise, left.promise]);
    });
    expect(bytes).toBeLessThan(1024);
  });

  test("no command reads all keys", async () => {
    // The tests of sizes look for the keys themselves.
    const fresh = await CountedRedis.start();
    onTestFinished(() => fresh.stop());
    const [first, second] = await serveCluster({
      backplane: redisBackplane(createClient({ url: fresh.url })),
      define,
    });
    const client = await SessionClient.open(first);
    const stream = await clientAt(second, client).get();
    await second.server.push.publish("notifications/resources/list_changed");
    await heard(stream, "notifications/resources/list_changed");
    const resumed = await client.get(stream.lastEventId);
    await client.delete();
    await resumed.closed;
    expect(fresh.everRun().filter((name) => /^keys$|scan|^sort/.test(name))).toEqual([]);
  });
});
