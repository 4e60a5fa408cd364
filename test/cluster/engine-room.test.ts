// An engine that has too little room: for the messages of a receiver, for what nodes write, for one message.
import type { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { hasEngine } from "../support/engines.ts";
import { ofType } from "../support/events.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { listenOver, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import {
  arrived,
  defineEcho,
  engineNames,
  isUpdate,
  modernStatus,
  numbersOn,
  push,
  timesOf,
  twoNodes,
} from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };
const unavailable = { code: "BACKPLANE_UNAVAILABLE" };

/** A tool whose reply is a stream, and ends when the gate opens. */
function streaming(text: string, gate: Promise<unknown> = Promise.resolve()): (server: McpServer) => void {
  return (server) => {
    defineEcho(server);
    server.tool("stream", {}, async (_, ctx) => {
      await ctx.progress(1);
      await gate;
      return text;
    });
  };
}

const streamCall = {
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "stream", arguments: {}, _meta: { progressToken: 1 } },
};

describe.skipIf(!hasEngine("redis-server"))("Redis", () => {
  test("disconnects a receiver whose output buffer is full: what it missed is read, in order", async () => {
    const { engine, one, other } = await twoNodes("redis-server");
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    engine.cli("config", "set", "client-output-buffer-limit", "pubsub 8192 8192 0");
    const logger = "x".repeat(40_000);
    for (let data = 1; data <= 5; data++) {
      const params = { level: "info", data, logger };
      const pushed = one.server.push.toSession(client.id, "notifications/message", params);
      expect(await pushed).toBe(true);
    }
    await until(() => timesOf(other, "lost") > 0);
    await arrived(stream, 5);
    engine.cli("config", "set", "client-output-buffer-limit", "pubsub 33554432 8388608 60");
    await push(one, client.id, 6);
    await arrived(stream, 6);
    expect(numbersOn(stream)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("refuses writes when its memory is full: pushers get an error, calls continue, and changes are made good", async () => {
    const gate = deferred();
    const { engine, one, other } = await twoNodes("redis-server", {
      define: streaming("done", gate.promise),
    });
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    const listening = await listenOver(other.url, { resourceSubscriptions: [note.uri] });
    engine.cli("config", "set", "maxmemory", "1");
    await expect(push(one, client.id, 1)).rejects.toMatchObject(unavailable);
    expect(await client.request("tools/call", { name: "echo" })).toHaveProperty("result");
    expect(await modernStatus(one)).toBe(200);
    const reply = await client.post(streamCall);
    await reply.message(({ method }) => method === "notifications/progress");
    gate.resolve();
    await reply.message(({ id }) => id === 7);
    await one.server.resources.updated(note.uri);
    expect(listening.messages.some(isUpdate)).toBe(false);
    engine.cli("config", "set", "maxmemory", "0");
    await listening.message(isUpdate);
    await push(one, client.id, 2);
    await arrived(stream, 2);
    expect(numbersOn(stream)).toEqual([2]);
    expect(timesOf(one, "lost")).toBe(0);
  });

  test("evicts the log of a session: a client that resumes is told, and its stream goes on", async () => {
    const { engine, one, other } = await twoNodes("redis-server");
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    const stream = await clientAt(other, client).get();
    await push(one, client.id, 1);
    await arrived(stream, 1);
    await stream.vanish();
    expect(engine.cli("del", `halyard:test:{${client.id}}:log`)).toBe("1");
    await push(one, client.id, 2);
    const resumed = await client.get(stream.lastEventId);
    await resumed.message(isUpdate);
    expect(ofType(one.events, "gap").some(({ session }) => session === client.id)).toBe(true);
    await push(other, client.id, 3);
    await arrived(resumed, 3);
  });
});

describe.each(engineNames)("%s and a message that is too large", (name) => {
  test("a push fails, and says how large it may be; the result of a call reaches its client", async () => {
    const text = "x".repeat(2 * 1024 * 1024);
    const { one, other } = await twoNodes(name, { define: streaming(text) });
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    const large = { level: "info", data: text };
    const pushed = one.server.push.toSession(client.id, "notifications/message", large);
    await expect(pushed).rejects.toThrow(/has 2097\d{3} bytes.*at most 262144/);
    const broadcast = other.server.push.broadcast("notifications/message", large);
    await expect(broadcast).rejects.toThrow(/has 2097\d{3} bytes.*at most 262144/);
    const reply = await client.post(streamCall);
    const { result } = (await reply.message(({ id }) => id === 7)) as {
      result: { content: { text: string }[] };
    };
    expect(result.content[0]?.text).toHaveLength(text.length);
    await reply.closed;
    await push(one, client.id, 1);
    await arrived(stream, 1);
    expect(numbersOn(stream)).toEqual([1]);
    expect(timesOf(one, "lost")).toBe(0);
  });
});
