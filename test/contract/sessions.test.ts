// How a session ends, what its client has set, and how many there may be.
import type { McpServer, SessionEnd } from "halyard";
import { expect, test } from "vitest";
import { initialize, logDataOf, sessionDates, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { contract, got, placeOn, primed } from "./columns.ts";

const message = "notifications/message";

contract("the end of a session", (column) => {
  test.each(sessionDates)(
    "by DELETE ends everything: calls, streams, logs and what waits for it · %s [SESS-TERMINATED-404]",
    async (revision) => {
      const told: [string | undefined, SessionEnd][] = [];
      const aborted = deferred();
      const define = (server: McpServer): void => {
        server.onSessionClosed(({ session }, reason) => void told.push([session, reason]));
        server.tool("wait", {}, async (_, ctx) => {
          ctx.log("info", "began");
          await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
          aborted.resolve();
          return "late";
        });
      };
      const { client, push, server, served } = await placeOn(column, { define, client: { revision } });
      // Where nodes share changes, the log of those counts, too.
      const { replayBytes } = served.stats();
      const call = await primed(client.call("wait"));
      const stream = await client.get();
      await push(1);
      await got(stream, 1);
      expect(served.stats().replayBytes).toBeGreaterThan(replayBytes);
      expect(await client.delete()).toBe(204);
      await Promise.all([call.closed, stream.closed, aborted.promise]);
      expect(call.messages.filter(({ result }) => result !== undefined)).toEqual([]);
      const replies = [
        await client.start("ping"),
        await client.get(),
        await client.get(stream.lastEventId),
        await client.get(call.lastEventId),
      ];
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect(await client.delete()).toBe(404);
      expect(await server.push.toSession(client.id, message, { level: "info", data: 2 })).toBe(false);
      expect(await server.push.sessions()).toEqual([]);
      expect(served.stats()).toMatchObject({ sessions: 0, streams: 0, replayStreams: 0, replayBytes });
      expect(told).toEqual([[client.id, "deleted"]]);
    },
  );

  test("comes when it is idle, is told once, and is not brought back [SESS-TERMINATE, SESS-TERMINATED-404]", async () => {
    const told: [string | undefined, SessionEnd][] = [];
    const { client, server, served } = await placeOn(column, {
      http: { limits: { idleMs: 100 } },
      define: (made) => made.onSessionClosed(({ session }, reason) => void told.push([session, reason])),
    });
    await until(() => told.length > 0);
    expect(served.stats().sessions).toBe(0);
    expect((await client.start("ping")).status).toBe(404);
    expect((await client.get()).status).toBe(404);
    expect(await server.push.toSession(client.id, message, { level: "info", data: 2 })).toBe(false);
    expect(told).toEqual([[client.id, "idle"]]);
  });
});

contract("the log level that a client has set", (column) => {
  test.each(sessionDates)(
    "holds for messages that wait, and for those that are replayed · %s",
    async (revision) => {
      const { client, server } = await placeOn(column, {
        client: { revision },
      });
      expect(await client.request("logging/setLevel", { level: "warning" })).toMatchObject({ result: {} });
      const push = (level: string, data: number): Promise<boolean> =>
        server.push.toSession(client.id, message, { level, data });
      const broadcast = (level: string, data: number): Promise<number> =>
        server.push.broadcast(message, { level, data });
      expect([await push("info", 1), await push("error", 2)]).toEqual([false, true]);
      const stream = await client.get();
      await got(stream, 2);
      expect([await push("info", 3), await push("warning", 4)]).toEqual([false, true]);
      await got(stream, 2, 4);
      await stream.vanish();
      for (const [level, data] of [
        ["info", 5],
        ["error", 6],
      ] as const) {
        await broadcast(level, data);
        await push(level, data + 10);
      }
      const resumed = await client.get(stream.lastEventId);
      await push("error", 20);
      await until(() => logDataOf(resumed.messages).includes(20));
      expect(logDataOf(resumed.messages).toSorted()).toEqual([16, 20, 6]);
      await client.request("logging/setLevel", { level: "debug" });
      expect(await push("debug", 21)).toBe(true);
    },
  );
});

contract("sessions of one principal", (column) => {
  const auth = (request: { header(name: string): string | undefined }) => ({
    issuer: "https://issuer.example",
    subject: request.header("x-user") ?? "nobody",
  });
  const [alice, bob] = [{ headers: { "x-user": "alice" } }, { headers: { "x-user": "bob" } }];

  test("are as many as maxSessionsPerPrincipal: one more ends one of its own", async () => {
    const told: [string | undefined, SessionEnd][] = [];
    const { client, served } = await placeOn(column, {
      http: { auth, limits: { maxSessionsPerPrincipal: 2 } },
      define: (server) => server.onSessionClosed(({ session }, reason) => void told.push([session, reason])),
      client: bob,
    });
    const [oldest, unused] = [
      await SessionClient.open(served, alice),
      await SessionClient.open(served, alice),
    ] as const;
    expect((await oldest.start("ping")).status).toBe(200);
    const third = await SessionClient.open(served, alice);
    const ended = column.endsLeastRecentlyUsed ? unused : oldest;
    const statuses = [];
    for (const each of [oldest, unused, third, client]) {
      statuses.push([each === ended, (await each.start("ping")).status]);
    }
    expect(statuses.toSorted()).toEqual([
      [false, 200],
      [false, 200],
      [false, 200],
      [true, 404],
    ]);
    expect(told).toEqual([[ended.id, "evicted"]]);
  });

  test("do not count once they have ended", async () => {
    const { served } = await placeOn(column, {
      http: { auth, limits: { maxSessionsPerPrincipal: 2 } },
      client: bob,
    });
    const first = await SessionClient.open(served, alice);
    await (await SessionClient.open(served, alice)).delete();
    await SessionClient.open(served, alice);
    expect((await first.start("ping")).status).toBe(200);
  });

  test("give nothing to another principal: its requests are answered as for an unknown session [SESS-BIND-USER, SESS-NOT-AUTH, SESS-TERMINATED-404]", async () => {
    const { client, push, served } = await placeOn(column, { http: { auth }, client: alice });
    const stream = await client.get();
    await push(1);
    await got(stream, 1);
    const unknown = await new SessionClient(served.url, "A".repeat(43), alice).start("ping");
    const expected = [unknown.status, await unknown.json()];
    const thief = new SessionClient(served.url, client.id, bob);
    const reply = await thief.start("ping");
    expect([reply.status, await reply.json()]).toEqual(expected);
    expect([await thief.delete(), (await thief.get()).status]).toEqual([404, 404]);
    expect((await thief.get(stream.lastEventId)).status).toBe(404);
    await push(2);
    await got(stream, 1, 2);
  });

  test("that are all in use make no room for another", async () => {
    const { client, served } = await placeOn(column, { http: { limits: { maxSessions: 1 } } });
    const stream = await client.get();
    const refused = await initialize(served.url);
    expect([refused.status, refused.headers["mcp-session-id"]]).toEqual([503, undefined]);
    expect((await client.start("ping")).status).toBe(200);
    expect(stream.end).toBeUndefined();
  });
});
