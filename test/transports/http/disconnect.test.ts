// A client that goes away: a modern one cancels by it, a legacy one does not.
import type { JsonObject } from "halyard";
import { expect, test } from "vitest";
import { describeEdges, modernPost, openGet, openSession, post } from "../../support/http.ts";
import { httpServer, modernCall, toolCall } from "../../support/http-server.ts";
import { modernRequest, newestLegacy } from "../../support/raw.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { nextTurn, until } from "../../support/turns.ts";

describeEdges("a client that goes away", (open) => {
  test.each(["application/json, text/event-stream", "text/event-stream"])(
    "cancels its modern call, and nothing more is written for it: Accept %s [HTTP26-DISCONNECT-CANCEL, HTTP26-DISCONNECT-STOP, HTTP26-DISCONNECT-SILENT]",
    async (accept) => {
      const { server, aborted, gate, waiting, log } = httpServer();
      const edge = await open(server);
      const controller = new AbortController();
      const request = modernPost(modernCall(1, "wait", {}, { progressToken: 1 }), { accept });
      const sent = edge.send({ ...request, signal: controller.signal }).catch(() => undefined);
      await until(() => waiting() === 1);
      controller.abort();
      await until(() => aborted.length === 1);
      expect(aborted).toEqual(["The client has disconnected"]);
      gate.resolve();
      const reply = await sent;
      await reply?.ended();
      expect(reply?.text ?? "").toBe("");
      await until(() => edge.stats().inFlight === 0);
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  test("unsubscribes its listen request [HTTP26-DISCONNECT-CANCEL, SUB-HTTP-SSE]", async () => {
    const { server } = httpServer();
    const edge = await open(server);
    const listen = modernRequest(1, "subscriptions/listen", { notifications: { toolsListChanged: true } });
    const reply = await edge.send(modernPost(listen));
    await reply.received(1);
    expect(edge.stats().subscriptions).toBe(1);
    reply.abort();
    await until(() => edge.stats().subscriptions === 0);
    expect(await server.push.count()).toBe(0);
  });

  test("does not cancel its legacy call [HTTP-DISCONNECT-NOT-CANCEL]", async () => {
    const { server, aborted, gate, waiting } = httpServer();
    let finished = 0;
    server.use("tools/call", async (_, __, next) => {
      const result = await next();
      finished++;
      return result;
    });
    const edge = await open(server);
    const session = await openSession(edge, newestLegacy);
    const controller = new AbortController();
    const sent = edge.send({ ...post(toolCall(1, "wait"), session.headers), signal: controller.signal });
    await until(() => waiting() === 1);
    controller.abort();
    await sent.catch(() => undefined);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    gate.resolve();
    await until(() => finished === 1);
    expect(aborted).toEqual([]);
  });

  test("leaves its session where it was, and takes its GET stream with it [HTTP-GET-CLOSE]", async () => {
    const { server } = httpServer();
    const edge = await open(server);
    const session = await openSession(edge, newestLegacy);
    const get = await openGet(edge, session);
    expect(edge.stats()).toMatchObject({ sessions: 1, streams: 1 });
    get.abort();
    await until(() => edge.stats().streams === 0);
    const reply = await edge.send(post(toolCall(1, "echo"), session.headers));
    expect(reply.status).toBe(200);
  });
});

describeEdges(
  "a client that sends ahead",
  (open) => {
    test("has its requests answered one after the other, each begun when the reply before it has left", async () => {
      const { server, gate, waiting } = httpServer();
      const edge = await open(server);
      const raw = openRaw(edge.port);
      raw.socket.write(["wait", "wait", "echo"].map((name, at) => rawText(modernCall(at, name))).join(""));
      await until(() => waiting() === 1);
      expect(edge.stats().inFlight).toBe(1);
      gate.resolve();
      await until(() => raw.text().includes('"id":2'));
      expect([...raw.text().matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(["0", "1", "2"]);
    });

    test("takes what waits for its turn with it: the call is cancelled, and nothing else begins", async () => {
      const { server, aborted, waiting } = httpServer();
      const edge = await open(server);
      const listen = modernRequest(2, "subscriptions/listen", { notifications: { toolsListChanged: true } });
      const { socket } = openRaw(edge.port);
      socket.write(rawText(modernCall(1, "wait")) + rawText(listen) + rawText(modernCall(3, "wait")));
      await until(() => waiting() === 1);
      socket.destroy();
      await until(() => aborted.length === 1);
      expect(waiting()).toBe(1);
      expect(edge.stats()).toMatchObject({ subscriptions: 0 });
      expect(await server.push.count()).toBe(0);
    });
  },
  ["serveHttp", "nodeHandler"],
);

/** A modern POST as it goes over the wire. */
function rawText(message: JsonObject): string {
  const { headers, body } = modernPost(message);
  const given = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  const lines = given.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines}Content-Length: ${String(body).length}\r\n\r\n${body}`;
}

describeEdges("a GET stream", (open) => {
  test("gets pushes and no answer of a call, and each push is on one stream [HTTP-GET-NO-RESPONSE, HTTP-MULTI-NO-BROADCAST, HTTP-GET-UNRELATED, HTTP-GET-MESSAGES]", async () => {
    const { server } = httpServer();
    const edge = await open(server);
    const session = await openSession(edge, newestLegacy);
    const streams = await Promise.all([1, 2, 3].map(() => openGet(edge, session)));
    const call = { ...toolCall(1, "report"), params: { name: "report", _meta: { progressToken: 1 } } };
    const reply = await edge.send(post(call, session.headers));
    await reply.complete();
    expect(reply.messages).toHaveLength(3);
    for (let count = 0; count < 5; count++)
      await server.push.broadcast("notifications/message", { level: "info", data: count });
    await until(() => streams.flatMap((stream) => stream.messages).length >= 5);
    const data = streams
      .flatMap((stream) => stream.messages)
      .map((message) => (message as { params?: { data?: unknown } }).params?.data);
    expect(data.toSorted()).toEqual([0, 1, 2, 3, 4]);
    for (const stream of streams) stream.abort();
  });

  test("of a client that listens has no progress or log of its calls [HTTP26-SSE-NO-REQSCOPED-ON-LISTEN]", async () => {
    const { server } = httpServer();
    const edge = await open(server);
    const listen = await edge.send(
      modernPost(modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } })),
    );
    await listen.received(1);
    const reply = await edge.send(modernPost(modernCall(1, "report", {}, { progressToken: "l" })));
    await reply.complete();
    server.tool("another", {}, () => "x");
    const told = await listen.received(2);
    expect(told.map((message) => (message as { method?: string }).method)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tools/list_changed",
    ]);
    listen.abort();
  });
});
