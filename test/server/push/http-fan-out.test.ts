// One change, many streams over HTTP: each subscription its own copy, each session one.
import { type JsonObject, McpServer, type RequestId } from "halyard";
import { describe, expect, test } from "vitest";
import type { EventReply } from "../../support/event-reply.ts";
import { subscriptionIdKey } from "../../support/listen.ts";
import { recordingLogger } from "../../support/log.ts";
import { edges, listenOver, methodsOf, sendModern, serve, SessionClient } from "../../support/sessions.ts";
import { until } from "../../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("first", {}, () => "first");
  for (const name of ["a", "b"]) server.resource(`note:///${name}`, {}, () => name);
  return server;
}

function stampOf(message: JsonObject | undefined): unknown {
  const body = (message?.["params"] ?? message?.["result"]) as JsonObject | undefined;
  return (body?.["_meta"] as JsonObject | undefined)?.[subscriptionIdKey];
}

async function listenMany(url: string, count: number, notifications: JsonObject): Promise<EventReply[]> {
  return Promise.all(Array.from({ length: count }, (_, id) => listenOver(url, notifications, { id })));
}

describe.each(edges)("fan-out · %s", (edge) => {
  test("100 stateless listeners all get one change, each stamped with its own id [SUB-HTTP-SSE, SUB-CONCURRENT-FANOUT, SUB-ID-TAG, SUB-ID-VALUE]", async () => {
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const streams = await listenMany(served.url, 100, { toolsListChanged: true });
    expect(served.stats()).toMatchObject({ streams: 100, subscriptions: 100 });
    server.tool("second", {}, () => "second");
    for (const [id, stream] of streams.entries()) {
      const messages = await stream.count(2);
      expect(methodsOf(messages)).toEqual(["subscriptions/acknowledged", "tools/list_changed"]);
      expect(messages.map(stampOf)).toEqual([id, id]);
      expect(stream.headers["content-type"]).toBe("text/event-stream");
    }
    for (const stream of streams) stream.cut();
    await until(async () => (await server.push.count()) === 0);
    expect(served.stats()).toMatchObject({ streams: 0, subscriptions: 0, inFlight: 0 });
  });

  test("two sessions with three GET streams each get one broadcast once each: two deliveries [HTTP-MULTI-NO-BROADCAST]", async () => {
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const clients = [await SessionClient.open(served), await SessionClient.open(served)];
    const streams: EventReply[][] = [];
    for (const client of clients) streams.push([await client.get(), await client.get(), await client.get()]);
    expect(served.stats()).toMatchObject({ sessions: 2, streams: 6 });
    expect(await server.push.broadcast("notifications/message", { level: "info", data: "all" })).toBe(2);
    const arrived = (own: readonly EventReply[]): JsonObject[] => own.flatMap(({ messages }) => messages);
    await until(() => streams.every((own) => arrived(own).length > 0));
    // The next message would overtake nothing: what came twice would be there by now.
    await server.push.broadcast("notifications/message", { level: "info", data: "end" });
    await until(() => streams.every((own) => arrived(own).length >= 2));
    for (const own of streams)
      expect(arrived(own).map(({ params }) => (params as { data: unknown }).data)).toEqual(["all", "end"]);
  });

  test("one change reaches listeners and sessions by the same path, and the URI only those who asked [SUB-HTTP-SSE]", async () => {
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const client = await SessionClient.open(served);
    const stream = await client.get();
    await client.request("resources/subscribe", { uri: "note:///a" });
    const listening = await listenOver(served.url, {
      resourceSubscriptions: ["note:///a"],
      resourcesListChanged: true,
    });
    const other = await listenOver(served.url, { resourceSubscriptions: ["note:///b"] });
    expect(await server.push.isSubscribed("note:///a")).toBe(true);
    expect(await server.resources.updated("note:///a")).toBe(2);
    server.resource("note:///c", {}, () => "c");
    await listening.count(3);
    await stream.count(2);
    expect(methodsOf(stream.messages)).toEqual(["resources/updated note:///a", "resources/list_changed"]);
    expect(methodsOf(listening.messages).slice(1)).toEqual([
      "resources/updated note:///a",
      "resources/list_changed",
    ]);
    expect(other.messages).toHaveLength(1);
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    listening.cut();
    await until(async () => !(await server.push.isSubscribed("note:///a")));
    expect(await server.resources.updated("note:///a")).toBe(0);
  });

  test("a message goes to the stream of a session that is left, when another has gone", async () => {
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const client = await SessionClient.open(served);
    const [older, newer] = [await client.get(), await client.get()];
    newer.cut();
    await until(() => served.stats().streams === 1);
    expect(await server.push.toSession(client.id, "notifications/message", { level: "info", data: 1 })).toBe(
      true,
    );
    expect(methodsOf(await older.count(1))).toEqual(["message"]);
  });

  test("push.sessions() names those with a stream open, and what is sent to the others waits", async () => {
    const server = makeServer();
    const served = await serve(server, {}, edge);
    const client = await SessionClient.open(served);
    expect(await server.push.sessions()).toEqual([]);
    expect(await server.push.toSession(client.id, "notifications/message", { level: "info", data: 1 })).toBe(
      true,
    );
    server.tool("second", {}, () => "second");
    const stream = await client.get();
    expect(methodsOf(await stream.count(2))).toEqual(["tools/list_changed", "message"]);
    expect(await server.push.sessions()).toEqual([client.id]);
  });
});

describe("listen over HTTP", () => {
  test.each<RequestId>([0, "", 1, "1", -5, "ü 😀", 9007199254740991])(
    "the id %j comes back as it was sent, first on the acknowledgement [SUB-ACK-FIRST, SUB-ACK-BEFORE-NOTIFS, SUB-ID-TAG, SUB-ID-VALUE, SUB-GRACEFUL-RESULT, SUB-GRACEFUL-META]",
    async (id) => {
      const server = makeServer();
      const served = await serve(server);
      const opening = sendModern(
        served.url,
        "subscriptions/listen",
        { notifications: { toolsListChanged: true } },
        { id },
      );
      // Published as the request arrives, over and over: nothing may come before the acknowledgement.
      for (let at = 0; at < 20; at++) {
        await server.push.publish("notifications/tools/list_changed");
        await new Promise((resolve) => setImmediate(resolve));
      }
      const stream = await opening;
      await stream.count(1);
      await server.push.publish("notifications/tools/list_changed");
      await stream.count(2);
      expect(methodsOf(stream.messages)[0]).toBe("subscriptions/acknowledged");
      await served.close();
      await stream.closed;
      expect(stream.end).toBe("complete");
      expect(stream.messages.at(-1)).toMatchObject({ id, result: { resultType: "complete" } });
      expect(new Set(stream.messages.map(stampOf))).toEqual(new Set([id]));
    },
  );

  test("past the total, one more is 429, and room is made by one that goes", async () => {
    const server = makeServer();
    const served = await serve(server, { limits: { maxListens: 3 } });
    const streams = await listenMany(served.url, 3, { toolsListChanged: true });
    const refused = await sendModern(served.url, "subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBe("10");
    expect((await sendModern(served.url, "tools/list")).status).toBe(200);
    streams[0]?.cut();
    await until(() => served.stats().subscriptions === 2);
    expect((await listenOver(served.url, { toolsListChanged: true })).status).toBe(200);
  });

  test("past what one principal may have, one more of it is 429 and another's is not", async () => {
    const served = await serve(makeServer(), {
      limits: { maxListensPerPrincipal: 2 },
      auth: (request) => ({
        issuer: "https://issuer.example",
        subject: request.header("x-user") ?? "",
      }),
    });
    const listen = (user: string): Promise<EventReply> =>
      sendModern(
        served.url,
        "subscriptions/listen",
        { notifications: { toolsListChanged: true } },
        { headers: { "x-user": user } },
      );
    const statuses = [];
    for (const user of ["alice", "alice", "alice", "bob"]) statuses.push((await listen(user)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  test("a listen request that is refused takes no room", async () => {
    const server = makeServer();
    const served = await serve(server, { limits: { maxListens: 1 } });
    for (let at = 0; at < 3; at++) {
      const refused = await sendModern(served.url, "subscriptions/listen", { notifications: 1 });
      expect(await refused.json()).toMatchObject({ error: { code: -32602 } });
    }
    expect(served.stats().subscriptions).toBe(0);
    expect((await listenOver(served.url, { toolsListChanged: true })).status).toBe(200);
  });
});
