// The budget of all logs of a cluster, by what clients can resume: whose logs are cleared, and what counts.
import type { McpServer } from "halyard";
import { expect, test } from "vitest";
import { clientAt, serveCluster, type TestNode } from "../../support/cluster.ts";
import type { EventReply } from "../../support/event-reply.ts";
import { SessionClient } from "../../support/sessions.ts";

const kilobyte = 1024;

/** A tool whose reply is a stream, with a result of 100 KB. */
function define(server: McpServer): void {
  server.tool("large", {}, (_, ctx) => {
    ctx.log("error", "begun");
    return "x".repeat(100 * kilobyte);
  });
}

function serve(maxTotalBytes: number): Promise<readonly [TestNode, TestNode, TestNode]> {
  return serveCluster({ define, http: { limits: { maxTotalBytes }, trustProxy: true, rateLimit: false } });
}

/** Clients of one address. */
function from(address: string): { headers: Readonly<Record<string, string>> } {
  return { headers: { "x-forwarded-for": address } };
}

interface Stored {
  readonly client: SessionClient;
  readonly reply: EventReply;
}

async function store(client: SessionClient): Promise<Stored> {
  const reply = await client.call("large");
  await reply.closed;
  return { client, reply };
}

async function storeNew(node: TestNode, address: string): Promise<Stored> {
  return store(await SessionClient.open(node, from(address)));
}

/** Whether a client that has not received the response gets it at that node. */
async function isKept({ client, reply }: Stored, node: TestNode): Promise<boolean> {
  const id = reply.events.findLast((event, at) => event.id && at < reply.events.length - 1)?.id;
  const resumed = await clientAt(node, client).get(id);
  resumed.cut();
  return resumed.status === 200;
}

test("the caller that holds the most loses its oldest log first, and one that holds little loses none", async () => {
  const [one, other, third] = await serve(1000 * kilobyte);
  const small = [await storeNew(one, "198.51.100.1"), await storeNew(other, "198.51.100.1")];
  const middle = [await storeNew(third, "198.51.100.2"), await storeNew(third, "198.51.100.2")];
  const greedy: Stored[] = [];
  for (let at = 0; at < 20; at++)
    greedy.push(await storeNew([one, other][at % 2] as TestNode, "203.0.113.1"));
  for (const each of [...small, ...middle]) expect(await isKept(each, third)).toBe(true);
  const kept: boolean[] = [];
  for (const each of greedy) kept.push(await isKept(each, third));
  expect(kept.lastIndexOf(false)).toBeGreaterThan(9);
  expect(kept.slice(-3)).toEqual([true, true, true]);
  expect(kept.slice(kept.indexOf(true))).not.toContain(false);
});

test("sessions that end give their bytes back, at every node", async () => {
  const [one, other, third] = await serve(600 * kilobyte);
  const kept = [await storeNew(one, "203.0.113.1"), await storeNew(other, "203.0.113.1")];
  for (const node of [one, other, third, one, other, third]) {
    const { client } = await storeNew(node, "203.0.113.1");
    expect(await clientAt(third, client).delete()).toBe(204);
  }
  for (const each of kept) expect(await isKept(each, third)).toBe(true);
});

test("a session that all nodes write to counts once", async () => {
  const nodes = await serve(700 * kilobyte);
  const first = await storeNew(nodes[0], "203.0.113.1");
  const second = await storeNew(nodes[1], "203.0.113.1");
  const shared = await SessionClient.open(nodes[0], from("203.0.113.1"));
  for (let at = 0; at < 12; at++)
    await store(clientAt(nodes[at % 3] as TestNode, shared, from("203.0.113.1")));
  for (const each of [first, second]) expect(await isKept(each, nodes[2])).toBe(true);
});
