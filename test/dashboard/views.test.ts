// The views of one node, with real clients of every era: who is there, what they read, call and listen to.
import { McpServer, ToolError } from "halyard";
import { connect, type McpClient } from "halyard/client";
import { dashboard, type DashboardOptions } from "halyard/dashboard";
import { type HttpServer, serveHttp, type ServeHttpOptions } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { SseClient } from "../support/legacy-sse.ts";
import { recordingLogger } from "../support/log.ts";
import { type AskDashboard, lookAt, rowWith } from "../support/looking.ts";
import { SessionClient } from "../support/sessions.ts";
import { deferred, eventually, until } from "../support/turns.ts";

interface Scene {
  readonly server: McpServer;
  readonly http: HttpServer;
  readonly ask: AskDashboard;
}

const note = "note:///a";

/** A server whose dashboard is open already. */
async function open(options: DashboardOptions = {}, httpOptions: ServeHttpOptions = {}): Promise<Scene> {
  const page = dashboard({ onOpen: () => {}, ...options });
  const server = new McpServer({ name: "demo", version: "1.2.3" }, { logger: recordingLogger() });
  server.tool("echo", {}, () => "hi");
  server.resource(note, { name: "a" }, () => "text");
  const http = await serveHttp(server, { port: 0, graceMs: 50, ...httpOptions, dashboard: page });
  onTestFinished(() => http.close());
  const ask = lookAt(page);
  await ask("now");
  return { server, http, ask };
}

async function client(http: HttpServer, name: string, revision = "auto"): Promise<McpClient> {
  const connected = await connect(http.url, { info: { name, version: "1.0.0" }, revision });
  onTestFinished(() => connected.close());
  return connected;
}

test("about names the server and what it speaks", async () => {
  const { http, ask } = await open({ tryIt: true });
  const newest = { modern: "2026-07-28", legacy: "2025-11-25" };
  const about = { name: "demo", version: "1.2.3", newest, endpoint: http.url, tryIt: true, actions: false };
  expect(await ask("about")).toMatchObject(about);
});

test("clients of both eras and of HTTP+SSE are sessions, with their streams", async () => {
  const { http, ask } = await open({}, { legacySse: true });
  const modern = await client(http, "modern");
  const listening = await modern.listen({ resources: [note] });
  const legacy = await client(http, "legacy", "2025-11-25");
  await SseClient.open(http);
  await modern.callTool("echo", {});
  await legacy.callTool("echo", {});
  const node = http.url.replace("http://", "").replace("/mcp", "");
  const { rows } = await eventually(async () => {
    const sessions = await ask("sessions");
    expect(sessions.total).toBe(3);
    expect(rowWith(sessions, { client: "modern 1.0.0" })).toMatchObject({ subscriptions: 1, streams: 1 });
    expect(rowWith(sessions, { client: "legacy 1.0.0" })).toMatchObject({ streams: 1 });
    return sessions;
  });
  const who = { who: "127.0.0.1", node };
  const [ofLegacy, ofModern] = ["legacy 1.0.0", "modern 1.0.0"].map((name) =>
    rowWith({ rows }, { client: name }),
  );
  expect(ofModern).toMatchObject({ era: "modern", transport: "http", revision: "2026-07-28", ...who });
  expect(ofLegacy).toMatchObject({ era: "legacy", transport: "http", revision: "2025-11-25", ...who });
  expect(rowWith({ rows }, { transport: "sse" })).toMatchObject({
    era: "legacy",
    revision: "2024-11-05",
    ...who,
  });

  const streams = await ask("streams");
  expect(streams.total).toBe(3);
  expect(rowWith(streams, { kind: "listen" })).toMatchObject({
    peer: ofModern?.["peer"],
    state: "open",
    subscriptions: 1,
  });
  const get = rowWith(streams, { kind: "get" });
  expect(get).toMatchObject({
    peer: ofLegacy?.["peer"],
    state: "open",
    isBehind: false,
  });
  expect(get?.["lastEventId"]).toMatch(/^g.{7}….*\.\d+-\w+$/);
  expect(rowWith(streams, { kind: "sse" })).toMatchObject({ state: "open", ...who });

  const { counts, calls } = await ask("now");
  expect(counts).toMatchObject({ sessions: 2, streams: 3, subscriptions: 1 });
  expect(calls.slice(0, 2)).toMatchObject([
    { name: "echo", client: "legacy 1.0.0", peer: ofLegacy?.["peer"], outcome: "ok" },
    { name: "echo", client: "modern 1.0.0", peer: ofModern?.["peer"], outcome: "ok" },
  ]);
  await listening.close();
  await eventually(async () =>
    expect((await ask("now")).counts).toMatchObject({ streams: 2, subscriptions: 0 }),
  );
});

test("a call that runs is seen at its tool and at its client", async () => {
  const { server, http, ask } = await open();
  const gate = deferred();
  server.tool("wait", {}, async () => {
    await gate.promise;
    return "done";
  });
  const modern = await client(http, "modern");
  const legacy = await client(http, "legacy", "2025-11-25");
  const calls = [modern.callTool("wait", {}), modern.callTool("wait", {}), legacy.callTool("wait", {})];
  const tool = { method: "tools/call", name: "wait" };
  await until(async () => rowWith(await ask("tools"), tool)?.["running"] === 3);
  expect(Number(rowWith(await ask("tools"), tool)?.["runningMs"])).toBeGreaterThan(0);
  const sessions = await ask("sessions");
  expect(rowWith(sessions, { client: "modern 1.0.0" })).toMatchObject({ running: 2 });
  expect(rowWith(sessions, { client: "legacy 1.0.0" })).toMatchObject({ running: 1 });
  expect((await ask("now")).counts["inFlight"]).toBe(3);
  gate.resolve();
  await Promise.all(calls);
  expect(rowWith(await ask("tools"), tool)).toMatchObject({ running: 0, calls: 3, errors: 0 });
});

test("errors of calls are counted by their codes", async () => {
  const { server, http, ask } = await open();
  server.tool("fail", {}, () => {
    throw new ToolError("no");
  });
  const legacy = await SessionClient.open(http);
  await legacy.request("tools/call", { name: "fail" });
  await legacy.request("tools/call", { name: "missing" });
  await legacy.request("resources/read", { uri: "note:///missing" });
  const tools = await ask("tools");
  expect(rowWith(tools, { name: "fail" })).toMatchObject({ calls: 1, errors: 1, errorCodes: [] });
  expect(rowWith(tools, { name: "missing" })).toMatchObject({
    errors: 1,
    errorCodes: [{ code: -32602, count: 1 }],
  });
  expect(rowWith(tools, { method: "resources/read" })).toMatchObject({
    errors: 1,
    errorCodes: [{ code: -32002 }],
  });
  expect(rowWith(tools, { name: "echo" })).toMatchObject({ calls: 0 });
});

test("topics show who listens, and the last pushes; what is pushed to a client that is away waits in the logs", async () => {
  const { server, http, ask } = await open();
  const away = await SessionClient.open(http);
  await away.request("resources/subscribe", { uri: note });
  const modern = await client(http, "modern");
  await modern.listen({ resources: [note] });
  for (let push = 0; push < 7; push++) await server.resources.updated(note);
  const topics = await ask("topics", { search: "NOTE:///" });
  expect(topics.total).toBe(1);
  const { peer } = rowWith(await ask("sessions"), { era: "legacy" }) ?? {};
  const [row] = topics.rows;
  expect(row).toMatchObject({ notification: "notifications/resources/updated", key: note, listeners: 2 });
  expect(row).toMatchObject({ pushed: 7, merged: 0, who: [{ peer }, { client: "modern 1.0.0" }] });
  expect(row?.["pushes"]).toHaveLength(5);
  expect(row).toMatchObject({ pushes: [{ delivered: 1 }, {}, {}, {}, {}] });
  expect(rowWith(await ask("sessions"), { era: "legacy" })).toMatchObject({ queuedBytes: 0 });
});

test("resumes and gaps are counted", async () => {
  const { server, http, ask } = await open();
  const legacy = await SessionClient.open(http);
  const stream = await legacy.get();
  await until(() => stream.events.length === 1);
  stream.cut();
  await until(async () => rowWith(await ask("streams"), { kind: "get" })?.["state"] === "lost");
  await legacy.request("resources/subscribe", { uri: note });
  const again = await legacy.get(String(stream.events[0]?.id));
  await server.resources.updated(note);
  await until(() => again.events.some(({ data }) => data?.includes(note) === true));
  await legacy.get("gAAAAAAAAAAAAAAAAAAAAAA.7");
  await until(async () => rowWith(await ask("sessions"), { era: "legacy" })?.["gaps"] === 1);
  expect(rowWith(await ask("sessions"), { era: "legacy" })).toMatchObject({ resumes: 1, subscriptions: 1 });
  expect((await ask("now")).counts).toMatchObject({ subscriptions: 1 });
  expect(rowWith(await ask("streams"), { kind: "get", state: "open" })).toMatchObject({
    resumes: 1,
    gaps: 1,
  });
});

test("refusals are counted by reason", async () => {
  const { http, ask } = await open();
  for (let times = 0; times < 2; times++) await fetch(http.url, { method: "POST", body: "no" });
  const { refusals } = await ask("now");
  expect(refusals).toHaveLength(1);
  expect(refusals[0]).toMatchObject({ status: 415, count: 2 });
});

test("of 300 sessions 200 are shown, and a search finds any of them", async () => {
  const { http, ask } = await open();
  const opened = await Promise.all(Array.from({ length: 300 }, () => SessionClient.open(http)));
  const sessions = await ask("sessions");
  expect(sessions.total).toBe(300);
  expect(sessions.rows).toHaveLength(200);
  // The oldest is not among those used last, until it is used again.
  await opened[0]?.request("ping");
  const before = new Set(sessions.rows.map(({ peer }) => peer));
  const peer = (await ask("sessions")).rows.map((row) => row["peer"]).find((each) => !before.has(each));
  const found = await ask("sessions", { search: String(peer).toUpperCase() });
  expect(found).toMatchObject({ total: 1, rows: [{ peer }] });
  expect(await ask("sessions", { search: "nobody" })).toMatchObject({ total: 0, rows: [] });
});

test("a session, a listen request and an HTTP+SSE stream can be ended", async () => {
  const { http, ask } = await open({ actions: true }, { legacySse: true });
  const legacy = await SessionClient.open(http);
  const modern = await client(http, "modern");
  await modern.listen({ resources: [note] });
  const sse = await SseClient.open(http);
  const { rows } = await ask("sessions");
  for (const { peer } of rows) expect((await ask("end", { peer: String(peer) })).ended).toBe(1);
  const { status } = await legacy.start("ping");
  expect(status).toBe(404);
  await sse.stream.closed;
  expect((await ask("end", { peer: "unknown" })).ended).toBe(0);
});
