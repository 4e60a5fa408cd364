// The timeline of a client whose requests and streams go to several nodes of a cluster.
import type { McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { clientAt, serveNode, type TestNode } from "../support/cluster.ts";
import { Page } from "../support/following.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

interface NodeWithPage extends TestNode {
  readonly page: Page;
}

function define(server: McpServer): void {
  server.tool("hello", {}, () => "Hello");
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Your name?", z.object({ name: z.string() }));
    return `Hello ${name}`;
  });
}

/** Two nodes, each with a dashboard, that know each other. */
async function serveTwo(): Promise<readonly [NodeWithPage, NodeWithPage]> {
  const shared = memoryBackplane();
  const nodes: NodeWithPage[] = [];
  for (const name of ["one", "two"]) {
    const board = dashboard({ onOpen: () => {}, node: name });
    const node = await serveNode(shared, { define, http: { dashboard: board } });
    nodes.push({ ...node, page: new Page(board) });
  }
  const [one, two] = nodes as [NodeWithPage, NodeWithPage];
  await until(async () => {
    const { nodes: seen } = await one.page.ask<{ nodes: { name: string; state: string }[] }>({ ask: "now" });
    return seen.some(({ name, state }) => name === "two" && state === "answers");
  });
  return [one, two];
}

test("a stream that is resumed on another node has a bar on each", async () => {
  const [one, two] = await serveTwo();
  const client = await SessionClient.open(one);
  const [peer = ""] = await one.page.peers();
  await one.page.timeline(peer);
  const stream = await client.get();
  await until(() => stream.lastEventId !== undefined);
  stream.cut();
  await one.page.entry(peer, "get", ({ outcome }) => outcome === "cut");
  const resumed = await clientAt(two, client).get(stream.lastEventId);
  onTestFinished(() => resumed.cut());
  const later = await one.page.entry(peer, "get", ({ node }) => node === "two");
  const earlier = await one.page.entry(peer, "get", ({ node }) => node === "one");
  expect(later.points.map(({ what }) => what)).toEqual(["resumed"]);
  expect(earlier.points.map(({ what }) => what)).toEqual(["cut"]);
  expect(later.link).toBe(earlier.link);
  expect(later.link).toBeDefined();
});

test("a page at any node shows the calls of all nodes, in order, and their messages", async () => {
  const [one, two] = await serveTwo();
  const client = await SessionClient.open(one);
  const [peer = ""] = await two.page.peers();
  await two.page.timeline(peer);
  await client.request("tools/list");
  await clientAt(two, client).request("tools/call", { name: "hello", arguments: {} }, 100);
  await until(async () => (await two.page.entries(peer)).filter(({ lane }) => lane === "calls").length === 2);
  const calls = (await two.page.entries(peer)).filter(({ lane }) => lane === "calls");
  expect(calls.map(({ kind, node }) => [kind, node])).toEqual([
    ["tools/list", "one"],
    ["tools/call", "two"],
  ]);
  const { lines } = await two.page.messages(
    peer,
    calls.map(({ id }) => id),
  );
  expect(lines.map(({ direction }) => direction)).toEqual(["sent", "received", "sent", "received"]);
});

test("a question that is answered at another node ends", async () => {
  const [one, two] = await serveTwo();
  const client = await SessionClient.open(one, { capabilities: { elicitation: {} } });
  const [peer = ""] = await one.page.peers();
  await one.page.timeline(peer);
  const reply = await client.call("ask");
  const question = await reply.message(({ method }) => method === "elicitation/create");
  const answer = { result: { action: "accept", content: { name: "Ada" } } };
  await clientAt(two, client).answer(question, answer);
  await reply.closed;
  const asked = await one.page.entry(peer, "elicitation/create");
  expect(asked).toMatchObject({ node: "one", outcome: "answered" });
  const answered = await one.page.entry(peer, "answer");
  expect(answered).toMatchObject({ node: "two", lane: "questions", outcome: "accept", link: asked.link });
});
