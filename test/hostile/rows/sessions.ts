// Sessions and streams: their ids do not work for another caller, and refused ones leave nothing behind.
import { expect } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { post, sendTo } from "../../support/http.ts";
import { ping } from "../../support/http-server.ts";
import { initializeRequest, newestLegacy } from "../../support/raw.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import type { EventReply } from "../../support/event-reply.ts";
import { methodsOf, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";
import { openHttp } from "../mounts.ts";
import type { HttpRow } from "../row.ts";
import { SseWire } from "../sse-wire.ts";

type Mount = Parameters<HttpRow["attack"]>[0];

const owner = { "x-user": "owner" };
const thief = { "x-user": "thief" };
const noSession = { "HTTP+SSE": "has no Mcp-Session-Id; its token has a row of its own" } as const;
const onlySse = {
  serveHttp: "has no token of HTTP+SSE",
  fetchHandler: "the same",
  Express: "the same",
} as const;

async function opened(mount: Mount) {
  const { server } = makeServer();
  let calls = 0;
  server.tool("act", {}, () => `${++calls}`);
  const door = await openHttp(mount, server);
  const url = `http://127.0.0.1:${door.port}/mcp`;
  return { server, door, url, calls: () => calls };
}

export const sessionRows: readonly HttpRow[] = [
  {
    over: "http",
    name: "the session of one principal does not exist for another, by any method",
    advisories: ["CVE-2026-52869"],
    leftOut: noSession,
    async attack(mount) {
      const { url } = await opened(mount);
      const victim = await SessionClient.open({ url }, { headers: owner });
      for (const headers of [thief, { "x-user": undefined }]) {
        expect((await victim.post(ping, headers)).status).toBe(404);
        expect((await victim.get(undefined, headers)).status).toBe(404);
        expect(await victim.delete(headers)).toBe(404);
      }
      expect(await victim.request("ping")).toMatchObject({ result: {} });
    },
  },
  {
    over: "http",
    name: "a stolen session id runs no tool",
    advisories: ["CVE-2026-67431"],
    leftOut: noSession,
    async attack(mount) {
      const { url, calls } = await opened(mount);
      const victim = await SessionClient.open({ url }, { headers: owner });
      const stolen = new SessionClient(url, victim.id, { headers: thief });
      expect((await stolen.call("act")).status).toBe(404);
      expect(calls()).toBe(0);
    },
  },
  {
    over: "http",
    name: "the token of another principal's HTTP+SSE stream takes no message, nor does a made-up one",
    advisories: ["CVE-2026-52869"],
    requirements: ["SSE24-AUTH"],
    leftOut: onlySse,
    async attack(mount) {
      const { door } = await opened(mount);
      const wire = await SseWire.open(door.port, owner);
      for (const headers of [thief, {}]) {
        const reply = await door.send({ ...post(ping, headers), path: wire.endpoint });
        expect(reply.status).toBe(404);
      }
      for (const path of ["/messages?sessionId=__proto__", "/messages?sessionId=", "/messages"]) {
        expect((await door.send({ ...post(ping, owner), path })).status).toBe(404);
      }
      await wire.close();
    },
  },
  {
    over: "http",
    name: "a second GET takes no stream over: another's is refused, one's own adds a stream, and a push comes once",
    advisories: ["CVE-2026-33946"],
    leftOut: noSession,
    async attack(mount) {
      const { url, server } = await opened(mount);
      const victim = await SessionClient.open({ url }, { headers: owner });
      const first = await victim.get();
      expect((await victim.get(undefined, thief)).status).toBe(404);
      await server.push.toSession(victim.id, "notifications/message", { level: "info", data: 1 });
      await first.count(1);
      const second = await victim.get();
      await server.push.toSession(victim.id, "notifications/message", { level: "info", data: 2 });
      await until(() => first.messages.length + second.messages.length === 2);
      for (const stream of [first, second]) stream.cut();
    },
  },
  {
    over: "http",
    name: "an event id of another session resumes nothing of it",
    requirements: ["RESUME-NO-CROSS-STREAM"],
    leftOut: noSession,
    async attack(mount) {
      const { url, server } = await opened(mount);
      const victim = await SessionClient.open({ url }, { headers: owner });
      const other = await SessionClient.open({ url }, { headers: owner });
      const stream = await victim.get();
      await server.push.toSession(victim.id, "notifications/message", { level: "info", data: "private" });
      await stream.count(1);
      const from = String(stream.events[0]?.id);
      const resumed = await other.get(from);
      allowBeyondSchema("notifications/end");
      await server.push.toSession(other.id, "notifications/end");
      await resumed.message(({ method }) => method === "notifications/end");
      expect(resumed.textSoFar).not.toContain("private");
      for (const open of [stream, resumed]) open.cut();
    },
  },
  {
    over: "http",
    name: "ids of sessions and streams are long, and no two are alike",
    leftOut: noSession,
    async attack(mount) {
      const { url } = await opened(mount);
      const clients = await Promise.all(Array.from({ length: 20 }, () => SessionClient.open({ url })));
      const ids = clients.map(({ id }) => id);
      expect(new Set(ids).size).toBe(20);
      for (const id of ids) expect(id).toMatch(/^[\w-]{43}$/);
      const stream = await clients[0]?.get();
      await until(() => stream?.lastEventId !== undefined);
      // An event id is a place in the log of its session, and nothing without that session's id.
      const foreign = await clients[1]?.get(stream?.lastEventId);
      expect(methodsOf(await (foreign as EventReply).count(1))).toContain("tools/list_changed");
      foreign?.cut();
      stream?.cut();
    },
  },
  {
    over: "http",
    name: "DELETE leaves nothing of a session, and its id is never taken again",
    advisories: ["CVE-2026-67430"],
    requirements: ["SESS-TERMINATED-404"],
    leftOut: noSession,
    async attack(mount) {
      const { url, server, door } = await opened(mount);
      const client = await SessionClient.open({ url });
      await client.get();
      expect(await client.delete()).toBe(204);
      expect((await client.post(ping)).status).toBe(404);
      await until(() => door.stats().streams === 0);
      expect(door.stats()).toMatchObject({ sessions: 0, replayStreams: 0, replayBytes: 0 });
      expect(await server.push.count()).toBe(0);
    },
  },
  {
    over: "http",
    name: "an initialize that is refused, or that nobody waits for, leaves no session",
    advisories: ["CVE-2026-59951"],
    leftOut: noSession,
    async attack(mount) {
      const { door } = await opened(mount);
      const bad = [
        { ...initializeRequest(1, newestLegacy), params: {} },
        { ...initializeRequest(1, newestLegacy), jsonrpc: "1.0" },
        {
          ...initializeRequest(1, newestLegacy),
          params: { protocolVersion: 5, capabilities: {}, clientInfo: {} },
        },
      ];
      for (const message of bad) {
        const reply = await door.send(post(message));
        expect(reply.headers["mcp-session-id"]).toBeUndefined();
        await reply.ended();
      }
      const foreign = { host: "evil.example" };
      await (await door.send(post(initializeRequest(1, newestLegacy), foreign))).ended();
      expect(door.stats().sessions).toBe(0);
    },
  },
  {
    over: "http",
    name: "streams of HTTP+SSE are gone with their connections",
    advisories: ["CVE-2026-67430"],
    leftOut: onlySse,
    async attack(mount) {
      const { door, server } = await opened(mount);
      const accept = { accept: "text/event-stream" };
      const streams = await Promise.all(
        Array.from({ length: 20 }, () => sendTo(door.port, { method: "GET", path: "/sse", headers: accept })),
      );
      expect(door.stats().sessions).toBe(20);
      for (const stream of streams) stream.abort();
      await until(() => door.stats().sessions === 0);
      expect(await server.push.count()).toBe(0);
    },
  },
];
