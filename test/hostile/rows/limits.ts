// Every other limit of docs/reference/limits.md: a peer that asks for more gets no more, and everybody else what they got before.
import { ConfigurationError, McpServer, type ServerEvent } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import type { HttpOptions } from "halyard/node";
import { portOf } from "halyard/transport";
import { expect, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import { call, makeServer, refusal, textOf } from "../../support/catalogue.ts";
import { modernPost } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { modernCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { initialize, listenOver, methodsOf, sendModern, SessionClient } from "../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";
import { type Door, type HttpDoor, type MountName, openDoor, openHttp } from "../mounts.ts";
import type { HttpRow, Row } from "../row.ts";
import { SseWire } from "../sse-wire.ts";

type Mount = Parameters<HttpRow["attack"]>[0];

/** Rows about what Streamable HTTP keeps; HTTP+SSE keeps nothing. */
const noSse = { "HTTP+SSE": "has neither listen requests nor streams that can be resumed" } as const;

async function limited(
  mount: Mount,
  limits: NonNullable<HttpOptions["limits"]>,
): Promise<{ server: McpServer; door: HttpDoor; url: string }> {
  const { server } = makeServer();
  server.tool("t", {}, () => "");
  server.resource("note:///a", {}, () => "");
  const door = await openHttp(mount, server, { limits });
  return { server, door, url: `http://127.0.0.1:${door.port}/mcp` };
}

export const limitRows: readonly Row[] = [
  {
    over: "messages",
    name: "one call too many at once is refused, and those that run are answered",
    limit: "limits.maxInFlight",
    async attack(mount) {
      const { server } = makeServer({ limits: { maxInFlight: 2 } });
      const gate = deferred();
      let begun = 0;
      server.tool("hold", {}, async () => {
        begun++;
        await gate.promise;
        return "held";
      });
      const client = await (await openDoor(mount, server)).connect();
      const held = [call(client, "hold"), call(client, "hold")];
      await until(() => begun === 2);
      expect(await refusal(call(client, "hold"))).toMatchObject({ code: -32600 });
      gate.resolve();
      for (const answer of await Promise.all(held)) expect(textOf(answer)).toBe("held");
    },
  },
  {
    over: "messages",
    name: "calls that weigh too much together are refused, whoever hangs up; a cancellation gets through, and others find room",
    limit: "limits.maxInFlightBytes",
    async attack(mount) {
      const { server, events } = makeServer({ limits: { maxInFlightBytes: 200_000 } });
      let begun = 0;
      let aborted = 0;
      const input = { type: "object" } as const;
      server.tool("hold", { input }, async (_, ctx) => {
        begun++;
        await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
        aborted++;
        return "";
      });
      server.tool("echo", { input }, () => "echo");
      const door = await openDoor(mount, server);
      const greedy = await door.connect({ user: "greedy" });
      // Two characters each, and a heap of objects.
      const heavy = { name: "hold", arguments: { list: Array.from({ length: 800 }, () => ({})) } };
      const send = (id: number): void =>
        greedy.send({ jsonrpc: "2.0", id, method: "tools/call", params: heavy });
      send(101);
      await until(() => begun === 1);
      send(102);
      const refusals = (): ServerEvent[] => events.filter(({ type }) => type === "refusal");
      await until(() => refusals().length === 1);
      const isPipe = mount === "stdio";
      expect(refusals()[0]).toMatchObject(isPipe ? { errorCode: -32600 } : { status: 429 });
      if (!isPipe) {
        const other = await door.connect({ user: "modest" });
        expect(textOf(await call(other, "echo", { list: [{}] }))).toBe("echo");
      }
      greedy.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 101 } });
      await until(() => aborted === 1);
      await until(() => portOf(server).loads.total === 0);
      send(103);
      await until(() => begun === 2);
      greedy.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 103 } });
      await until(() => aborted === 2 && portOf(server).loads.total === 0);
      if (!isPipe) await until(() => (door as HttpDoor).stats().inFlight === 0);
    },
  },
  {
    over: "http",
    name: "bodies that lack their last byte count for their sender from the first byte on",
    leftOut: { Express: "has a parser of its own before the handler" },
    async attack(mount) {
      const { server } = makeServer({ limits: { maxInFlightBytes: 400_000 } });
      const door = await openHttp(mount, server);
      const isSse = mount === "HTTP+SSE";
      const path = isSse ? String((await SseWire.open(door.port, {})).endpoint) : "/mcp";
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const accept = "Accept: application/json, text/event-stream\r\nContent-Length: 100001\r\n\r\n";
      const raws = Array.from({ length: 12 }, () => openRaw(door.port));
      for (const { socket } of raws) socket.write(`${head}${accept}${" ".repeat(100_000)}`);
      const answers = (): string[] => raws.map(({ text }) => text().slice(9, 12)).filter(Boolean);
      await until(() => answers().length >= 6);
      for (const answer of answers()) expect(["429", "503"]).toContain(answer);
      expect(door.stats().inFlightBytes).toBeLessThanOrEqual(800_000);
      for (const { socket } of raws) socket.destroy();
      await until(() => door.stats().inFlightBytes === 0);
    },
  },
  {
    over: "messages",
    name: "an endless progress token is not sent back over and over",
    limit: "characters of an id",
    async attack(mount) {
      const { server } = makeServer();
      server.tool("report", {}, async (_, ctx) => {
        for (const step of [1, 2, 3]) await ctx.progress(step);
        return "";
      });
      const client = await (await openDoor(mount, server)).connect();
      const told = async (progressToken: string): Promise<number> => {
        const before = client.received.length;
        await client.request("tools/call", { name: "report", _meta: { progressToken } });
        return client.received.length - before - 1;
      };
      expect(await told("x".repeat(1_000_000))).toBe(0);
      expect(await told("x")).toBe(3);
    },
  },
  {
    over: "messages",
    name: "an endless request id is refused, and neither sent back nor stored",
    limit: "characters of an id",
    async attack(mount) {
      const client = await (await openDoor(mount, makeServer().server)).connect();
      // The answer has no id, so that no call of the test client gets it.
      client.request("ping", {}, { id: "x".repeat(1_000_000) }).catch(() => {});
      await until(() => client.received.some((one) => "error" in one && one.error.code === -32600));
      expect(JSON.stringify(client.received).length).toBeLessThan(100_000);
      await expect(client.request("ping", {}, { id: "x".repeat(4096) })).resolves.toBeDefined();
    },
  },
  {
    over: "messages",
    name: "a client that has endless things to say of itself gets no session that would keep them",
    limit: "characters of a client",
    async attack(mount) {
      const door = await openDoor(mount, makeServer().server);
      const experimental = { endless: { text: "x".repeat(100_000) } };
      await expect(door.connect({ capabilities: { experimental } })).rejects.toMatchObject({ code: -32602 });
      if ("stats" in door && mount !== "HTTP+SSE") expect((door as HttpDoor).stats().sessions).toBe(0);
    },
  },
  {
    over: "messages",
    name: "an endless text that a tool pushes to all nodes is refused, and leaves room for the others",
    limit: "bytes of a shared message",
    async attack(mount) {
      const { server } = makeServer({ backplane: memoryBackplane() });
      const input = { type: "object", properties: { text: { type: "string" } } } as const;
      server.tool("shout", { input }, async (args) => {
        const { text } = args as { readonly text: string };
        return String(await server.push.broadcast("notifications/message", { level: "info", data: text }));
      });
      const client = await (await openDoor(mount, server)).connect();
      const shout = (text: string): Promise<unknown> =>
        client.request("tools/call", { name: "shout", arguments: { text } });
      expect(await shout("x".repeat(1_000_000))).toMatchObject({ isError: true });
      expect(await shout("x")).not.toMatchObject({ isError: true });
    },
  },
  {
    over: "messages",
    name: "a list comes in pages, and a cursor that was made up leads nowhere",
    limit: "pageSize",
    async attack(mount) {
      const { server } = makeServer({ pageSize: 2 });
      for (const at of [1, 2, 3]) server.tool(`t${at}`, {}, () => "");
      const client = await (await openDoor(mount, server)).connect();
      const page = await client.request("tools/list");
      expect(page["tools"]).toHaveLength(2);
      const cursor = String(page["nextCursor"]);
      for (const forged of [
        `${cursor}x`,
        cursor.slice(1),
        "",
        "__proto__",
        5,
        Buffer.from('["tools",9e9]').toString("base64url"),
      ])
        expect(await refusal(client.request("tools/list", { cursor: forged }))).toMatchObject({
          code: -32602,
        });
      // A server without prompts has no such list.
      expect(await refusal(client.request("prompts/list", { cursor }))).toMatchObject({ code: -32601 });
      server.prompt("p", {}, () => "");
      expect(await refusal(client.request("prompts/list", { cursor }))).toMatchObject({ code: -32602 });
    },
  },
  {
    over: "messages",
    name: "a call that never ends keeps a server from closing no longer than it was given",
    limit: "graceMs",
    async attack(mount) {
      const { server } = makeServer();
      let begun = 0;
      server.tool("hang", {}, () => {
        begun++;
        return new Promise<string>(() => {});
      });
      const door = await hangOver(mount, server);
      await until(() => begun === 1);
      // For ever, otherwise.
      await door.close();
    },
  },
  {
    over: "messages",
    name: "a URI that is too long is looked up nowhere",
    limit: "characters of a URI",
    async attack(mount) {
      const { server } = makeServer();
      let read = 0;
      server.resourceTemplate("note:///{id}", {}, () => `${++read}`);
      const client = await (await openDoor(mount, server)).connect();
      const uri = `note:///${"a".repeat(8185)}`;
      expect(await refusal(client.request("resources/read", { uri }))).toMatchObject({ code: -32602 });
      expect(read).toBe(0);
    },
  },
  {
    over: "messages",
    name: "a name longer than any tool may have is the name of no tool",
    limit: "characters of a tool name",
    async attack(mount) {
      const { server } = makeServer();
      const name = "a".repeat(129);
      expect(() => server.tool(name, {}, () => "")).toThrow(ConfigurationError);
      server.tool(name.slice(1), {}, () => "longest");
      const client = await (await openDoor(mount, server)).connect();
      expect(await refusal(call(client, name))).toMatchObject({ code: -32602 });
      expect(textOf(await call(client, name.slice(1)))).toBe("longest");
    },
  },
  {
    over: "messages",
    name: "a completion of very many values is cut short",
    limit: "values of a completion",
    async attack(mount) {
      const { server } = makeServer();
      server.prompt("p", { arguments: { type: "object", properties: { a: { type: "string" } } } }, () => "");
      server.completion(() => Array.from({ length: 5000 }, (_, at) => `v${at}`));
      const client = await (await openDoor(mount, server)).connect();
      const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } };
      const { completion } = (await client.request("completion/complete", params)) as {
        completion?: { values: string[] };
      };
      expect(completion?.values).toHaveLength(100);
    },
  },
  {
    over: "http",
    name: "what waits for streams that are not read is bounded for all of them together",
    limit: "limits.maxTotalQueueBytes",
    leftOut: noSse,
    async attack(mount) {
      const limits = { maxTotalQueueBytes: 300_000, maxSubscribedLength: 1024 * 1024 };
      const { server } = makeServer({ limits });
      server.tool("t", {}, () => "");
      server.resource("note:///x", {}, () => "");
      const door = await openHttp(mount, server);
      const base = `http://127.0.0.1:${door.port}`;
      const uris = Array.from({ length: 50 }, (_, at) => `note:///${at}/${"x".repeat(4000)}`);
      const open = (): ReturnType<typeof listenOver> =>
        listenOver(`${base}/mcp`, { resourceSubscriptions: uris });
      const slow = [await open(), await open()];
      const before = door.stats().streams;
      for (const stream of slow) stream.stall();
      // The system's own buffers take the first megabytes; then one of the two has to go.
      for (let round = 0; round < 400 && door.stats().streams === before; round++) {
        for (const uri of uris) await server.resources.updated(uri);
        await nextTurn();
      }
      await until(() => door.stats().streams < before);
      for (const stream of slow) stream.proceed();
    },
  },
  {
    over: "http",
    name: "sessions past the limit push out idle ones, and where all are busy one more is 503",
    limit: "limits.maxSessions",
    async attack(mount) {
      const { door, url } = await limited(mount, { maxSessions: 2 });
      if (mount === "HTTP+SSE") {
        const get = { method: "GET", path: "/sse", headers: { accept: "text/event-stream" } };
        const streams = [await door.send(get), await door.send(get)];
        expect((await door.send(get)).status).toBe(503);
        for (const stream of streams) stream.abort();
        return;
      }
      const clients = [];
      for (let at = 0; at < 20; at++) clients.push(await SessionClient.open({ url }));
      expect(door.stats().sessions).toBe(2);
      const streams = [await clients[18]?.get(), await clients[19]?.get()];
      const refused = await sendInitialize(url);
      expect(refused).toBe(503);
      for (const stream of streams) stream?.cut();
    },
  },
  {
    over: "http",
    name: "a principal that opens session after session pushes out its own, and nobody else's",
    limit: "limits.maxSessionsPerPrincipal",
    async attack(mount) {
      const { door, url } = await limited(mount, { maxSessionsPerPrincipal: 2, maxSessions: 4 });
      const [mallory, bob] = [{ "x-user": "mallory" }, { "x-user": "bob" }];
      if (mount === "HTTP+SSE") {
        const open = (user: Record<string, string>): Promise<HttpReply> =>
          door.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream", ...user } });
        const streams = [await open(mallory), await open(mallory), await open(mallory), await open(bob)];
        expect(streams.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
        for (const stream of streams) stream.abort();
        return;
      }
      const victim = await SessionClient.open({ url }, { headers: bob });
      const own = [];
      for (let at = 0; at < 10; at++) own.push(await SessionClient.open({ url }, { headers: mallory }));
      expect(door.stats().sessions).toBe(3);
      expect((await victim.start("ping")).status).toBe(200);
      const streams = [await own[8]?.get(), await own[9]?.get()];
      expect(await sendInitialize(url, mallory)).toBe(503);
      expect(await sendInitialize(url, bob)).toBe(200);
      for (const stream of streams) stream?.cut();
    },
  },
  {
    over: "http",
    name: "sessions that fill a node do not fill the engine that nodes share: one more is 503",
    limit: "limits.maxSharedSessions",
    leftOut: { "HTTP+SSE": "has sessions of one node, which are streams" },
    async attack(mount) {
      holdTime();
      const { server } = makeServer({ backplane: memoryBackplane() });
      const door = await openHttp(mount, server, { limits: { maxSessions: 1, maxSharedSessions: 5 } });
      const url = `http://127.0.0.1:${door.port}/mcp`;
      const first = await SessionClient.open({ url });
      // Three of five: with a fourth, the caller would have more than remains for all others.
      for (const expected of [200, 200, 503]) {
        await vi.advanceTimersByTimeAsync(1000);
        expect(await sendInitialize(url)).toBe(expected);
      }
      expect(door.stats().sessions).toBe(1);
      expect((await first.start("ping")).status).toBe(200);
    },
  },
  {
    over: "http",
    name: "sessions that nobody uses end",
    advisories: ["CVE-2026-67430"],
    limit: "limits.idleMs",
    leftOut: { "HTTP+SSE": "has no session without an open stream" },
    async attack(mount) {
      holdTime();
      const { door, url } = await limited(mount, { idleMs: 5000 });
      const client = await SessionClient.open({ url });
      await vi.advanceTimersByTimeAsync(7000);
      expect(door.stats().sessions).toBe(0);
      expect((await client.start("ping")).status).toBe(404);
    },
  },
  {
    over: "http",
    name: "a stream is kept for resuming up to its size; past it the client is notified to read again",
    limit: "limits.maxStreamBytes",
    leftOut: noSse,
    async attack(mount) {
      const { server, door, url } = await limited(mount, { maxStreamBytes: 1000 });
      const client = await SessionClient.open({ url });
      const stream = await client.get();
      for (let at = 0; at < 10; at++)
        await server.push.toSession(client.id, "notifications/message", {
          level: "info",
          data: "x".repeat(200),
        });
      await stream.count(10);
      expect(door.stats().replayBytes).toBeLessThanOrEqual(1000);
      const first = String(stream.events[0]?.id);
      stream.cut();
      const again = await client.get(first);
      expect(methodsOf(await again.count(2))).toContain("tools/list_changed");
      again.cut();
    },
  },
  {
    over: "http",
    name: "all streams together keep no more than the limit",
    limit: "limits.maxTotalBytes",
    leftOut: noSse,
    async attack(mount) {
      const { server, door, url } = await limited(mount, { maxTotalBytes: 8000 });
      for (let at = 0; at < 10; at++) {
        const client = await SessionClient.open({ url });
        const stream = await client.get();
        await server.push.toSession(client.id, "notifications/message", {
          level: "info",
          data: "x".repeat(5000),
        });
        await stream.count(1);
        expect(door.stats().replayBytes).toBeLessThanOrEqual(8000 + at * 100 + 2048);
        stream.cut();
      }
    },
  },
  {
    over: "http",
    name: "no more streams are kept than the limit, however many are opened",
    limit: "limits.maxStreams",
    leftOut: noSse,
    async attack(mount) {
      const { door, url } = await limited(mount, { maxStreams: 5 });
      const client = await SessionClient.open({ url });
      const other = await SessionClient.open({ url });
      const streams = await Promise.all(
        Array.from({ length: 12 }, (_, at) => (at % 2 ? client : other).get()),
      );
      expect(door.stats().replayStreams).toBeLessThanOrEqual(5);
      for (const stream of streams) stream.cut();
    },
  },
  {
    over: "http",
    name: "what is kept of a session goes with it",
    limit: "limits.keepMs",
    leftOut: noSse,
    async attack(mount) {
      holdTime();
      const { server, door, url } = await limited(mount, { keepMs: 3000, idleMs: 4000 });
      server.tool("report", {}, (_, ctx) => {
        ctx.progress(1);
        return "done";
      });
      const client = await SessionClient.open({ url });
      const params = { name: "report", _meta: { progressToken: 1 } };
      await client.request("tools/call", params);
      expect(door.stats().replayStreams).toBe(1);
      await vi.advanceTimersByTimeAsync(7000);
      expect(door.stats().replayStreams).toBe(0);
    },
  },
  {
    over: "http",
    name: "one listen request too many is 429, and there is room again when one has ended",
    limit: "limits.maxListens",
    leftOut: noSse,
    async attack(mount) {
      const { door, url } = await limited(mount, { maxListens: 2 });
      const filter = { toolsListChanged: true };
      const open = [await listenOver(url, filter), await listenOver(url, filter)];
      const one = (): ReturnType<typeof sendModern> =>
        sendModern(url, "subscriptions/listen", { notifications: filter });
      expect((await one()).status).toBe(429);
      open[0]?.cut();
      await until(() => door.stats().subscriptions === 1);
      const third = await one();
      expect(third.status).toBe(200);
      for (const stream of [third, open[1]]) stream?.cut();
      await nextTurn();
    },
  },
  {
    over: "http",
    name: "one principal cannot take the listen requests of the others",
    limit: "limits.maxListensPerPrincipal",
    leftOut: noSse,
    async attack(mount) {
      const { url } = await limited(mount, { maxListensPerPrincipal: 1 });
      const filter = { toolsListChanged: true };
      const greedy = { headers: { "x-user": "greedy" } };
      const open = [await listenOver(url, filter, greedy)];
      const again = await sendModern(url, "subscriptions/listen", { notifications: filter }, greedy);
      expect(again.status).toBe(429);
      open.push(await listenOver(url, filter, { headers: { "x-user": "modest" } }));
      for (const stream of open) stream.cut();
    },
  },
];

async function sendInitialize(url: string, headers: Record<string, string> = {}): Promise<number> {
  const reply = await initialize(url, { headers });
  await reply.closed;
  return reply.status;
}

/** Calls `hang`, which never returns: over HTTP the test cuts its connection in the end. */
async function hangOver(mount: MountName, server: McpServer): Promise<Door> {
  const options = { graceMs: 50 };
  if (mount !== "stdio" && mount !== "HTTP+SSE") {
    const http = await openHttp(mount, server, options);
    void http.send(modernPost(modernCall(1, "hang"))).catch(() => {});
    return http;
  }
  const door = await openDoor(mount, server, options);
  const client = await door.connect();
  client.send({ jsonrpc: "2.0", id: "h", method: "tools/call", ...client.withMeta({ name: "hang" }) });
  return door;
}
