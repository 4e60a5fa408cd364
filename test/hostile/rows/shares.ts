// What many callers share: one that takes all it can get is refused, or loses its own, and a small one notices nothing.
import type { HttpOptions } from "halyard/node";
import { expect } from "vitest";
import { initialize, listenOver, sendModern, SessionClient } from "../../support/sessions.ts";
import { deferred, until } from "../../support/turns.ts";
import { makeServer } from "../../support/catalogue.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";

type Mount = Parameters<HttpRow["attack"]>[0];

/** Two networks of clients without authentication. */
const greedy = { headers: { "x-forwarded-for": "192.0.2.1" } };
const modest = { headers: { "x-forwarded-for": "192.0.2.2" } };
const noSse = { "HTTP+SSE": "has its own sessions, without logs or listen requests" };

async function shared(
  mount: Mount,
  limits: HttpOptions["limits"],
  serverLimits: Parameters<typeof makeServer>[0] = {},
): Promise<{ server: ReturnType<typeof makeServer>["server"]; door: HttpDoor; url: string }> {
  const { server } = makeServer(serverLimits);
  server.tool("report", {}, (_, ctx) => (ctx.log("info", "x".repeat(300)), "done"));
  server.resourceTemplate("note:///{id}", {}, () => "");
  const door = await openHttp(mount, server, { limits: limits ?? {}, trustProxy: true });
  return { server, door, url: `http://127.0.0.1:${door.port}/mcp` };
}

async function statusOf(url: string, from: typeof greedy): Promise<number> {
  const reply = await initialize(url, from);
  await reply.closed;
  return reply.status;
}

export const shareRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "clients that begin slow calls and hang up keep nobody out while the calls run",
    leftOut: noSse,
    async attack(mount) {
      const { server, door, url } = await shared(mount, { maxSessions: 5 });
      const gate = deferred();
      let begun = 0;
      let stopped = 0;
      server.tool("slow", {}, async (_, ctx) => {
        begun++;
        ctx.signal.addEventListener("abort", () => stopped++);
        await gate.promise;
        return "done";
      });
      const reader = await SessionClient.open({ url }, modest);
      const stream = await reader.get();
      const waiter = await SessionClient.open({ url }, modest);
      const waiting = waiter.request("tools/call", { name: "slow" });
      await until(() => begun === 1);
      for (let at = 2; at <= 4; at++) {
        const client = await SessionClient.open({ url }, greedy);
        const hungUp = new AbortController();
        const headers = client.headers({ "content-type": "application/json", accept: "application/json" });
        const body = JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "slow" },
        });
        const { signal } = hungUp;
        void fetch(url, { method: "POST", headers: headers as Record<string, string>, body, signal }).catch(
          () => {},
        );
        await until(() => begun === at);
        hungUp.abort();
      }
      await until(async () => (await statusOf(url, modest)) === 200);
      expect(stopped).toBeGreaterThan(0);
      expect(door.stats().sessions).toBe(5);
      expect(stream.end).toBeUndefined();
      gate.resolve();
      expect(await waiting).toMatchObject({ result: { content: [{ text: "done" }] } });
      stream.cut();
    },
  },
  {
    over: "http",
    name: "whoever opens session after session ends its own, and not the one that another left idle",
    leftOut: noSse,
    async attack(mount) {
      const { url } = await shared(mount, { maxSessions: 4 });
      const victim = await SessionClient.open({ url }, modest);
      for (let at = 0; at < 12; at++) await SessionClient.open({ url }, greedy);
      expect((await victim.start("ping")).status).toBe(200);
    },
  },
  {
    over: "http",
    name: "whoever keeps every session open has to give one to a newcomer, and gets no more itself",
    async attack(mount) {
      const { door, url } = await shared(mount, { maxSessions: 3 });
      if (mount === "HTTP+SSE") {
        const open = (from: typeof greedy): ReturnType<typeof door.send> =>
          door.send({
            path: "/sse",
            method: "GET",
            headers: { accept: "text/event-stream", ...from.headers },
          });
        const streams = [await open(greedy), await open(greedy), await open(greedy)];
        expect((await open(greedy)).status).toBe(503);
        streams.push(await open(modest));
        expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        await until(() => door.stats().sessions === 3);
        for (const stream of streams) stream.abort();
        return;
      }
      const streams = [];
      for (let at = 0; at < 3; at++) streams.push(await (await SessionClient.open({ url }, greedy)).get());
      expect(await statusOf(url, greedy)).toBe(503);
      const small = await SessionClient.open({ url }, modest);
      streams.push(await small.get());
      await streams[0]?.closed;
      expect(await statusOf(url, greedy)).toBe(503);
      expect((await small.start("ping")).status).toBe(200);
      for (const stream of streams) stream.cut();
    },
  },
  {
    over: "http",
    name: "however many calls somebody makes, what others may resume is kept",
    leftOut: noSse,
    async attack(mount) {
      for (const limits of [{ maxStreams: 5 }, { maxTotalBytes: 3000 }]) {
        const { url } = await shared(mount, limits);
        const victim = await SessionClient.open({ url }, modest);
        const lost = await victim.call("report");
        await lost.closed;
        const flood = await SessionClient.open({ url }, greedy);
        for (let at = 0; at < 20; at++) await (await flood.call("report")).closed;
        const resumed = await victim.get(lost.events[0]?.id);
        expect(resumed.status).toBe(200);
        await resumed.closed;
        expect(resumed.messages.at(-1)).toMatchObject({ result: { content: [{ text: "done" }] } });
      }
    },
  },
  {
    over: "http",
    name: "what waits for the absent clients of one caller pushes out nothing that waits for another's",
    leftOut: noSse,
    async attack(mount) {
      const { server, url } = await shared(mount, { maxTotalBytes: 9000 });
      const victim = await SessionClient.open({ url }, modest);
      const send = (client: SessionClient): Promise<boolean> =>
        server.push.toSession(client.id, "notifications/message", { level: "info", data: "x".repeat(2500) });
      await send(victim);
      for (let at = 0; at < 8; at++) await send(await SessionClient.open({ url }, greedy));
      const stream = await victim.get();
      const [first] = await stream.count(1);
      expect(first).toMatchObject({ method: "notifications/message" });
      stream.cut();
    },
  },
  {
    over: "http",
    name: "whoever subscribes to all it can, in session after session, leaves room for others",
    async attack(mount) {
      const { door } = await shared(mount, {}, { limits: { maxTotalSubscribedLength: 25_200 } });
      const subscribe = async (user: string): Promise<number> => {
        let count = 0;
        for (let session = 0; session < 5; session++) {
          const client = await door.connect({ user });
          for (let at = 0; at < 5; at++, count++) {
            const uri = `note:///${session}${at}${"a".repeat(990)}`;
            const taken = await client.request("resources/subscribe", { uri }).catch(() => undefined);
            if (taken === undefined) return count;
          }
        }
        return count;
      };
      expect(await subscribe("greedy")).toBe(10);
      expect(await subscribe("modest")).toBe(5);
    },
  },
  {
    over: "http",
    name: "whoever takes every listen request loses its oldest to a newcomer, and gets no more itself",
    leftOut: noSse,
    async attack(mount) {
      const { door, url } = await shared(mount, { maxListens: 3 });
      const filter = { toolsListChanged: true };
      const open = [];
      for (let at = 0; at < 3; at++) open.push(await listenOver(url, filter, greedy));
      const again = await sendModern(url, "subscriptions/listen", { notifications: filter }, greedy);
      expect(again.status).toBe(429);
      const small = await listenOver(url, filter, modest);
      await open[0]?.closed;
      expect(open.map(({ end }) => end)).toEqual(["complete", undefined, undefined]);
      expect(open[0]?.messages.at(-1)).toMatchObject({ result: { resultType: "complete" } });
      expect(door.stats().subscriptions).toBe(3);
      for (const stream of [...open, small]) stream.cut();
    },
  },
];
