// The clock on the wall is set, an hour ahead or back: nothing that waits or is idle notices.
import { McpServer } from "halyard";
import { describe, expect, test, vi } from "vitest";
import { holdTime, setWallClock } from "../support/clock.ts";
import { askingServer, begin, retry, ways } from "../support/asking-server.ts";
import { recordingLogger } from "../support/log.ts";
import { type Answer, metaKeys, newestModern, RawPeer } from "../support/raw.ts";
import { listenOver, serve, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

const hour = 3600;

describe.each([hour, -hour])("a clock that is set by %i seconds", (seconds) => {
  test("ends no session and no stream, and keeps what can be resumed", async () => {
    holdTime();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("log", {}, (_, ctx) => (ctx.log("info", 1), "done"));
    const options = { maxStreamMs: 600_000, limits: { idleMs: 600_000, keepMs: 600_000 } };
    const served = await serve(server, options);
    const idle = await SessionClient.open(served);
    const client = await SessionClient.open(served);
    const call = await client.call("log");
    await call.closed;
    const stream = await client.get();
    const listening = await listenOver(served.url, { toolsListChanged: true });
    await vi.advanceTimersByTimeAsync(5000);
    setWallClock(seconds);
    await vi.advanceTimersByTimeAsync(5000);
    expect(served.stats()).toMatchObject({ sessions: 2, streams: 2, subscriptions: 1 });
    expect([stream.end, listening.end]).toEqual([undefined, undefined]);
    expect(await idle.request("ping")).toMatchObject({ result: {} });
    const resumed = await client.get(call.events[0]?.id);
    await resumed.closed;
    expect(resumed.messages.at(-1)).toMatchObject({ result: { content: [{ text: "done" }] } });
    // And time that does pass is noticed.
    await vi.advanceTimersByTimeAsync(600_000);
    await until(() => served.stats().subscriptions === 0);
  });

  test("neither hurries nor delays keep-alives, the log of strangers, and the wait for a lost client", async () => {
    holdTime();
    const logger = recordingLogger();
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger });
    const served = await serve(server, { keepAliveMs: 10_000, resumeWindowMs: 20_000 });
    const client = await SessionClient.open(served);
    const stream = await client.get();
    const knock = (): Promise<Response> => fetch(served.url, { headers: { origin: "https://evil.example" } });
    for (let at = 0; at < 12; at++) await (await knock()).text();
    await vi.advanceTimersByTimeAsync(1000);
    setWallClock(seconds);
    await (await knock()).text();
    expect(logger.entries.at(-1)).toMatchObject({ details: { leftOut: 2 } });
    const comments = (): number => stream.textSoFar.split(": keep-alive").length - 1;
    await vi.advanceTimersByTimeAsync(5000);
    expect(comments()).toBe(0);
    await vi.advanceTimersByTimeAsync(6000);
    await until(() => comments() === 1);
    const asked = server.push.request(client.id, "ping").catch((error: Error) => error.message);
    await stream.message((message) => message["method"] === "ping");
    await stream.vanish();
    setWallClock(seconds);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await server.push.pendingAsks()).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await asked).toContain("can no longer be reached");
  });

  test("forgets no task, and no mark of what was used", async () => {
    holdTime();
    const { server } = askingServer({ singleUse: true, ttlMs: 120_000 }, { tasks: { ttlMs: 60_000 } });
    server.tool("quick", { task: "optional" }, () => "quick");
    const say = await ways.memory(server);
    const peer = new RawPeer(server, newestModern);
    const _meta = { [metaKeys.clientCapabilities]: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
    const { result } = await peer.request("tools/call", { name: "quick", _meta });
    const look = (): Promise<Answer> => peer.request("tasks/get", { taskId: result?.["taskId"], _meta });
    const call = { method: "tools/call", params: { name: "ask" } };
    const state = await begin(say, call);
    expect(await say(retry(call, state))).toHaveProperty("result");
    setWallClock(seconds);
    expect(await look()).toHaveProperty("result");
    setWallClock(-seconds);
    // The state is good again, as far as the clock on the wall tells.
    expect(await say(retry(call, state))).toHaveProperty("error.code", -32602);
    vi.advanceTimersByTime(60_000);
    expect(await look()).toHaveProperty("error.code", -32602);
  });
});
