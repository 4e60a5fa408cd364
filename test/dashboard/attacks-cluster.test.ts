// Nodes that answer too much, or something else than they should, take nothing from the page of another node.
import { type Backplane, McpServer } from "halyard";
import { backplaneOf, memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { type HttpServer, serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import type { Engine, JoinOptions } from "../support/backplane.ts";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, type DashboardAnswer, lookAt, rowWith } from "../support/looking.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

type Send = (to: string, text: string, send: Engine["send"]) => Promise<void>;

/** A backplane whose nodes send what `send` makes of it. */
function sendingBackplane(backplane: Backplane, send: Send): Backplane {
  const open = async (options: JoinOptions): Promise<Engine> => {
    const engine = await backplane.open(options);
    const passOn = engine.send.bind(engine);
    return Object.assign(engine, { send: (to: string, text: string) => send(to, text, passOn) });
  };
  return backplaneOf({ engine: backplane.engine, options: backplane.options, open });
}

/** The body of an answer about the dashboard; undefined for any other message. */
function answerIn(text: string): Record<string, unknown> | undefined {
  const { to, body } = JSON.parse(text) as { to?: string; body?: Record<string, unknown> };
  return to !== undefined && body?.["figures"] !== undefined ? body : undefined;
}

interface Node {
  readonly server: McpServer;
  readonly http: HttpServer;
  readonly ask: AskDashboard;
}

async function openNode(backplane: Backplane, name: string): Promise<Node> {
  const page = dashboard({ onOpen: () => {}, node: name });
  const server = new McpServer({ name: "demo", version: name }, { logger: recordingLogger(), backplane });
  server.tool("echo", {}, () => name);
  const http = await serveHttp(server, { port: 0, graceMs: 50, dashboard: page });
  onTestFinished(() => http.close());
  return { server, http, ask: lookAt(page) };
}

function statesOf({ nodes }: DashboardAnswer): string {
  return nodes.map(({ name, state }) => `${String(name)} ${String(state)}`).join(", ");
}

async function openTwo(send: Send): Promise<readonly [Node, Node]> {
  const shared = memoryBackplane();
  const [a, b] = [await openNode(shared, "a"), await openNode(sendingBackplane(shared, send), "b")];
  await until(async () => (await a.ask("now")).nodes.length === 2);
  return [a, b];
}

const asked = ["now", "sessions", "streams", "tools", "topics"] as const;
const garbage: Readonly<Record<string, (answer: Record<string, unknown>) => Record<string, unknown>>> = {
  "no figures": (answer) => ({ ...answer, figures: {} }),
  "figures that are texts": (answer) => ({
    ...answer,
    figures: { ...(answer["figures"] as object), uptimeMs: "x" },
  }),
  "counts that are no numbers": (answer) => ({
    ...answer,
    figures: { ...(answer["figures"] as object), counts: { sessions: {} } },
  }),
  "an empty part": (answer) => ({ ...answer, part: {} }),
  "a part of something else": (answer) => ({
    ...answer,
    part: { rows: 1, tools: "x", seconds: [], calls: {} },
  }),
  "rows that are null": (answer) => ({
    ...answer,
    part: { rows: [null], total: 1, tools: [null], calls: [null], lines: [null], entries: [null] },
  }),
};

test.each(Object.entries(garbage))("a node that answers with %s", async (_, spoil) => {
  const [a] = await openTwo((to, text, send) => {
    const answer = answerIn(text);
    return send(to, answer ? JSON.stringify({ ...JSON.parse(text), body: spoil(answer) }) : text);
  });
  const client = await SessionClient.open(a.http);
  await client.request("tools/call", { name: "echo", arguments: {} });
  const { rows } = await a.ask("sessions");
  expect(rows).toMatchObject([{ node: "a" }]);
  const peer = String(rows[0]?.["peer"]);
  for (const ask of asked) expect((await a.ask(ask)).nodes[0]).toMatchObject({ name: "a", state: "answers" });
  for (const ask of ["timeline", "recording"]) expect((await a.ask(ask, { peer })).nodes).toHaveLength(2);
  const { counts, nodes } = await a.ask("now");
  expect(counts).toMatchObject({ sessions: 1 });
  expect(typeof nodes[1]?.["uptimeMs"]).toBe("number");
});

test("a node that answers for others, and twice, counts once", async () => {
  const [a, b] = await openTwo(async (to, text, send) => {
    const message = JSON.parse(text) as object;
    for (let at = 0; at < 20 && answerIn(text); at++)
      await send(to, JSON.stringify({ ...message, from: `forged-${at}` }));
    await send(to, text);
    await send(to, text);
  });
  await SessionClient.open(b.http);
  await until(async () => (await a.ask("now")).counts["sessions"] === 1);
  for (let at = 0; at < 5; at++) {
    const { counts, nodes } = await a.ask("now");
    expect(counts).toMatchObject({ sessions: 1 });
    expect(nodes).toHaveLength(2);
  }
});

/** NATS takes messages of a megabyte, and sealing makes them a third longer. */
const maxMessage = 780_000;

test("no answer is too large for a bus, whatever it is made of", async () => {
  const sizes: number[] = [];
  const [a, b] = await openTwo((to, text, send) => {
    if (answerIn(text)) sizes.push(Buffer.byteLength(text));
    return send(to, text);
  });
  for (let at = 0; at < 5000; at++) b.server.tool(`tool-${at}`.padEnd(100, "x"), {}, () => "");
  b.server.resourceTemplate("note:///{+name}", { name: "note" }, () => "text");
  const client = await SessionClient.open(b.http);
  const wide = "ö€";
  const [{ peer } = { peer: "" }] = (await a.ask("sessions")).rows;
  await a.ask("timeline", { peer: String(peer) });
  for (let at = 0; at < 210; at++)
    await client.request("resources/subscribe", { uri: `note:///${String(at).padEnd(8000, "x")}` });
  for (let at = 0; at < 100; at++)
    await client.request("tools/call", { name: "echo", arguments: { text: wide.repeat(5000) } });
  for (const ask of asked) expect(statesOf(await a.ask(ask))).toBe("a answers, b answers");
  const { lines, dropped } = await a.ask("recording", { peer: String(peer) });
  expect((lines as object[]).length).toBeGreaterThan(5);
  expect(dropped).toBeGreaterThan(50);
  await a.ask("timeline", { peer: String(peer) });
  expect(rowWith(await a.ask("tools"), { name: "echo" })).toMatchObject({ calls: 100 });
  expect((await a.ask("tools")).total).toBeGreaterThan(5000);
  expect(Math.max(...sizes)).toBeLessThan(maxMessage);
});
