// Streams that open, are resumed and are lost on several nodes at the same moment: the order of the log decides who holds them.
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { logDataOf, methodsOf, SessionClient } from "../support/sessions.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

expectNoUnhandledRejections();

/** How often each real engine is tried; one in memory is exact each time. */
const rounds = 40;

const note = { uri: "note:///a" };

function define(server: McpServer, ends: (() => void)[] = []): void {
  server.resource(note.uri, {}, () => "");
  server.tool("wait", {}, async (_, ctx) => {
    await ctx.log("info", "began");
    await new Promise<void>((resolve) => ends.push(resolve));
    return "done";
  });
}

async function push({ server }: TestNode, { id }: SessionClient, ...numbers: number[]): Promise<void> {
  for (const data of numbers) {
    const params = { level: "info", data };
    expect(await server.push.toSession(id, "notifications/message", params)).toBe(true);
  }
}

function numbersOn(...streams: readonly EventReply[]): unknown[] {
  return logDataOf(streams.flatMap(({ messages }) => messages));
}

/** Resolves when everything that nodes were to write so far has arrived: pushes come in order. */
async function settled(
  node: TestNode,
  client: SessionClient,
  streams: readonly EventReply[],
  last: number,
): Promise<void> {
  await push(node, client, last);
  await until(() => numbersOn(...streams).includes(last));
}

/** Begins two pieces of work so that each has added its entry to the log before either reads it. */
async function atOnce<Result>(
  nodes: readonly TestNode[],
  begin: (node: TestNode) => Promise<Result>,
): Promise<Result[]> {
  const gate = deferred();
  const results: Promise<Result>[] = [];
  for (const node of nodes) {
    node.engine.forget();
    node.engine.delayAnswers("append", () => gate.promise);
    results.push(begin(node));
    await until(() => node.engine.operations.includes("append"));
  }
  gate.resolve();
  const begun = await Promise.all(results);
  for (const { engine } of nodes) engine.heal();
  return begun;
}

/** The work begins at the same moment, in whatever order the engine sees it. */
function together<Result>(
  nodes: readonly TestNode[],
  begin: (node: TestNode) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(nodes.map(begin));
}

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);
  const isExact = row.engine === undefined;
  const times = isExact ? 2 : rounds;
  const race = isExact ? atOnce : together;

  test("two GET streams that open on two nodes at the same moment", { timeout: 60_000 }, async () => {
    const [first, second] = await serveCluster({ nodes: 2, backplane: engine.backplane });
    for (let round = 0; round < times; round++) {
      const order = round % 2 === 0 ? [first, second] : [second, first];
      const client = await SessionClient.open(first);
      const streams = await race(order, (node) => clientAt(node, client).get());
      await push(second, client, 1, 2);
      await push(first, client, 3);
      await settled(second, client, streams, 4);
      expect(numbersOn(...streams)).toHaveLength(4);
      for (const stream of streams) stream.cut();
      await client.delete();
    }
  });

  test("a GET stream that is resumed on two nodes at the same moment", { timeout: 60_000 }, async () => {
    const [first, second, third] = await serveCluster({ backplane: engine.backplane });
    for (let round = 0; round < times; round++) {
      const client = await SessionClient.open(first);
      const stream = await client.get();
      await push(first, client, 1);
      await until(() => numbersOn(stream).includes(1));
      const order = round % 2 === 0 ? [second, third] : [third, second];
      const streams = await race(order, (node) => clientAt(node, client).get(stream.lastEventId));
      await push(first, client, 2, 3);
      await settled(second, client, streams, 4);
      expect(numbersOn(stream, ...streams)).toHaveLength(4);
      await until(() => [stream, ...streams].filter(({ end }) => end !== undefined).length === 2);
      for (const open of streams) open.cut();
      await client.delete();
    }
  });

  test(
    "the stream of a call that is resumed on two nodes at the same moment",
    { timeout: 60_000 },
    async () => {
      const ends: (() => void)[] = [];
      const nodes = await serveCluster({
        backplane: engine.backplane,
        define: (server) => define(server, ends),
      });
      const [first, second, third] = nodes;
      for (let round = 0; round < times; round++) {
        const client = await SessionClient.open(first);
        const call = await client.call("wait");
        await until(() => ends.length === 1 && call.lastEventId !== undefined);
        const order = round % 2 === 0 ? [second, third] : [third, second];
        const streams = await race(order, (node) => clientAt(node, client).get(call.lastEventId));
        ends.shift()?.();
        await Promise.all([call, ...streams].map(({ closed }) => closed));
        const answers = [call, ...streams].flatMap(({ messages }) => messages.filter(isAnswer));
        expect(answers).toMatchObject([{ result: { content: [{ text: "done" }] } }]);
        await client.delete();
      }
    },
  );
});

function isAnswer({ id, method }: JsonObject): boolean {
  return id !== undefined && method === undefined;
}

test("a call resumed elsewhere and back again is answered where its client came last", async () => {
  const ends: (() => void)[] = [];
  const [runner, other] = await serveCluster({ nodes: 2, define: (server) => define(server, ends) });
  const client = await SessionClient.open(runner);
  const call = await client.call("wait");
  await until(() => ends.length === 1 && call.lastEventId !== undefined);
  // The runner hears that its client went away only after the client has come back.
  runner.engine.hold();
  const away = await clientAt(other, client).get(call.lastEventId);
  const back = await client.get(call.lastEventId);
  runner.engine.release((held) => held);
  runner.engine.heal();
  ends.shift()?.();
  await Promise.all([away.closed, back.closed]);
  expect(away.messages.filter(isAnswer)).toEqual([]);
  expect(back.messages.filter(isAnswer)).toHaveLength(1);
});

test("a message that arrives while another stream opens on the node goes to one of the two", async () => {
  const [node, other] = await serveCluster({ nodes: 2 });
  const client = await SessionClient.open(node);
  const open = await client.get();
  await push(other, client, 1);
  await until(() => numbersOn(open).length === 1);
  const gate = deferred();
  node.engine.forget();
  node.engine.delay("append", () => gate.promise);
  const opening = client.get();
  await until(() => node.engine.operations.includes("append"));
  await push(other, client, 2);
  gate.resolve();
  const second = await opening;
  await settled(other, client, [open, second], 3);
  expect(numbersOn(open, second)).toEqual([1, 2, 3]);
});

test("the end of a connection that the log gets late does not end the one with which the client came back", async () => {
  const [first, second] = await serveCluster({ nodes: 2 });
  const client = await SessionClient.open(first);
  const other = await clientAt(second, client).get();
  const cut = await client.get();
  await push(second, client, 1);
  await until(() => numbersOn(cut).includes(1));
  const gate = deferred();
  first.engine.forget();
  first.engine.delay("append", () => gate.promise);
  await cut.vanish();
  await until(() => first.engine.operations.includes("append"));
  first.engine.heal();
  const back = await client.get(cut.lastEventId);
  await push(second, client, 2);
  await until(() => numbersOn(back).includes(2));
  // If it counts, only the other stream can take over.
  first.engine.hang("append");
  gate.resolve();
  await nextTurn();
  await settled(second, client, [back, other], 3);
  expect([numbersOn(back), numbersOn(other)]).toEqual([[2, 3], []]);
  first.engine.heal();
});

describe("two streams on other nodes could take over from a lost one", () => {
  test("one of them does, and tells the changes that the client has missed", async () => {
    const [first, second, third] = await serveCluster({ define: (server) => define(server) });
    const client = await SessionClient.open(first);
    await client.request("resources/subscribe", note);
    const backups = [await clientAt(first, client).get(), await clientAt(second, client).get()];
    const active = await clientAt(third, client).get();
    await active.vanish();
    await until(() => third.engine.operations.includes("unfollow"));
    await first.server.resources.updated(note.uri);
    await settled(first, client, backups, 1);
    await push(second, client, 2, 3);
    await settled(third, client, backups, 4);
    expect(numbersOn(...backups)).toHaveLength(4);
    const updates = backups.flatMap(({ messages }) =>
      methodsOf(messages).filter((method) => method.includes("updated")),
    );
    expect(updates).toHaveLength(1);
  });

  test("messages that the lost one did not write reach the client on the other", async () => {
    const [first, second] = await serveCluster({ nodes: 2 });
    const client = await SessionClient.open(first);
    const backup = await client.get();
    const active = await clientAt(second, client).get();
    await push(first, client, 1);
    await until(() => numbersOn(active).includes(1));
    // What its node has not heard when the client goes, it does not write.
    second.engine.hold();
    await push(first, client, 2, 3, 4);
    await active.vanish();
    await until(() => second.engine.operations.includes("unfollow"));
    await settled(first, client, [backup], 5);
    expect(numbersOn(backup)).toEqual([2, 3, 4, 5]);
    second.engine.heal();
  });
});
