// Peers that take their time, or leave in the middle: they cost themselves, and nobody else.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import { PassThrough } from "node:stream";
import { serveStdio } from "halyard/stdio";
import { expect, onTestFinished } from "vitest";
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
function rawRequest(message: object, length?: number): string {
  const { headers = {}, body } = modernPost(message as never);
  const lines = Object.entries(headers).map(([name, value]) =>
    value === undefined ? "" : `${name}: ${value}\r\n`,
  );
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}Content-Length: ${length ?? String(body).length}\r\n\r\n${String(body)}`;
}

export const slownessRows: readonly Row[] = [
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
    name: "what was sent ahead of its turn on one connection ends with the connection",
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
      await until(() => door.stats().subscriptions === 1 && waiting() === 2);
      socket.destroy();
      await until(() => door.stats().subscriptions === 0 && aborted.length === 2);
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
      expect(waiting()).toBeLessThanOrEqual(110);
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
    limit: "`maxQueueBytes`",
    async attack(mount) {
      const { server } = makeServer({ limits: { maxQueueBytes: 32 * 1024 } });
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
    limit: "output waiting on stdio",
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
