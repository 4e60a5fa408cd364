// Following a client whose messages go through other nodes of a cluster, and the questions of windows to each other.
import type { McpServer } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { type Followed, type ServerWindow, windowOf } from "halyard/window";
import { expect, onTestFinished, test } from "vitest";
import { clientAt, serveNode, type TestNode } from "../support/cluster.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

interface Opened extends TestNode {
  readonly inside: ServerWindow;
}

async function serveTwo(): Promise<[Opened, Opened]> {
  const shared = memoryBackplane();
  const nodes: Opened[] = [];
  for (let at = 0; at < 2; at++) {
    let inside: ServerWindow | undefined;
    const define = (server: McpServer): void => {
      server.tool("hello", {}, () => "Hello");
      inside = windowOf(server);
    };
    const node = await serveNode(shared, { define });
    if (inside !== undefined) nodes.push({ ...node, inside });
  }
  const [one, two] = nodes as [Opened, Opened];
  await until(() => [one, two].every(({ inside }) => inside.snapshot("nodes").total === 2));
  return [one, two];
}

test("follow with everywhere delivers what happens on other nodes, each item once", async () => {
  const [one, two] = await serveTwo();
  const client = await SessionClient.open(two);
  const [{ peer } = { peer: "" }] = two.inside.snapshot("sessions").rows;
  const items: Followed[] = [];
  const follow = one.inside.follow({ peer, everywhere: true }, (batch) => void items.push(...batch));
  onTestFinished(() => follow.stop());
  const methods = (): (string | undefined)[] =>
    items.flatMap((item) => (item.type === "message" && item.direction === "sent" ? [item.method] : []));
  await until(async () => {
    await client.request("ping");
    return methods().includes("ping");
  });
  await client.request("tools/call", { name: "hello", arguments: {} }, 101);
  await clientAt(one, client).request("tools/list", {}, 102);
  await until(() => methods().includes("tools/call") && methods().includes("tools/list"));
  await client.request("ping");
  await until(() =>
    items.some((item) => item.type === "call" && item.state === "ended" && item.name === "hello"),
  );
  const calls = items.filter((item) => item.type === "message" && item.id === 101);
  expect(calls).toHaveLength(2);
  for (const item of calls) if (item.type === "message") expect(JSON.parse(item.text)).toEqual(item.message);
  follow.stop();
  const before = items.length;
  await client.request("ping");
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(items).toHaveLength(before);
});

test("windows ask each other, answer and introduce themselves", async () => {
  const [one, two] = await serveTwo();
  const told: unknown[] = [];
  one.inside.nodes.onIntroduced("test", (about, from) => void told.push([about, from]));
  const stop = two.inside.nodes.introduce("test", () => ({ name: "two" }));
  two.inside.nodes.answer("test", ({ number }) => ({ doubled: Number(number) * 2 }));
  const answers: unknown[] = [];
  await one.inside.nodes.ask("test", { number: 21 }, 5000, (answer, from) => {
    answers.push([answer, from]);
    return true;
  });
  expect(answers).toEqual([[{ doubled: 42 }, two.inside.nodes.self]]);
  await until(() =>
    told.some((entry) => JSON.stringify(entry) === JSON.stringify([{ name: "two" }, two.inside.nodes.self])),
  );
  stop();
});
