// onSessionClosed is called once for each legacy session that ends, with the reason.
import { PassThrough } from "node:stream";
import { McpServer, type SessionEnd } from "halyard";
import { Pipe, portOf } from "halyard/transport";
import { serveStdio } from "halyard/stdio";
import { connect } from "halyard/testing";
import { describe, expect, test, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import { recordingLogger } from "../../support/log.ts";
import { SseClient } from "../../support/legacy-sse.ts";
import { initializeRequest, legacyDates, modernDates } from "../../support/raw.ts";
import { edges, initialize, sendModern, serve, SessionClient } from "../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

type Told = [session: string | undefined, reason: SessionEnd, revision: string | undefined];

function watched(): { server: McpServer; told: Told[] } {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  const told: Told[] = [];
  server.onSessionClosed(({ session, revision }, reason) => void told.push([session, reason, revision]));
  return { server, told };
}

describe("on a pipe", () => {
  test.each(legacyDates)("a client of %s that leaves, in memory", async (revision) => {
    const { server, told } = watched();
    const client = await connect(server, { revision });
    await client.request("ping");
    const sessions = await server.push.sessions();
    await client.close();
    await client.close();
    expect(told).toEqual([[sessions[0], "left", revision]]);
  });

  test("a modern client has no session, and neither has one that never initialized", async () => {
    const { server, told } = watched();
    const modern = await connect(server, { revision: modernDates[0] ?? "" });
    await modern.request("server/discover");
    await modern.close();
    const silent = await connect(server, { revision: legacyDates[0] ?? "", handshake: false });
    await silent.close();
    expect(told).toEqual([]);
  });

  async function stdio(
    server: McpServer,
  ): Promise<{ input: PassThrough; stop: () => Promise<void>; closed: Promise<void> }> {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let text = "";
    output.on("data", (chunk: Buffer) => void (text += String(chunk)));
    const served = await serveStdio(server, { input, output, graceMs: 1000 });
    input.write(`${JSON.stringify(initializeRequest(1, "2025-11-25"))}\n`);
    await until(() => text.includes('"id":1'));
    await nextTurn();
    return { input, stop: () => served.close(), closed: served.closed };
  }

  test("stdio that ends, and stdio that is closed", async () => {
    const left = watched();
    const first = await stdio(left.server);
    first.input.end();
    await first.closed;
    expect(left.told.map(([, reason]) => reason)).toEqual(["left"]);
    const stopped = watched();
    const second = await stdio(stopped.server);
    await second.stop();
    second.input.end();
    await second.closed;
    expect(stopped.told.map(([, reason]) => reason)).toEqual(["shutdown"]);
  });

  test("the end of a pipe waits for what the author does then, within its grace", async () => {
    const { server } = watched();
    const gate = deferred();
    let isSaved = false;
    server.onSessionClosed(async () => {
      await gate.promise;
      isSaved = true;
    });
    const { input, closed } = await stdio(server);
    input.end();
    await nextTurn();
    gate.resolve();
    await closed;
    expect(isSaved).toBe(true);
  });

  test("what the author throws is logged, and the pipe ends", async () => {
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    server.onSessionClosed(() => Promise.reject(new Error("boom")));
    const pipe = new Pipe(portOf(server), { write: () => true, destroy: () => {} }, { transport: "test" });
    pipe.receive(JSON.stringify(initializeRequest(1, "2025-11-25")));
    await nextTurn();
    await pipe.end(100);
    expect(logger.entries).toMatchObject([{ level: "error", details: { error: new Error("boom") } }]);
  });
});

describe("over HTTP+SSE", () => {
  test("a client that leaves, and a server that closes", async () => {
    const { server, told } = watched();
    const served = await serve(server, { legacySse: true, graceMs: 100 });
    const first = await SseClient.open(served);
    first.stream.cut();
    await until(() => told.length === 1);
    await SseClient.open(served);
    await served.close();
    expect(told.map(([, reason]) => reason)).toEqual(["left", "shutdown"]);
  });
});

describe.each(edges)("over HTTP · %s", (edge) => {
  test.each(legacyDates)("a session of %s that its client deletes", async (revision) => {
    const { server, told } = watched();
    const served = await serve(server, {}, edge);
    const client = await SessionClient.open(served, { revision });
    await Promise.all([client.delete(), client.delete()]);
    await served.close();
    expect(told).toEqual([[client.id, "deleted", revision]]);
  });

  test("one that has been idle, one that lost its place, and one that the server left", async () => {
    holdTime();
    const { server, told } = watched();
    const limits = { idleMs: 60_000, maxSessions: 2 };
    const served = await serve(server, { limits }, edge);
    const idle = await SessionClient.open(served);
    await vi.advanceTimersByTimeAsync(62_000);
    const evicted = await SessionClient.open(served);
    await SessionClient.open(served);
    const last = await SessionClient.open(served);
    expect(told).toEqual([
      [idle.id, "idle", "2025-11-25"],
      [evicted.id, "evicted", "2025-11-25"],
    ]);
    await served.close();
    expect(told.slice(2).map(([, reason]) => reason)).toEqual(["shutdown", "shutdown"]);
    expect(told.at(-1)?.[0]).toBe(last.id);
  });

  test("nothing is told of a modern request, nor of initialize that was refused", async () => {
    const { server, told } = watched();
    const served = await serve(server, { limits: { maxSessions: 1 } }, edge);
    await sendModern(served.url, "server/discover");
    const client = await SessionClient.open(served);
    // Busy, so that it cannot be evicted.
    const stream = await client.get();
    expect((await initialize(served.url)).status).toBe(503);
    expect(told).toEqual([]);
    stream.cut();
  });
});
