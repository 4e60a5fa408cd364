// What is kept of sessions whose streams can be resumed: how many, how much, for how long, and whose is forgotten first.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { describe, expect, test, vi } from "vitest";
import { holdTime } from "../../../support/clock.ts";
import type { EventReply } from "../../../support/event-reply.ts";
import { recordingLogger } from "../../../support/log.ts";
import { methodsOf, serve, type Served, SessionClient } from "../../../support/sessions.ts";

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

/** Calls the tool, and returns the id of the event with which its stream began. */
async function calledFrom(client: SessionClient): Promise<string | undefined> {
  const call = await client.call("log");
  await call.closed;
  return call.events[0]?.id;
}

describe("logs of sessions", () => {
  test("are bounded in number: the one that was not used for longest is forgotten", async () => {
    const { client, served } = await setup({ limits: { maxStreams: 3 } });
    const clients = [client];
    for (let at = 1; at < 10; at++) clients.push(await SessionClient.open(served));
    const begun: (string | undefined)[] = [];
    for (const each of clients) begun.push(await calledFrom(each));
    expect(served.stats().replayStreams).toBe(3);
    const statuses: number[] = [];
    for (const [at, each] of clients.entries()) statuses.push((await each.get(begun[at])).status);
    expect(statuses).toEqual([...Array.from({ length: 7 }, () => 400), 200, 200, 200]);
  });

  test("go on to be used by what is written: of two sessions the one that was silent for longer is forgotten", async () => {
    const { client, server, served } = await setup({ limits: { maxStreams: 2 } });
    const [other, third] = [await SessionClient.open(served), await SessionClient.open(served)];
    const [written, silent] = [await client.get(), await other.get()];
    const beginning = written.lastEventId;
    await push(server, other, 0, silent);
    await push(server, client, 1, written);
    await calledFrom(third);
    expect(served.stats().replayStreams).toBe(2);
    await written.vanish();
    const resumed = await client.get(beginning);
    await resumed.message(() => numbers(resumed.messages).length === 1);
    expect(numbers(resumed.messages)).toEqual([1]);
    // The other begins again, with what to read.
    await silent.vanish();
    const fresh = await other.get(silent.lastEventId);
    expect(methodsOf(await fresh.count(1))).toEqual(["tools/list_changed"]);
  });

  test("are bounded in bytes, over all sessions and in each", async () => {
    const { client, served } = await setup({ limits: { maxTotalBytes: 10_000, maxStreamBytes: 5000 } });
    for (let at = 0; at < 50; at++) await calledFrom(client);
    expect(served.stats().replayBytes).toBeLessThanOrEqual(5000);
    const clients = [];
    for (let at = 0; at < 9; at++) clients.push(await SessionClient.open(served));
    for (const each of clients) for (let at = 0; at < 5; at++) await calledFrom(each);
    const { replayBytes, replayStreams } = served.stats();
    expect(replayBytes).toBeLessThanOrEqual(10_000);
    expect(replayStreams).toBeLessThan(4);
  });

  test("are kept for as long as their session is, without timers of their own", async () => {
    holdTime();
    const { client, served } = await setup({ limits: { keepMs: 60_000, idleMs: 300_000 } });
    const begun = await calledFrom(client);
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await client.get(begun)).status).toBe(200);
    await vi.advanceTimersByTimeAsync(310_000);
    expect(served.stats()).toMatchObject({ sessions: 0, replayStreams: 0, replayBytes: 0, timers: 0 });
  });

  test("go with their session: DELETE leaves none, and none of another goes", async () => {
    const { client, server, served } = await setup();
    const other = await SessionClient.open(served);
    const theirs = await other.get();
    await push(server, other, 1, theirs);
    const { replayStreams, replayBytes } = served.stats();
    const [open, lost] = [await client.get(), await client.get()];
    await push(server, client, 1, lost);
    await lost.vanish();
    await calledFrom(client);
    expect(served.stats().replayStreams).toBe(replayStreams + 1);
    expect(await client.delete()).toBe(204);
    await open.closed;
    expect(served.stats()).toMatchObject({ replayStreams, replayBytes });
    expect(await other.delete()).toBe(204);
    expect(served.stats()).toMatchObject({ replayStreams: 0, replayBytes: 0 });
  });
});
