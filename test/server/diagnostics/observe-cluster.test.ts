// What `observe` sees of a cluster: nodes that join and leave, streams that change nodes, and gaps.
import { McpServer, type ServerEvent } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { expect, test } from "vitest";
import { clientAt } from "../../support/cluster.ts";
import { recordingLogger } from "../../support/log.ts";
import { HeldBackplane, joinNode, nodeId } from "../../support/nodes.ts";
import { serve, type Served, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

interface Watched extends Served {
  readonly server: McpServer;
  /** The events of one type, without who the client is. */
  of(type: ServerEvent["type"]): object[];
}

const kept = ["state", "node", "from", "reason"] as const;

async function watch(backplane = memoryBackplane()): Promise<Watched> {
  const events: ServerEvent[] = [];
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { backplane, logger: recordingLogger(), observe: (event) => void events.push(event) },
  );
  server.tool("first", {}, () => "first");
  const served = await serve(server);
  const facts = (event: object): object =>
    Object.fromEntries(kept.flatMap((name) => (name in event ? [[name, Reflect.get(event, name)]] : [])));
  return { ...served, server, of: (type) => events.filter((event) => event.type === type).map(facts) };
}

test("nodes that join and leave, oneself first", async () => {
  const backplane = memoryBackplane();
  const one = await watch(backplane);
  const two = await watch(backplane);
  const [first, second] = [nodeId(one.server), nodeId(two.server)];
  await until(() => one.of("node").length === 2);
  await two.close();
  await until(() => one.of("node").length === 3);
  expect(one.of("node")).toEqual([
    { state: "joined", node: first },
    { state: "joined", node: second },
    { state: "left", node: second },
  ]);
});

test("a GET stream that continues on another node is a handover, and one that comes back to its own is none", async () => {
  const backplane = memoryBackplane();
  const [one, two] = [await watch(backplane), await watch(backplane)];
  const client = await SessionClient.open(one);
  const stream = await client.get();
  await until(() => stream.lastEventId !== undefined);
  const again = await client.get(stream.lastEventId);
  await until(() => again.lastEventId !== undefined);
  const elsewhere = await clientAt(two, client).get(again.lastEventId);
  await until(() => elsewhere.lastEventId !== undefined);
  expect([one.of("handover"), two.of("handover")]).toEqual([[], [{ from: nodeId(one.server) }]]);
  elsewhere.cut();
});

test("a stream that cannot continue where it was is a gap", async () => {
  const one = await watch();
  const client = await SessionClient.open(one);
  const stream = await client.get("g7.7-abc.7-abc");
  await until(() => one.of("gap").length === 1);
  stream.cut();
});

test("an engine that is lost and comes back", async () => {
  const backplane = new HeldBackplane();
  const states: string[] = [];
  const observe = (event: ServerEvent): void => {
    if (event.type === "engine") states.push(`${event.state} ${event.reason ?? ""}`.trim());
  };
  await joinNode(backplane, { observe, logger: recordingLogger() });
  backplane.lose();
  backplane.restore();
  expect(states).toEqual(["lost Error: gone", "back"]);
});
