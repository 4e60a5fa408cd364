// Slow peers, and peers that leave in the middle: others are not affected.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import type { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import { expect, onTestFinished, vi } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { send } from "../../support/event-reply.ts";
import { modernPost } from "../../support/http.ts";
import { discover, httpServer, modernCall } from "../../support/http-server.ts";
import { modernRequest } from "../../support/raw.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import { listenOver } from "../../support/sessions.ts";
import { nextTurn, until } from "../../support/turns.ts";
import { type HttpDoor, openHttp } from "../mounts.ts";
import type { Row } from "../row.ts";

const hostsItself = {
  fetchHandler: "has the timeouts of the server that it is mounted in",
  Express: "the same",
} as const;

async function expectAnswered(door: HttpDoor): Promise<void> {
  const reply = await door.send(modernPost(discover));
  expect(reply.status).toBe(200);
}

/** A request as it goes over the wire, with a length that may be a lie. */
function rawRequest(message: object, length?: number, more: Record<string, string> = {}): string {
  const { headers = {}, body } = modernPost(message as never, more);
  const lines = Object.entries(headers).map(([name, value]) =>
    value === undefined ? "" : `${name}: ${value}\r\n`,
  );
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}Content-Length: ${length ?? String(body).length}\r\n\r\n${String(body)}`;
}

/** Asks for something large, and reads nothing of the answer. */
function neverRead(door: HttpDoor, headers: Record<string, string> = {}): Socket {
  const { socket } = openRaw(door.port);
  socket.pause();
  socket.write(rawRequest(modernCall(1, "big"), undefined, headers));
  return socket;
}

/** Longer than the system's own buffers, which take the first megabytes. */
const unreadBytes = 24 * 1024 * 1024;

function bigServer(): McpServer {
  const { server } = makeServer();
  const text = "x".repeat(unreadBytes);
  server.tool("big", {}, () => text);
  return server;
}

/** How many bytes arrive once the client reads. */
function readAll(socket: Socket): Promise<number> {
  socket.resume();
  return new Promise((resolve) => socket.on("close", () => resolve(socket.bytesRead)));
}

const mountedElsewhere = { "HTTP+SSE": "is mounted in serveHttp" } as const;

export const slownessRows: readonly Row[] = [
  {
    over: "http",
    name: "a client that never reads its reply is cut off, be it JSON or the end of a stream",
    leftOut: mountedElsewhere,
    async attack(mount) {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
      onTestFinished(() => void vi.useRealTimers());
      const door = await openHttp(mount, bigServer(), { stallMs: 10_000 });
      const sockets = [neverRead(door), neverRead(door, { accept: "text/event-stream" })];
      await until(() => door.stats().unsentBytes > unreadBytes, Number.POSITIVE_INFINITY);
      expect(door.stats().inFlight).toBe(0);
      await vi.advanceTimersByTimeAsync(13_000);
      expect(door.stats()).toMatchObject({ unsentBytes: 0 });
      for (const socket of sockets) expect(await readAll(socket)).toBeLessThan(unreadBytes);
      await expectAnswered(door);
    },
  },
  {
    over: "http",
    name: "what nobody reads is bounded in all: whoever has the most unread loses it, and nobody else",
    limit: "limits.maxUnsentBytes",
    leftOut: mountedElsewhere,
    async attack(mount) {
      const maxUnsentBytes = 32 * 1024 * 1024;
      const door = await openHttp(mount, bigServer(), { limits: { maxUnsentBytes } });
      const modest = neverRead(door, { "x-user": "modest" });
      await until(() => door.stats().unsentBytes > 0);
      const before = door.stats().unsentBytes;
      const greedy: Socket[] = [];
      for (let at = 0; at < 8; at++) {
        greedy.push(neverRead(door, { "x-user": "greedy" }));
        await until(() => door.stats().unsentBytes > Math.min(3, at) * before);
        expect(door.stats().unsentBytes).toBeLessThanOrEqual(maxUnsentBytes);
      }
      const cut = await Promise.all(greedy.slice(0, 4).map(readAll));
      for (const bytes of cut) expect(bytes).toBeLessThan(unreadBytes);
      modest.resume();
      await until(() => modest.bytesRead > unreadBytes);
    },
  },
  {
    over: "http",
    name: "headers that come a little at a time hold a connection for a short while, and nothing else",
    leftOut: { ...hostsItself, "HTTP+SSE": "is mounted in serveHttp" },
    async attack(mount) {
      let found: Server | undefined;
      const see = (message: unknown): void => void (found = (message as { server: Server }).server);
      subscribe("http.server.request.start", see);
      onTestFinished(() => void unsubscribe("http.server.request.start", see));
      const door = await openHttp(mount, httpServer().server);
      const slow = Array.from({ length: 50 }, () => openRaw(door.port));
      for (const { socket } of slow) socket.write("POST /mcp HTTP/1.1\r\nHost: localh");
      await expectAnswered(door);
      expect(door.stats().inFlight).toBe(0);
      expect([found?.headersTimeout, found?.requestTimeout]).toEqual([15_000, 60_000]);
    },
  },
  {
    over: "http",
    name: "bodies that never end hold up nobody, and are forgotten with their connections",
    async attack(mount) {
      const door = await openHttp(mount, httpServer().server);
      const slow = Array.from({ length: 20 }, () => openRaw(door.port));
      for (const { socket } of slow) socket.write(rawRequest(discover, 5000));
      await expectAnswered(door);
      for (const { socket } of slow) socket.destroy();
      await until(() => door.stats().inFlight === 0);
    },
  },
  {
    over: "http",
    name: "what was sent ahead on one connection begins when the reply before it has left, or never",
    leftOut: {
      fetchHandler: "is told of a client that has gone by the server that it is mounted in",
      "HTTP+SSE": "is mounted in serveHttp",
    },
    async attack(mount) {
      const { server, waiting, aborted } = httpServer();
      const door = await openHttp(mount, server);
      const listen = modernRequest(2, "subscriptions/listen", { notifications: { toolsListChanged: true } });
      const { socket } = openRaw(door.port);
      socket.write(
        rawRequest(modernCall(1, "wait")) + rawRequest(listen) + rawRequest(modernCall(3, "wait")),
      );
      await until(() => waiting() === 1);
      socket.destroy();
      await until(() => aborted.length === 1);
      expect([waiting(), door.stats().subscriptions]).toEqual([1, 0]);
    },
  },
  {
    over: "http",
    name: "a client that sends without end and waits for nothing is cut off",
    leftOut: {
      fetchHandler: "takes requests one by one from the server that it is mounted in",
      "HTTP+SSE": "is mounted in serveHttp",
    },
    async attack(mount) {
      const { server, waiting, aborted } = httpServer();
      const door = await openHttp(mount, server);
      const raw = openRaw(door.port);
      const closed = raw.request(rawRequest(modernCall(1, "wait")).repeat(500));
      expect(await closed).toBe("");
      expect(waiting()).toBeLessThanOrEqual(1);
      await until(() => aborted.length === waiting());
      await expectAnswered(door);
    },
  },
  {
    over: "http",
    name: "a client of HTTP+SSE that asks and does not read is refused until it has read",
    leftOut: {
      serveHttp: "answers each request on its own connection",
      fetchHandler: "the same",
      Express: "the same",
    },
    async attack(mount) {
      const { server } = makeServer();
      server.tool("big", {}, () => "x".repeat(1_000_000));
      const door = await openHttp(mount, server);
      const base = `http://127.0.0.1:${door.port}`;
      const stream = await send(`${base}/sse`, { method: "GET" });
      await joinOverSse(base, stream);
      const endpoint = `${base}${stream.events[0]?.data}`;
      const headers = { "content-type": "application/json" };
      const ask = async (id: number): Promise<number> => {
        const params = { name: "big" };
        const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
        return (await send(endpoint, { headers, body })).status;
      };
      stream.stall();
      const statuses: number[] = [];
      // The system's own buffers take the first megabytes.
      while (statuses.length < 60 && statuses.at(-1) !== 429) statuses.push(await ask(statuses.length + 1));
      expect(statuses.at(-1)).toBe(429);
      stream.proceed();
      await until(async () => (await ask(100)) === 202);
      stream.cut();
    },
  },
  {
    over: "http",
    name: "a stream that nobody reads is cut off at its limit, and others get every message",
    limit: "limits.maxQueueBytes",
    async attack(mount) {
      const limits = { maxQueueBytes: 32 * 1024, maxSubscribedLength: 1024 * 1024 };
      const { server } = makeServer({ limits });
      server.tool("t", {}, () => "");
      server.resource("note:///x", {}, () => "");
      const door = await openHttp(mount, server);
      const base = `http://127.0.0.1:${door.port}`;
      const uris = Array.from({ length: 100 }, (_, at) => `note:///${at}/${"x".repeat(4000)}`);
      const isSse = mount === "HTTP+SSE";
      const slow = isSse
        ? await send(`${base}/sse`, { method: "GET" })
        : await listenOver(`${base}/mcp`, { resourceSubscriptions: uris });
      if (isSse) await joinOverSse(base, slow);
      const fast = await door.connect();
      const before = door.stats().streams;
      slow.stall();
      const padding = { level: "info", data: "x".repeat(40_000) };
      // The system's own buffers take the first megabytes.
      for (let round = 0; round < 400 && door.stats().streams === before; round++) {
        if (isSse) await server.push.broadcast("notifications/message", padding);
        else for (const uri of uris) await server.resources.updated(uri);
        await nextTurn();
      }
      await until(() => door.stats().streams === before - 1);
      const { session = "" } = { session: (await server.push.sessions()).at(-1) };
      allowBeyondSchema("notifications/end");
      await server.push.toSession(session, "notifications/end");
      await fast.waitFor((message) => "method" in message && message.method === "notifications/end");
      slow.proceed();
      await slow.closed;
    },
  },
  {
    over: "messages",
    name: "a client on a pipe that asks and does not read is not asked to go on until it has read",
    limit: "characters waiting on stdio",
    leftOut: {
      serveHttp: "writes each answer to its own connection",
      fetchHandler: "the same",
      Express: "the same",
      "HTTP+SSE": "cuts off the stream that nobody reads",
    },
    async attack() {
      const { server } = makeServer();
      server.tool("big", {}, () => "x".repeat(100_000));
      const input = new PassThrough();
      const output = new PassThrough({ highWaterMark: 1 });
      const stdio = await serveStdio(server, { input, output, graceMs: 0 });
      const ask = (id: number): void =>
        void input.write(`${JSON.stringify(modernRequest(id, "tools/call", { name: "big" }))}\n`);
      for (let id = 1; id <= 20 && !input.isPaused(); id++) {
        ask(id);
        for (let turn = 0; turn < 5; turn++) await nextTurn();
      }
      expect(input.isPaused()).toBe(true);
      output.resume();
      await until(() => !input.isPaused());
      await stdio.close();
    },
  },
];

/** Begins a session on an HTTP+SSE stream, so that it takes pushes. */
async function joinOverSse(base: string, stream: Awaited<ReturnType<typeof send>>): Promise<void> {
  await until(() => stream.events.length > 0);
  const endpoint = `${base}${stream.events[0]?.data}`;
  const headers = { "content-type": "application/json" };
  const params = {
    protocolVersion: "2024-11-05",
    capabilities: {},
    clientInfo: { name: "slow", version: "1" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await send(endpoint, { headers, body });
  await until(() => stream.events.length > 1);
}
