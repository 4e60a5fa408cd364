// What `observe` sees of event streams and sessions: how they begin, and why they end.
import { type Backplane, McpServer, type ServerEvent } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import type { HttpOptions } from "halyard/node";
import { describe, expect, test } from "vitest";
import { clientAt } from "../../support/cluster.ts";
import { ofType } from "../../support/events.ts";
import { SseClient } from "../../support/legacy-sse.ts";
import { recordingLogger } from "../../support/log.ts";
import { type Edge, edges, listenOver, serve, type Served, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

interface Watched extends Served {
  readonly server: McpServer;
  /** What happened to streams, in words, oldest first. */
  streams(): string[];
  sessions(): string[];
  readonly events: ServerEvent[];
}

async function watch(edge: Edge, options: HttpOptions = {}, backplane?: Backplane): Promise<Watched> {
  const events: ServerEvent[] = [];
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    {
      ...(backplane && { backplane }),
      logger: recordingLogger(),
      observe: (event) => void events.push(event),
    },
  );
  server.tool("count", {}, (_, ctx) => {
    ctx.progress(1);
    return "counted";
  });
  server.resource("note:///a", {}, () => "a");
  const served = await serve(server, options, edge);
  return {
    ...served,
    server,
    events,
    streams: () =>
      ofType(events, "stream").map(({ kind, state, reason = "" }) => `${kind} ${state} ${reason}`.trim()),
    sessions: () => ofType(events, "session").map(({ state, reason = "" }) => `${state} ${reason}`.trim()),
  };
}

describe.each(edges)("the streams of %s", (edge) => {
  test("that a client cuts and resumes", async () => {
    const watched = await watch(edge);
    const client = await SessionClient.open(watched);
    const stream = await client.get();
    await until(() => stream.lastEventId !== undefined);
    stream.cut();
    await until(() => watched.streams().length === 2);
    const again = await client.get(stream.lastEventId);
    await until(() => watched.streams().length === 3);
    expect(watched.streams()).toEqual(["get opened", "get closed cut", "get resumed"]);
    const [, closed] = ofType(watched.events, "stream");
    expect(closed).toMatchObject({ transport: "http", session: client.id, backlog: expect.any(Number) });
    expect(closed?.bytes).toBeGreaterThan(0);
    expect(closed?.durationMs).toBeGreaterThanOrEqual(0);
    again.cut();
  });

  test("that end with the response or with the session", async () => {
    const watched = await watch(edge);
    const client = await SessionClient.open(watched);
    const reply = await client.start("tools/call", {
      name: "count",
      arguments: {},
      _meta: { progressToken: 1 },
    });
    await reply.closed;
    await until(() => watched.streams().length === 2);
    const stream = await client.get();
    await until(() => watched.streams().length === 3);
    await client.delete();
    await stream.closed;
    expect(watched.streams()).toEqual(["post opened", "post closed ended", "get opened", "get closed ended"]);
    expect(watched.sessions()).toEqual(["made", "ended deleted"]);
  });

  test("of a listen request", async () => {
    const watched = await watch(edge);
    const listen = await listenOver(watched.url, { toolsListChanged: true });
    await until(() => watched.streams().length === 1);
    listen.cut();
    await until(() => watched.streams().length === 2);
    expect(watched.streams()).toEqual(["listen opened", "listen closed cut"]);
  });

  test("of HTTP+SSE", async () => {
    const watched = await watch(edge, { legacySse: true });
    const { stream } = await SseClient.open(watched);
    stream.cut();
    await until(() => watched.streams().length === 2);
    expect(watched.streams()).toEqual(["sse opened", "sse closed cut"]);
    await until(() => watched.sessions().length === 2);
    expect(watched.sessions()).toEqual(["made", "ended left"]);
  });
});

test.each(edges)("a stream whose reader does not read is closed as slow · %s", async (edge) => {
  const watched = await watch(edge, { stallMs: 1000 });
  const client = await SessionClient.open(watched);
  const stream = await client.get();
  await until(() => watched.streams().length === 1);
  stream.stall();
  const data = "x".repeat(200_000);
  const push = (): Promise<boolean> =>
    watched.server.push.toSession(client.id, "notifications/message", { level: "error", data });
  for (let at = 0; at < 100; at++) await push();
  await until(() => watched.streams().length === 2);
  expect(watched.streams()).toEqual(["get opened", "get closed slow"]);
});

test("in a cluster, a session is revived and its stream moves", async () => {
  const backplane = memoryBackplane();
  const [one, two] = [await watch("serveHttp", {}, backplane), await watch("serveHttp", {}, backplane)];
  const client = await SessionClient.open(one);
  const stream = await client.get();
  await until(() => stream.lastEventId !== undefined);
  const elsewhere = await clientAt(two, client).get(stream.lastEventId);
  await until(() => two.streams().length === 1 && one.streams().length === 2);
  expect([one.streams(), two.streams()]).toEqual([["get opened", "get closed moved"], ["get resumed"]]);
  expect([one.sessions(), two.sessions()]).toEqual([["made"], ["revived"]]);
  elsewhere.cut();
});

test("a stream that cannot continue where it was is a gap on one node, too", async () => {
  const watched = await watch("serveHttp");
  const client = await SessionClient.open(watched);
  const stream = await client.get("gAAAAAAAAAAAAAAAAAAAAAA.1");
  await until(() => ofType(watched.events, "gap").length === 1);
  expect(ofType(watched.events, "gap")).toEqual([{ type: "gap", session: client.id }]);
  stream.cut();
});
