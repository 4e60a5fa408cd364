// The dashboard of any node shows all nodes of the cluster, and which of them are silent, gone or back.
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { type Dashboard, dashboard } from "halyard/dashboard";
import { type HttpServer, serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { type FaultyNode, faultyBackplane } from "../support/faulty-backplane.ts";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, type DashboardAnswer, lookAt, rowWith } from "../support/looking.ts";
import { SessionClient } from "../support/sessions.ts";
import { deferred, eventually, until } from "../support/turns.ts";

interface Node {
  readonly server: McpServer;
  readonly http: HttpServer;
  readonly engine: FaultyNode;
  readonly ask: AskDashboard;
}

type Shared = ReturnType<typeof memoryBackplane>;

/** Resolves when the tool `wait` of any node may return. */
const gate = deferred();

async function serveNode(
  shared: Shared,
  name: string,
  page: Dashboard | undefined,
): Promise<Omit<Node, "ask">> {
  const { backplane, node: engine } = faultyBackplane(shared);
  const server = new McpServer({ name: "demo", version: name }, { logger: recordingLogger(), backplane });
  server.tool("echo", {}, () => name);
  server.tool("wait", {}, () => gate.promise.then(() => name));
  server.resource("note:///a", { name: "a" }, () => "text");
  const http = await serveHttp(server, { port: 0, graceMs: 50, ...(page && { dashboard: page }) });
  onTestFinished(() => http.close());
  return { server, http, engine };
}

async function openNode(shared: Shared, name: string, actions = false): Promise<Node> {
  const page = dashboard({ onOpen: () => {}, node: name, actions });
  const node = await serveNode(shared, name, page);
  return { ...node, ask: lookAt(page) };
}

async function openThree(): Promise<readonly [Node, Node, Node]> {
  const shared = memoryBackplane();
  const nodes = [
    await openNode(shared, "a"),
    await openNode(shared, "b"),
    await openNode(shared, "c"),
  ] as const;
  await until(async () => statesOf(await nodes[0].ask("now")) === "a answers, b answers, c answers");
  return nodes;
}

function statesOf({ nodes }: DashboardAnswer): string {
  return nodes.map(({ name, state }) => `${String(name)} ${String(state)}`).join(", ");
}

async function connectTo(
  { http }: Node,
  name: string,
  revision = "auto",
): Promise<Awaited<ReturnType<typeof connect>>> {
  const client = await connect(http.url, { info: { name, version: "1.0.0" }, revision });
  onTestFinished(() => client.close());
  return client;
}

test("the page of any node shows the clients, calls and topics of all nodes", async () => {
  const [a, b, c] = await openThree();
  const modern = await connectTo(a, "modern");
  const legacy = await connectTo(b, "legacy", "2025-11-25");
  const listener = await connectTo(c, "listener");
  await listener.listen({ resources: ["note:///a"] });
  for (const client of [modern, legacy, listener]) await client.callTool("echo", {});
  await a.server.resources.updated("note:///a");
  // A node that is busy may answer too late at first.
  for (const { ask } of [a, b, c]) await eventually(() => expectAll(ask));
  await eventually(async () => {
    expect(rowWith(await b.ask("tools"), { name: "echo" })).toMatchObject({ calls: 3, errors: 0 });
  });
});

async function expectAll(ask: AskDashboard): Promise<void> {
  const sessions = await ask("sessions");
  expect(sessions.total).toBe(3);
  expect(rowWith(sessions, { client: "modern 1.0.0" })).toMatchObject({ node: "a", era: "modern" });
  expect(rowWith(sessions, { client: "legacy 1.0.0" })).toMatchObject({
    node: "b",
    era: "legacy",
    streams: 1,
  });
  expect(rowWith(sessions, { client: "listener 1.0.0" })).toMatchObject({ node: "c", subscriptions: 1 });
  expect((await ask("sessions", { search: "LISTENER" })).rows).toHaveLength(1);
  const streams = await ask("streams");
  const get = rowWith(streams, { kind: "get" });
  expect(get).toMatchObject({ node: "b", client: "legacy 1.0.0", state: "open" });
  // The engine keeps it.
  expect(get).not.toHaveProperty("kept");
  expect(rowWith(streams, { kind: "listen" })).toMatchObject({ node: "c", client: "listener 1.0.0" });
  const { calls, counts, nodes } = await ask("now");
  const echoes = calls.filter(({ name }) => name === "echo");
  expect(echoes.map(({ node }) => node)).toEqual(["c", "b", "a"]);
  expect(counts).toMatchObject({ sessions: 1, streams: 2, subscriptions: 1 });
  expect(nodes).toHaveLength(3);
  expect(nodes[0]).toMatchObject({ isSelf: true, silentMs: 0 });
  const topic = rowWith(await ask("topics"), { key: "note:///a" });
  expect(topic).toMatchObject({
    listeners: 1,
    pushed: 1,
    pushes: [{ node: "a" }],
    who: [{ client: "listener 1.0.0" }],
  });
}

test("calls that run on several nodes are counted together", async () => {
  const [a, b] = await openThree();
  const clients = [await connectTo(a, "one"), await connectTo(b, "two")];
  const calls = clients.map((client) => client.callTool("wait", {}));
  await until(async () => rowWith(await a.ask("tools"), { name: "wait" })?.["running"] === 2);
  await until(async () => (await b.ask("now")).counts["inFlight"] === 2);
  gate.resolve();
  await Promise.all(calls);
});

test("a session that several nodes have is one row, of the node that has its stream", async () => {
  const [a, b, c] = await openThree();
  const client = await SessionClient.open(a.http);
  await clientAt(b.http, client).request("ping");
  await clientAt(c.http, client).get();
  await eventually(async () => {
    const { rows, total } = await b.ask("sessions");
    expect(total).toBe(1);
    expect(rows).toMatchObject([{ node: "c", streams: 1 }]);
  });
});

test("a node that is cut off is silent, and answers again when it is back", async () => {
  const [a, b] = await openThree();
  const client = await connectTo(b, "of b");
  await client.callTool("echo", {});
  const own = await connectTo(a, "of a");
  await own.callTool("echo", {});
  b.engine.halt();
  const now = await eventually(async () => {
    const answer = await a.ask("now");
    expect(statesOf(answer)).toBe("a answers, b silent, c answers");
    return answer;
  });
  // What it said last stays.
  expect(now.nodes[1]).toMatchObject({ name: "b", version: "b" });
  expect(Number(now.nodes[1]?.["silentMs"])).toBeGreaterThan(0);
  expect((await a.ask("sessions")).rows).toMatchObject([{ client: "of a 1.0.0" }]);
  b.engine.heal();
  await until(async () => statesOf(await a.ask("now")) === "a answers, b answers, c answers");
  await until(async () => (await a.ask("sessions")).total === 2);
});

test("a node whose engine fails answers for itself", async () => {
  const [a] = await openThree();
  a.engine.cutOff();
  expect(statesOf(await a.ask("now"))).toBe("a answers, b silent, c silent");
});

test("a node that has left is shown until one of its name is back", async () => {
  const shared = memoryBackplane();
  const a = await openNode(shared, "a");
  const b = await openNode(shared, "b");
  await until(async () => statesOf(await a.ask("now")) === "a answers, b answers");
  await b.http.close();
  await until(async () => statesOf(await a.ask("now")) === "a answers, b left");
  await openNode(shared, "b");
  await until(async () => statesOf(await a.ask("now")) === "a answers, b answers");
});

test("a node without a dashboard does not answer, and others do not wait for it", async () => {
  const shared = memoryBackplane();
  const a = await openNode(shared, "a");
  await serveNode(shared, "b", undefined);
  await until(async () => (await a.ask("now")).nodes.length === 2);
  expect((await a.ask("now")).nodes[1]).toMatchObject({ state: "deaf", version: "b" });
});

test("a node without actions ends no client at the request of a node with them", async () => {
  const shared = memoryBackplane();
  const a = await openNode(shared, "a", true);
  const b = await openNode(shared, "b");
  await until(async () => statesOf(await a.ask("now")) === "a answers, b answers");
  const [own, other] = [await SessionClient.open(a.http), await SessionClient.open(b.http)];
  await until(async () => (await a.ask("sessions")).rows.length === 2);
  const { rows } = await a.ask("sessions");
  const peerOn = (name: string): string => String(rows.find(({ node }) => node === name)?.["peer"]);
  expect(await a.ask("end", { peer: peerOn("b") })).toMatchObject({ ended: 0 });
  expect(await other.request("ping")).toHaveProperty("result");
  expect(await a.ask("end", { peer: peerOn("a") })).toMatchObject({ ended: 1 });
  expect((await own.start("ping")).status).toBe(404);
});

test("a hundred nodes that have left are remembered, and no more", async () => {
  const shared = memoryBackplane();
  const a = await openNode(shared, "a");
  for (let at = 0; at <= 100; at++) {
    const name = `n${at}`;
    const node = await openNode(shared, name);
    await until(async () =>
      (await a.ask("now")).nodes.some((row) => row["name"] === name && row["state"] === "answers"),
    );
    await node.http.close();
    await until(async () =>
      (await a.ask("now")).nodes.some((row) => row["name"] === name && row["state"] === "left"),
    );
  }
  const { nodes } = await a.ask("now");
  expect(nodes).toHaveLength(101);
  expect(nodes.map(({ name }) => name)).not.toContain("n0");
}, 60_000);
