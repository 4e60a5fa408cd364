// How long and how many: idle sessions end, open streams and running calls keep one alive, and there is a maximum.
import { McpServer } from "halyard";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import { recordingLogger } from "../../support/log.ts";
import { initialize, serve, SessionClient } from "../../support/sessions.ts";
import { deferred, eventually, until } from "../../support/turns.ts";

const gate = deferred();

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("held", {}, async () => {
    await gate.promise;
    return "done";
  });
  return server;
}

describe("idle sessions", () => {
  beforeEach(holdTime);
  const limits = { idleMs: 60_000 };

  test("an unused one ends, and is 404 from then on [SESS-TERMINATE, SESS-TERMINATED-404]", async () => {
    const server = makeServer();
    const served = await serve(server, { limits });
    const client = await SessionClient.open(served);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await client.request("ping")).toMatchObject({ result: {} });
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await client.request("ping")).toMatchObject({ result: {} });
    await vi.advanceTimersByTimeAsync(62_000);
    expect(served.stats().sessions).toBe(0);
    expect(await server.push.count()).toBe(0);
    expect((await client.start("ping")).status).toBe(404);
  });

  test("an open stream keeps one alive, and its end starts the clock", async () => {
    const served = await serve(makeServer(), { limits });
    const client = await SessionClient.open(served);
    const stream = await client.get();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(served.stats()).toMatchObject({ sessions: 1, streams: 1 });
    stream.cut();
    await stream.closed;
    await until(() => served.stats().streams === 0);
    await vi.advanceTimersByTimeAsync(45_000);
    expect(served.stats()).toMatchObject({ sessions: 1, streams: 0 });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(served.stats().sessions).toBe(0);
  });

  test("one in use outlasts an idleMs that is shorter than a second", async () => {
    const server = makeServer();
    const served = await serve(server, { limits: { idleMs: 400 } });
    const client = await SessionClient.open(served);
    for (let at = 0; at < 12; at++) {
      await vi.advanceTimersByTimeAsync(300);
      expect(await client.request("ping")).toMatchObject({ result: {} });
    }
    expect(await server.push.toSession(client.id, "notifications/tools/list_changed")).toBe(true);
    const stream = await client.get();
    await stream.message(({ method }) => method === "notifications/tools/list_changed");
    stream.cut();
    await until(() => served.stats().streams === 0);
    await vi.advanceTimersByTimeAsync(2000);
    expect(served.stats().sessions).toBe(0);
  });

  test("streams that a session has given up, or that it took with it, are looked after no longer", async () => {
    const served = await serve(makeServer());
    const client = await SessionClient.open(served);
    for (let at = 0; at < 10; at++) await (await client.get()).vanish();
    expect(served.stats().timers).toBe(1);
    expect(await client.delete()).toBe(204);
    await vi.advanceTimersByTimeAsync(2000);
    expect(served.stats().timers).toBe(0);
  });

  test("a running call keeps one alive", async () => {
    const served = await serve(makeServer(), { limits });
    const client = await SessionClient.open(served);
    const call = client.request("tools/call", { name: "held" });
    await eventually(() => expect(served.stats().inFlight).toBe(1));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(served.stats().sessions).toBe(1);
    gate.resolve();
    expect(await call).toMatchObject({ result: {} });
  });

  test("the one timer stops when nothing is open, and starts again", async () => {
    const served = await serve(makeServer(), { limits });
    expect(served.stats().timers).toBe(0);
    const client = await SessionClient.open(served);
    expect(served.stats().timers).toBe(1);
    const stream = await client.get();
    await vi.advanceTimersByTimeAsync(5000);
    expect(served.stats().timers).toBe(1);
    await client.delete();
    await stream.closed;
    await vi.advanceTimersByTimeAsync(2000);
    expect(served.stats().timers).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    await SessionClient.open(served);
    expect(served.stats().timers).toBe(1);
  });
});

describe("the number of sessions", () => {
  test("at the maximum the one that was idle for longest ends [SESS-TERMINATE]", async () => {
    const served = await serve(makeServer(), { limits: { maxSessions: 3 } });
    const [one, two, three] = [
      await SessionClient.open(served),
      await SessionClient.open(served),
      await SessionClient.open(served),
    ];
    await one?.request("ping");
    const four = await SessionClient.open(served);
    const alive = async (client: SessionClient | undefined): Promise<boolean> =>
      (await client?.start("ping"))?.status === 200;
    expect(served.stats().sessions).toBe(3);
    expect([await alive(one), await alive(two), await alive(three), await alive(four)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  test("at the maximum the one that was idle for longest ends, however often the others were used [SESS-TERMINATE]", async () => {
    const served = await serve(makeServer(), { limits: { maxSessions: 3 } });
    const clients = await Promise.all([1, 2, 3].map(() => SessionClient.open(served)));
    const [one, two, three] = clients as [SessionClient, SessionClient, SessionClient];
    for (let round = 0; round < 31; round++) {
      for (const client of round % 2 ? [one, two, three] : [three, one]) await client.request("ping");
    }
    await SessionClient.open(served);
    expect((await two.start("ping")).status).toBe(404);
    await one.request("ping");
    await SessionClient.open(served);
    expect((await three.start("ping")).status).toBe(404);
    expect((await one.start("ping")).status).toBe(200);
  });

  test("of one principal is not counted for another whose issuer and subject read the same in one", async () => {
    const served = await serve(makeServer(), {
      limits: { maxSessionsPerPrincipal: 1 },
      auth: (request) => {
        const [issuer = "", subject = ""] = request.header("x-user")?.split(" ") ?? [];
        return { issuer, subject };
      },
    });
    const users = ["https://one.example alice", "https://one.examplea lice"];
    const clients = [];
    for (const user of users) clients.push(await SessionClient.open(served, { headers: { "x-user": user } }));
    for (const client of clients) expect((await client.start("ping")).status).toBe(200);
    expect(served.stats().sessions).toBe(2);
  });

  test("a busy one is passed over, and when all are busy a new one is 503", async () => {
    const server = makeServer();
    const [began, release] = [deferred(), deferred()];
    server.tool("busy", {}, async () => {
      began.resolve();
      await release.promise;
      return "done";
    });
    const served = await serve(server, { limits: { maxSessions: 2 } });
    const [streaming, calling] = [await SessionClient.open(served), await SessionClient.open(served)];
    const stream = await streaming.get();
    const call = calling.request("tools/call", { name: "busy" });
    await began.promise;
    const refused = await initialize(served.url);
    expect(refused.status).toBe(503);
    expect(refused.headers["retry-after"]).toBe("10");
    expect(refused.headers["mcp-session-id"]).toBeUndefined();
    expect(await server.push.count()).toBe(1);
    release.resolve();
    expect(await call).toMatchObject({ result: {} });
    expect((await initialize(served.url)).status).toBe(200);
    expect((await calling.start("ping")).status).toBe(404);
    expect((await streaming.start("ping")).status).toBe(200);
    stream.cut();
  });
});
