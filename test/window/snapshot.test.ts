// Snapshots: what is open, page by page.
import { McpServer } from "halyard";
import { type Views, windowOf } from "halyard/window";
import { expect, onTestFinished, test } from "vitest";
import { listenOver, serve, SessionClient } from "../support/sessions.ts";
import { capabilities } from "../support/tasks.ts";
import { deferred, until } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "demo", version: "1.2.3" });
  server.tool("hello", {}, () => "Hello");
  server.resource("note:///a", {}, () => "text");
  return server;
}

test("counts and rows tell what is open", async () => {
  const server = makeServer();
  const { promise, resolve } = deferred<string>();
  server.tool("wait", {}, () => promise);
  const inside = windowOf(server);
  const { url } = await serve(server);
  const client = await SessionClient.open({ url });
  await client.request("resources/subscribe", { uri: "note:///a" });
  const stream = await client.get();
  onTestFinished(() => stream.cut());
  const pending = client.request("tools/call", { name: "wait", arguments: {} });
  await until(() => inside.counts().calls === 1);
  expect(inside.server).toMatchObject({ name: "demo", version: "1.2.3" });
  expect(inside.counts()).toMatchObject({ sessions: 1, streams: 1, subscriptions: 1, calls: 1, tasks: 0 });
  const [session] = inside.snapshot("sessions").rows;
  expect(session).toMatchObject({
    era: "legacy",
    transport: "http",
    running: 1,
    streams: 1,
    subscriptions: 1,
  });
  const { peer = "" } = session ?? {};
  expect(session?.session).not.toBe(peer);
  expect(inside.snapshot("streams").rows).toMatchObject([{ kind: "get", state: "open", peer }]);
  const [running] = inside.snapshot("calls").rows;
  expect(running).toMatchObject({ method: "tools/call", name: "wait", peer, isStream: false });
  const subscribed = inside.snapshot("subscriptions", { search: "note:///a" }).rows;
  expect(subscribed).toMatchObject([{ key: "note:///a", subscribers: 1, peers: [{ peer }] }]);
  expect(inside.snapshot("tools").rows).toEqual([{ name: "hello" }, { name: "wait" }]);
  expect(inside.snapshot("nodes").rows).toMatchObject([{ isSelf: true, version: "1.2.3" }]);
  for (const kind of ["sessions", "streams", "calls"] as const)
    expect(inside.snapshot(kind, { peer: "nobody" }).total, kind).toBe(0);
  // Plain data.
  for (const kind of ["sessions", "streams", "subscriptions", "calls", "tasks", "tools", "nodes"] as const) {
    const { rows } = inside.snapshot<keyof Views>(kind);
    expect(rows, kind).toEqual(structuredClone(rows));
  }
  resolve("done");
  await pending;
  expect(inside.counts().calls).toBe(0);
  expect(await inside.end(peer)).toEqual({ sessions: 1, streams: 0 });
  expect(inside.counts()).toMatchObject({ sessions: 0, subscriptions: 0 });
  await until(() => inside.counts().streams === 0);
});

test("pages cover every row once, the last used first, and are bounded", async () => {
  const server = makeServer();
  const inside = windowOf(server);
  const { url } = await serve(server);
  const clients: SessionClient[] = [];
  for (let at = 0; at < 7; at++) clients.push(await SessionClient.open({ url }));
  await clients[2]?.request("tools/list");
  const seen: (string | undefined)[] = [];
  const totals: number[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page: ReturnType<typeof inside.snapshot<"sessions">> = inside.snapshot("sessions", {
      offset,
      limit: 3,
    });
    expect(page.rows.length).toBeLessThanOrEqual(3);
    seen.push(...page.rows.map(({ session }) => session));
    totals.push(page.total);
    offset = page.next;
  }
  expect(totals).toEqual([7, 7, 7]);
  expect(new Set(seen).size).toBe(7);
  expect(seen[0]).toBe(clients[2]?.id);
  expect(() => inside.snapshot("sessions", { limit: -1 })).toThrow("limit");
});

test("modern clients with listen requests are rows of their own era", async () => {
  const server = makeServer();
  const inside = windowOf(server);
  const { url } = await serve(server);
  const listen = await listenOver(url, { toolsListChanged: true });
  onTestFinished(() => listen.cut());
  await until(() => inside.counts().subscriptions === 1);
  await until(() => inside.snapshot("sessions", { era: "modern" }).total === 1);
  expect(inside.snapshot("sessions", { era: "legacy" }).total).toBe(0);
  expect(inside.snapshot("streams").rows).toMatchObject([{ kind: "listen", subscriptions: 1 }]);
  expect(inside.counts()).toMatchObject({ sessions: 0, streams: 1, subscriptions: 1, calls: 0 });
  listen.cut();
  await until(() => inside.counts().streams === 0 && inside.counts().subscriptions === 0);
});

test("tasks are rows while their handlers run", async () => {
  const { connect } = await import("halyard/testing");
  const server = makeServer();
  const { promise, resolve } = deferred<string>();
  server.tool("long", { task: { starts: "at once" } }, () => promise);
  const inside = windowOf(server);
  const client = await connect(server, { capabilities });
  onTestFinished(() => client.close());
  client.send({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    ...client.withMeta({ name: "long", arguments: {} }),
  });
  await until(() => inside.counts().tasks === 1);
  expect(inside.snapshot("tasks").rows).toMatchObject([{ tool: "long", status: "working" }]);
  resolve("done");
  await until(() => inside.counts().tasks === 0);
});
