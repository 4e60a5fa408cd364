// The bytes that callers can make an engine hold: an attacker at one node, and a bystander at another whose requests are answered.
import { connect } from "@nats-io/transport-node";
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import type { EngineProcess } from "../support/engines.ts";
import type { EventReply } from "../support/event-reply.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import {
  addNode,
  arrived,
  type EngineNode,
  engineNames,
  numbersOn,
  push,
  timesOf,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const budget = 4 * 1024 * 1024;
const large = 200 * 1024;
const http = { limits: { maxTotalBytes: budget }, trustProxy: true, rateLimit: false } as const;
const [attacker, bystander] = ["203.0.113.7", "198.51.100.9"].map((address) => ({
  headers: { "x-forwarded-for": address },
}));

/** A tool whose reply is a stream, with a result of as many bytes as its call says. */
function define(gate: Promise<unknown> = Promise.resolve()): (server: McpServer) => void {
  return (server) => {
    server.tool("echo", {}, () => "echo");
    server.tool("large", {}, async (_, ctx) => {
      ctx.progress(1);
      await gate;
      return "x".repeat(Number(ctx.meta["bytes"]));
    });
  };
}

function callLarge(id: number, bytes: number): JsonObject {
  const params = { name: "large", arguments: {}, _meta: { progressToken: id, bytes } };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/** Calls it, and resolves when the whole reply has arrived. */
async function streamed(client: SessionClient, bytes: number, id = 1): Promise<EventReply> {
  const reply = await client.post(callLarge(id, bytes));
  await reply.closed;
  const last = reply.messages.at(-1) as { result?: { content: { text: string }[] } };
  expect(last.result?.content[0]?.text.length).toBe(bytes);
  return reply;
}

/** What the engine holds, in bytes, as it says itself. */
async function held(engine: EngineProcess): Promise<number> {
  if (engine.name === "redis-server") {
    const [, keys = "0"] = /used_memory_dataset:(\d+)/.exec(engine.cli("info", "memory")) ?? [];
    return Number(keys);
  }
  const connection = await connect({ servers: engine.url });
  try {
    const reply = await connection.request("$JS.API.STREAM.LIST", "", { timeout: 5000 });
    const { streams } = reply.json<{ streams: { state: { bytes: number } }[] }>();
    return streams.reduce((sum, { state }) => sum + state.bytes, 0);
  } finally {
    await connection.close();
  }
}

/** Asks again and again until the test ends, and returns how often it was answered with a result. */
function keepAsking(client: SessionClient): () => number {
  let answered = 0;
  const over = new AbortController();
  onTestFinished(() => over.abort());
  void (async () => {
    while (!over.signal.aborted) {
      const reply = await client.request("tools/call", { name: "echo", arguments: {} }).catch(() => ({}));
      if (over.signal.aborted) return;
      expect(reply).toHaveProperty("result");
      answered++;
    }
  })();
  return () => answered;
}

async function openMany(nodes: readonly EngineNode[], count: number): Promise<SessionClient[]> {
  const clients: SessionClient[] = [];
  for (let at = 0; at < count; at++) {
    clients.push(await SessionClient.open(nodes[at % nodes.length] as EngineNode, attacker));
  }
  return clients;
}

describe.each(engineNames)("the budget of all logs · %s", (name) => {
  test("streamed replies of one caller take its share, at whatever node, and a bystander loses nothing", async () => {
    const { engine, one, other } = await twoNodes(name, { define: define(), http });
    const own = await SessionClient.open(other, bystander);
    const ownReply = await streamed(own, 50_000);
    const ownStream = await own.get();
    const answered = keepAsking(own);
    const before = await held(engine);
    const clients = await openMany([one, other], 60);
    const replies: EventReply[] = [];
    let peak = 0;
    for (const client of clients) {
      replies.push(await streamed(client, large));
      peak = Math.max(peak, (await held(engine)) - before);
    }
    // NATS has twice what a log keeps, and Redis rounds up. Without a budget it is 12 MB.
    expect(peak).toBeLessThan(2 * budget);
    expect(answered()).toBeGreaterThan(0);
    await push(one, own.id, 1);
    await arrived(ownStream, 1);
    const [first, last] = [replies[0] as EventReply, replies.at(-1) as EventReply];
    const resume = async (client: SessionClient, node: EngineNode, id = ""): Promise<number> => {
      const reply = await clientAt(node, client, attacker).get(id);
      reply.cut();
      return reply.status;
    };
    expect(await resume(clients[0] as SessionClient, other, idBeforeLast(first))).toBe(400);
    expect(await resume(clients.at(-1) as SessionClient, other, idBeforeLast(last))).toBe(200);
    const resumed = await clientAt(one, own, bystander).get(idBeforeLast(ownReply));
    await resumed.message(({ id }) => id === 1);
    expect([timesOf(one, "lost"), timesOf(other, "lost")]).toEqual([0, 0]);
  });

  test("a node that joins later counts what the logs hold already", async () => {
    const { engine, one, other } = await twoNodes(name, { define: define(), http });
    const before = await held(engine);
    for (const client of await openMany([one, other], 18)) await streamed(client, large);
    const third = await addNode(engine, { define: define(), http });
    await until(() => third.server.cluster.nodes().length === 3);
    // It has asked one of the others, which has answered what it knows.
    const isAnswer = ({ args }: { readonly args: readonly unknown[] }): boolean =>
      /"to":.*"parts":/.test(String(args[1]));
    await until(() => [one, other].some((node) => node.engine.asked.some(isAnswer)));
    for (const client of await openMany([third], 18)) await streamed(client, large);
    // Without what the others have written, it would be 7.2 MB.
    expect((await held(engine)) - before).toBeLessThan(1.4 * budget);
  });

  test("a cleared log of a session with an open stream: its client gets what follows, and is told when it resumes", async () => {
    const { one, other } = await twoNodes(name, { define: define(), http });
    const client = await SessionClient.open(one, attacker);
    const stream = await clientAt(other, client, attacker).get();
    await push(one, client.id, 1);
    await arrived(stream, 1);
    const [id] = [stream.lastEventId];
    await streamed(client, large);
    for (const each of await openMany([one], 24)) await streamed(each, large);
    await push(one, client.id, 2);
    await arrived(stream, 2);
    expect(numbersOn(stream)).toEqual([1, 2]);
    const resumed = await client.get(id);
    await push(one, client.id, 3);
    await arrived(resumed, 3);
    expect(one.events.some((event) => event.type === "gap" && event.session === client.id)).toBe(true);
    const fresh = await clientAt(other, client, attacker).get();
    await push(one, client.id, 4);
    await arrived(fresh, 4);
    expect(numbersOn(stream, resumed, fresh)).toEqual([1, 2, 3, 4]);
  });

  test("request ids of megabytes are refused, and nothing of them is stored", async () => {
    const { engine, one, other } = await twoNodes(name, { define: define(), http });
    const answered = keepAsking(await SessionClient.open(other, bystander));
    const client = await SessionClient.open(one, attacker);
    const before = await held(engine);
    const statuses: number[] = [];
    for (let at = 0; at < 10; at++) {
      const reply = await client.start("ping", {}, `${at}${"x".repeat(3_900_000)}`);
      await reply.closed;
      statuses.push(reply.status);
    }
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect((await held(engine)) - before).toBeLessThan(1_000_000);
    await until(() => answered() > 0);
  });

  test("one session cannot fill the engine, and old ids do not make it send more than a node takes", async () => {
    const { engine, one, other } = await twoNodes(name, { define: define(), http });
    const answered = keepAsking(await SessionClient.open(other, bystander));
    const client = await SessionClient.open(one, attacker);
    const stream = await client.get();
    const old = stream.lastEventId;
    const before = await held(engine);
    for (let at = 0; at < 40; at++)
      await streamed(at % 2 ? client : clientAt(other, client, attacker), large, at);
    // A quarter of the 8 MB that was written.
    expect((await held(engine)) - before).toBeLessThan(2_000_000);
    const count = answered();
    for (let round = 0; round < 5; round++) {
      const resumed = await Promise.all(Array.from({ length: 30 }, () => client.get(old)));
      expect(new Set(resumed.map(({ status }) => status))).toEqual(new Set([200]));
      for (const each of resumed) each.cut();
    }
    await until(() => answered() > count);
    expect([timesOf(one, "lost"), timesOf(other, "lost")]).toEqual([0, 0]);
  });
});

/** The id from which a client resumes that has not received the last message. */
function idBeforeLast(reply: EventReply): string {
  return reply.events.findLast(({ id }, at) => id !== undefined && at < reply.events.length - 1)?.id ?? "";
}

test.runIf(engineNames.includes("redis-server"))(
  "sessions that clients end leave nothing behind",
  async () => {
    const { engine, one, other } = await twoNodes("redis-server", { http, backplane: { leaseMs: 250 } });
    const clients = await openMany([one, other], 20);
    for (const client of clients) expect(await client.delete()).toBe(204);
    await until(() => {
      const keys = engine.cli("--raw", "keys", "*").split("\n");
      return keys.every((key) => !clients.some(({ id }) => key.includes(id)));
    });
  },
);

describe.each(engineNames)("a result that is larger than an entry · %s", (name) => {
  const size = 2 * 1024 * 1024;

  test("a batch of twenty large results reaches its client without an event id, and costs no node its engine", async () => {
    const { engine, one, other } = await twoNodes(name, { define: define(), http });
    const answered = keepAsking(await SessionClient.open(other, bystander));
    const client = await SessionClient.open(one, { revision: "2025-03-26", ...attacker });
    const before = await held(engine);
    const headers = client.headers({
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
    });
    // Together they are just below `maxBatchReplyLength`.
    const each = 200_000;
    const body = JSON.stringify(Array.from({ length: 20 }, (_, at) => callLarge(at, each)));
    const reply = await fetch(client.url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body,
    });
    const last = (await reply.text()).trimEnd().split("\n\n").at(-1) ?? "";
    expect(last.length).toBeGreaterThan(20 * each);
    expect(last).toMatch(/^data: /);
    expect(last).not.toMatch(/^id: /m);
    expect((await held(engine)) - before).toBeLessThan(1_000_000);
    await until(() => answered() > 0);
    expect([timesOf(one, "lost"), timesOf(other, "lost")]).toEqual([0, 0]);
  });

  test("a client that was cut off before it is told so: 400, at the node of the call and at another", async () => {
    const gate = deferred();
    const { one, other } = await twoNodes(name, { define: define(gate.promise), http });
    const client = await SessionClient.open(one);
    const reply = await client.post(callLarge(7, size));
    await reply.message(({ method }) => method === "notifications/progress");
    await reply.vanish();
    const before = one.engine.operations.length;
    gate.resolve();
    await until(() => one.engine.operations.slice(before).includes("append"));
    for (const node of [one, other]) {
      await until(async () => (await clientAt(node, client).get(reply.lastEventId)).status === 400);
    }
  });

  test("a client that has resumed at another node gets one error", async () => {
    const gate = deferred();
    const { one, other } = await twoNodes(name, { define: define(gate.promise), http });
    const client = await SessionClient.open(one);
    const reply = await client.post(callLarge(7, size));
    await reply.message(({ method }) => method === "notifications/progress");
    const resumed = await clientAt(other, client).get(reply.lastEventId);
    await reply.closed;
    gate.resolve();
    const message = await resumed.message(({ id }) => id === 7);
    expect(message).toMatchObject({ error: { code: -32603 } });
    expect((message["error"] as JsonObject)["message"]).toContain("larger than the 262144 bytes");
    await resumed.closed;
    expect(resumed.messages.filter(({ id }) => id === 7)).toHaveLength(1);
  });
});
