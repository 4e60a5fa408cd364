// Many streams whose node is gone are resumed on the others at once: each costs a fixed number of engine operations.
import { memoryBackplane } from "halyard/cluster";
import { expect, test } from "vitest";
import { stopClock } from "../support/clock.ts";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { logDataOf, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

const streams = 2000;
const atOnce = 100;

/** Does the work for each item, some at a time. */
async function forEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const part = items.slice(from, from + atOnce).map((item, at) => work(item, from + at));
    results.push(...(await Promise.all(part)));
  }
  return results;
}

function countBy(operations: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const operation of operations) counts[operation] = (counts[operation] ?? 0) + 1;
  return counts;
}

test("all streams of a dead node go on elsewhere, with what was pushed meanwhile, and nothing is scanned", async () => {
  // However long this takes, the nodes keep their leases.
  stopClock();
  const backplane = memoryBackplane();
  const [dead, second, third] = await serveCluster({ backplane });
  const clients = await forEach(Array.from({ length: streams }), () => SessionClient.open(dead));
  const held = await forEach(clients, async (client) => {
    const stream = await client.get();
    await until(() => stream.lastEventId !== undefined);
    return stream;
  });
  // Its streams break, and it cannot report that.
  dead.engine.cutOff();
  await dead.close();
  await forEach(held, ({ closed }) => closed);
  const push = ({ server }: TestNode, { id }: SessionClient, data: number): Promise<boolean> =>
    server.push.toSession(id, "notifications/message", { level: "info", data });
  await forEach(clients, (client, at) => push(second, client, at));
  for (const { engine } of [second, third]) engine.forget();
  const resumed: EventReply[] = await Promise.all(
    clients.map((client, at) => clientAt(at % 2 === 0 ? second : third, client).get(held[at]?.lastEventId)),
  );
  for (const stream of resumed) await stream.count(1);
  expect(resumed.map(({ messages }) => logDataOf(messages)[0])).toEqual(clients.map((_, at) => at));
  const all = countBy([second, third].flatMap(({ engine }) => engine.operations));
  expect(all).toEqual({ "get session": streams, append: streams, read: streams });
  for (const stream of resumed) stream.cut();
}, 120_000);
