// What is kept of streams that can be resumed: how many, how much, for how long, and whose is forgotten first.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { describe, expect, test, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import type { EventReply } from "../../support/event-reply.ts";
import { recordingLogger } from "../../support/log.ts";
import { methodsOf, serve, type Served, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

interface Setup {
  readonly server: McpServer;
  readonly served: Served;
  readonly client: SessionClient;
}

/** A server whose tool `log` answers on a stream. */
async function setup(options: HttpOptions = {}): Promise<Setup> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("log", {}, (_, ctx) => (ctx.log("info", "x".repeat(1000)), "done"));
  const served = await serve(server, options);
  return { server, served, client: await SessionClient.open(served) };
}

function numbers(messages: readonly JsonObject[]): unknown[] {
  return messages
    .filter(({ method }) => method === "notifications/message")
    .map(({ params }) => (params as { data: unknown }).data);
}

/** Pushes a number to the session, and waits until its stream has it. */
async function push(server: McpServer, client: SessionClient, data: number, on: EventReply): Promise<void> {
  expect(await server.push.toSession(client.id, "notifications/message", { level: "info", data })).toBe(true);
  await on.message(() => numbers(on.messages).includes(data));
}

describe("logs of streams", () => {
  test("are bounded in number: the least recently used is forgotten", async () => {
    const { client, served } = await setup({ limits: { maxStreams: 3 } });
    const calls: EventReply[] = [];
    for (let at = 0; at < 10; at++) {
      const call = await client.call("log");
      await call.closed;
      calls.push(call);
    }
    expect(served.stats().replayStreams).toBe(3);
    const statuses: number[] = [];
    for (const call of calls) statuses.push((await client.get(call.events[0]?.id)).status);
    expect(statuses).toEqual([...Array.from({ length: 7 }, () => 400), 200, 200, 200]);
  });

  test("go on to be used by what is written: of two streams the one that was silent for longer is forgotten", async () => {
    const { client, server, served } = await setup({ limits: { maxStreams: 2 } });
    const other = await SessionClient.open(served);
    const [written, silent] = [await client.get(), await other.get()];
    await until(() => silent.events.length === 1);
    await push(server, client, 1, written);
    const call = await client.call("log");
    await call.closed;
    expect(served.stats().replayStreams).toBe(2);
    await written.vanish();
    const resumed = await client.get(`${written.lastEventId?.split(".")[0]}.0`);
    await resumed.message(() => numbers(resumed.messages).length === 1);
    expect(numbers(resumed.messages)).toEqual([1]);
    // The other begins again, with what to read.
    await silent.vanish();
    const fresh = await other.get(silent.lastEventId);
    expect(methodsOf(await fresh.count(1))).toEqual(["tools/list_changed"]);
  });

  test("that were forgotten do not come back by what is written, and push out no other", async () => {
    const { client, server, served } = await setup({ limits: { maxStreams: 1 } });
    const other = await SessionClient.open(served);
    const forgotten = await client.get();
    const kept = await other.get();
    await push(server, other, 1, kept);
    const { replayBytes } = served.stats();
    for (const data of [1, 2, 3]) await push(server, client, data, forgotten);
    expect(served.stats()).toMatchObject({ replayStreams: 1, replayBytes });
    await kept.vanish();
    const resumed = await other.get(`${kept.lastEventId?.split(".")[0]}.0`);
    await resumed.message(() => numbers(resumed.messages).length === 1);
    expect(numbers(resumed.messages)).toEqual([1]);
    await forgotten.vanish();
    const fresh = await client.get(forgotten.lastEventId);
    expect(methodsOf(await fresh.count(1))).toEqual(["tools/list_changed"]);
    expect(numbers(fresh.messages)).toEqual([]);
  });

  test("are bounded in bytes over all streams", async () => {
    const { client, served } = await setup({ limits: { maxTotalBytes: 10_000 } });
    for (let at = 0; at < 50; at++) await (await client.call("log")).closed;
    const { replayBytes, replayStreams } = served.stats();
    expect(replayBytes).toBeLessThanOrEqual(10_000);
    expect(replayStreams).toBeLessThan(10);
  });

  test("end some time after the final response, a lost GET stream some time after its loss", async () => {
    holdTime();
    const { client, served } = await setup({ limits: { keepMs: 60_000 } });
    const stream = await client.get();
    const call = await client.call("log");
    await call.closed;
    await stream.vanish();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(served.stats().replayStreams).toBe(2);
    await vi.advanceTimersByTimeAsync(3000);
    expect(served.stats()).toMatchObject({ replayStreams: 0, replayBytes: 0 });
    expect((await client.get(call.events[0]?.id)).status).toBe(400);
    await client.delete();
    await vi.advanceTimersByTimeAsync(2000);
    expect(served.stats().timers).toBe(0);
  });

  test("go with their session: DELETE leaves none, open, lost or ended, and none of another goes", async () => {
    const { client, server, served } = await setup();
    const other = await SessionClient.open(served);
    const theirs = await other.get();
    await push(server, other, 1, theirs);
    const { replayStreams, replayBytes } = served.stats();
    const [open, lost] = [await client.get(), await client.get()];
    await push(server, client, 1, lost);
    await lost.vanish();
    await (
      await client.call("log")
    ).closed;
    expect(served.stats().replayStreams).toBe(4);
    expect(await client.delete()).toBe(204);
    await open.closed;
    expect(served.stats()).toMatchObject({ replayStreams, replayBytes });
    expect(await other.delete()).toBe(204);
    expect(served.stats()).toMatchObject({ replayStreams: 0, replayBytes: 0 });
  });
});
