// One node loses the engine, and the others do not: what it still does, what it refuses, and how it comes back.
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { hasEngine } from "../support/engines.ts";
import { ofType } from "../support/events.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { initialize, listenOver, methodsOf, SessionClient } from "../support/sessions.ts";
import { nextTurn, until } from "../support/turns.ts";
import {
  allBack,
  arrived,
  defineEcho,
  engineNames,
  type EngineNode,
  hasBeen,
  isUpdate,
  modernStatus,
  numbersOn,
  push,
  timesOf,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };
const refused = [503, "5"];

/** What becomes of a request: its status, and when to try again. */
async function fate(request: ReturnType<SessionClient["start"]>): Promise<unknown[]> {
  const { status, headers } = await request;
  return [status, headers["retry-after"]];
}

function define(server: McpServer): void {
  defineEcho(server);
  server.tool("ask", {}, async (_, ctx) => String((await ctx.roots()).length));
}

/** A node without the engine refuses what needs it, and serves the rest. */
async function expectAlone(node: EngineNode, client: SessionClient): Promise<void> {
  const at = clientAt(node, client);
  const refusals = await Promise.all([
    fate(at.start("ping")),
    fate(at.get()),
    fate(initialize(node.url)),
    fate(at.start("resources/subscribe", { uri: "note:///b" })),
  ]);
  expect(refusals).toEqual([refused, refused, refused, refused]);
  expect(await at.delete()).toBe(503);
  await expect(push(node, client.id, 0)).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
  await expect(node.server.push.request(client.id, "roots/list")).rejects.toThrow("cannot be used now");
  expect(await modernStatus(node)).toBe(200);
}

interface Outage {
  readonly name: string;
  readonly isolate: (node: EngineNode) => void;
  readonly secondsAway: number;
  readonly leaseMs: number;
}

const breaks = { name: "whose connections break", isolate: ({ proxy }: EngineNode) => proxy.cut() };
const drops = { name: "whose network drops everything", isolate: ({ proxy }: EngineNode) => proxy.freeze() };
/** HALYARD_OUTAGE_SECONDS=60 keeps nodes away for a minute. */
const longestSeconds = Number(process.env["HALYARD_OUTAGE_SECONDS"] ?? 5);
const outages: readonly Outage[] = [
  { ...breaks, secondsAway: 0, leaseMs: 500 },
  { ...drops, secondsAway: 0, leaseMs: 500 },
  { ...breaks, secondsAway: longestSeconds, leaseMs: 5000 },
  { ...drops, secondsAway: longestSeconds, leaseMs: 5000 },
];

describe.each(engineNames)("%s", (name) => {
  test.each(outages)(
    "a node $name serves copies up to its lease, then what needs no others, then everything ($secondsAway s)",
    async ({ isolate, secondsAway, leaseMs }) => {
      const { one, other } = await twoNodes(name, { define, backplane: { leaseMs } });
      const client = await SessionClient.open(one, { capabilities: { roots: {} } });
      await client.request("resources/subscribe", note);
      const stream = await client.get();
      const listening = await listenOver(one.url, { resourceSubscriptions: [note.uri] });
      const asking = await clientAt(other, client).call("ask");
      const question = await asking.message(({ method }) => method === "roots/list");
      await push(other, client.id, 1);
      await arrived(stream, 1);
      isolate(one);
      await until(async () => (await fate(client.start("ping")))[0] === 503, 20_000);
      expect(await client.answer(question, { result: { roots: [] } })).toBe(503);
      await expectAlone(one, client);
      // The others do not notice.
      expect(await push(other, client.id, 2)).toBe(true);
      await other.server.resources.updated(note.uri);
      expect((await clientAt(other, client).start("ping")).status).toBe(200);
      const backAt = performance.now() + secondsAway * 1000;
      await until(() => performance.now() >= backAt, 70_000);
      expect(numbersOn(stream)).toEqual([1]);
      expect(methodsOf(listening.messages).filter((told) => told.includes(note.uri))).toEqual([]);
      one.proxy.heal();
      await allBack(one);
      await arrived(stream, 2);
      await Promise.all([stream.message(isUpdate), listening.message(isUpdate)]);
      expect(await client.answer(question, { result: { roots: [] } })).toBe(202);
      expect(await asking.message(({ result }) => result !== undefined)).toBeDefined();
      expect((await client.start("ping")).status).toBe(200);
      expect(await push(one, client.id, 3)).toBe(true);
      await arrived(stream, 3);
      expect(numbersOn(stream).filter((data) => data !== 0)).toEqual([1, 2, 3]);
      expect(await client.delete()).toBe(204);
      await stream.closed;
    },
    120_000,
  );

  test("nothing queues up for an engine that does not answer: later operations fail at once", async () => {
    const { one } = await twoNodes(name, { backplane: { leaseMs: 500 } });
    const client = await SessionClient.open(one);
    one.proxy.freeze();
    const pushes = Array.from({ length: 200 }, (_, at) => push(one, client.id, at).catch(() => "rejected"));
    await hasBeen(one, "lost");
    expect(new Set(await Promise.all(pushes))).toEqual(new Set(["rejected"]));
    const late: unknown[] = [];
    for (let at = 0; at < 200; at++) push(one, client.id, at).catch((error: unknown) => late.push(error));
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(late).toHaveLength(200);
    one.proxy.heal();
    await allBack(one);
    expect(ofType(one.events, "engine")).toHaveLength(2);
  }, 30_000);

  test("questions and results of calls that run meanwhile reach their client once, without an event id", async () => {
    const { one } = await twoNodes(name, { define, backplane: { leaseMs: 120_000 } });
    const client = await SessionClient.open(one, { capabilities: { roots: {} } });
    const isQuestion = ({ method }: JsonObject): boolean => method === "roots/list";
    const before = await client.call("ask");
    const question = await before.message(isQuestion);
    one.proxy.cut();
    await hasBeen(one, "lost");
    // Its copy of the session is good for a while, also for questions.
    const meanwhile = await client.call("ask");
    for (const [reply, asked] of [
      [before, question],
      [meanwhile, await meanwhile.message(isQuestion)],
    ] as const) {
      expect(await client.answer(asked, { result: { roots: [] } })).toBe(202);
      await reply.closed;
      expect(reply.messages.filter(isQuestion)).toHaveLength(1);
      const results = reply.events.filter(({ data }) => data?.includes('"result"'));
      expect(results).toHaveLength(1);
      expect(results[0]?.id).toBeUndefined();
    }
    one.proxy.heal();
    await allBack(one);
  });

  test("a stream that its client leaves meanwhile is known to be lost afterwards, and nothing is lost on it", async () => {
    const { one, other } = await twoNodes(name);
    const client = await SessionClient.open(one);
    const stream = await client.get();
    await push(other, client.id, 1);
    await arrived(stream, 1);
    one.proxy.cut();
    await hasBeen(one, "lost");
    await stream.vanish();
    await push(other, client.id, 2);
    one.proxy.heal();
    await allBack(one);
    const isSaid = (): boolean =>
      one.engine.asked.filter(({ args }) => String(args[1]).includes('"k":"lost"')).length > 1;
    await until(isSaid);
    await push(one, client.id, 3);
    const next = await clientAt(other, client).get(stream.lastEventId);
    await arrived(next, 3);
    expect(numbersOn(stream, next)).toEqual([1, 2, 3]);
  });
});

test.runIf(hasEngine("redis-server"))(
  "redis-server: a connection for receiving that is dead without a word is replaced",
  async () => {
    const { one, other } = await twoNodes("redis-server");
    const client = await SessionClient.open(one);
    const stream = await client.get();
    one.proxy.deafen();
    expect(await push(other, client.id, 1)).toBe(true);
    await until(() => timesOf(one, "lost") > 0, 30_000);
    one.proxy.heal();
    await allBack(one);
    await arrived(stream, 1);
    expect(await push(other, client.id, 2)).toBe(true);
    await arrived(stream, 2);
    expect(numbersOn(stream)).toEqual([1, 2]);
  },
  60_000,
);
