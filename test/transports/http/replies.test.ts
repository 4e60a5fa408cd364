// What a reply is made of: JSON or events by Accept, a stream only when it is needed, and what a stream looks like.
import { afterEach, expect, test, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import { describeEdges, type HttpEdge, modernPost, openGet, openSession, post } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { httpServer, modernCall, toolCall } from "../../support/http-server.ts";
import { initializeRequest, legacyDates, modernRequest, newestLegacy } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

const json = "application/json";
const events = "text/event-stream";
const token = { progressToken: "t" };
const eras = ["modern", "legacy"] as const;

/** Sends a tool call of that era, under a session where it needs one. */
async function send(
  edge: HttpEdge,
  era: (typeof eras)[number],
  name: string,
  headers: Record<string, string | undefined> = {},
  revision = newestLegacy,
): Promise<HttpReply> {
  if (era === "modern") return edge.send(modernPost(modernCall(1, name, {}, token), headers));
  const session = await openSession(edge, revision);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, _meta: token } };
  return edge.send(post(call, { ...session.headers, ...headers }));
}

afterEach(() => vi.useRealTimers());

describeEdges("Accept", (open) => {
  const table: readonly [string | undefined, string | undefined, string | undefined][] = [
    [undefined, json, events],
    ["", json, events],
    ["*/*", json, events],
    ["application/json, text/event-stream", json, events],
    ["text/event-stream;q=0.5 , APPLICATION/JSON", json, events],
    ["application/*, text/*", json, events],
    ["application/json", json, json],
    ["application/*", json, json],
    ["text/event-stream", events, events],
    ["text/*", events, events],
    ["text/html, image/*", undefined, undefined],
  ];

  test.each(
    eras.flatMap((era) => table.map(([accept, plain, streamed]) => [era, accept, plain, streamed] as const)),
  )(
    "%s, %j: a plain answer is %s, one with progress is %s [HTTP-POST-REPLY-TYPE, HTTP26-REPLY-TYPE, HTTP-POST-ACCEPT-406]",
    async (era, accept, plain, streamed) => {
      const edge = await open(httpServer().server);
      for (const [tool, type] of [
        ["echo", plain],
        ["report", streamed],
      ] as const) {
        const reply = await send(edge, era, tool, { accept });
        if (type === undefined) expect(reply.status).toBe(406);
        else {
          expect(await reply.answer()).toMatchObject({ id: 1, result: {} });
          expect(reply).toMatchObject({ status: 200, type });
        }
      }
    },
  );

  test("a GET that does not take events is 406", async () => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, newestLegacy);
    expect((await openGet(edge, session, { accept: json })).status).toBe(406);
    const reply = await openGet(edge, session, { accept: undefined });
    expect(reply.status).toBe(200);
    reply.abort();
  });

  test("initialize is streamed to a client that takes only events, whether it succeeds or not", async () => {
    const edge = await open(httpServer().server);
    const good = await edge.send(post(initializeRequest(1, newestLegacy), { accept: events }));
    expect(await good.answer()).toMatchObject({ id: 1, result: {} });
    expect(good.headers["mcp-session-id"]).toMatch(/^[\x21-\x7e]+$/);
    const bad = await edge.send(post(initializeRequest(1, 5), { accept: events }));
    expect(await bad.answer()).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(bad.type).toBe(events);
    expect(bad.headers["mcp-session-id"]).toBeUndefined();
  });
});

describeEdges("a stream", (open) => {
  test.each(eras)(
    "of a %s call has its own notifications, then the answer, then its end [HTTP-SSE-EVENTUAL-RESPONSE, HTTP-SSE-CLOSE-AFTER, HTTP-SSE-RELATED, HTTP26-SSE-RELATED, HTTP26-SSE-FINAL-ENDS, HTTP26-SSE-NO-REQUESTS]",
    async (era) => {
      const edge = await open(httpServer().server);
      const replies = await Promise.all([send(edge, era, "report"), send(edge, era, "echo")]);
      for (const reply of replies) await reply.complete();
      const methods = replies[0].messages.map((message) => (message as { method?: string }).method);
      expect(methods).toEqual(["notifications/progress", "notifications/progress", undefined]);
      expect(replies[0].messages.filter((message) => "id" in message && "method" in message)).toEqual([]);
      expect(replies[1].messages).toHaveLength(1);
    },
  );

  test.each(eras)(
    "of a %s call has the headers that keep what is between from holding it back [HTTP26-SSE-XACCEL]",
    async (era) => {
      const edge = await open(httpServer().server);
      const reply = await send(edge, era, "report");
      expect(reply.headers).toMatchObject({
        "content-type": events,
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      });
      await reply.complete();
    },
  );

  test("is opened at once: its headers do not wait for the first event [SUB-HTTP-SSE]", async () => {
    const { server, gate } = httpServer();
    const edge = await open(server);
    const get = await openGet(edge, await openSession(edge, "2025-06-18"));
    expect(get).toMatchObject({ status: 200, text: "" });
    const listen = await edge.send(
      modernPost(modernRequest(5, "subscriptions/listen", { notifications: { toolsListChanged: true } })),
    );
    expect(listen).toMatchObject({ status: 200, type: events });
    expect(await listen.received(1)).toMatchObject([{ method: "notifications/subscriptions/acknowledged" }]);
    expect(listen.end).toBe("open");
    const waiting = await send(edge, "modern", "wait", { accept: events });
    expect(waiting).toMatchObject({ status: 200, text: "" });
    gate.resolve();
    await waiting.complete();
    get.abort();
    listen.abort();
  });

  test("takes errors as events once it is open; before that they keep their status [HTTP26-OTHER-ERRORS-200]", async () => {
    const edge = await open(httpServer().server);
    const late = await send(edge, "modern", "fail");
    const last = await late.answer();
    expect(late).toMatchObject({ status: 200, type: events });
    expect(last).toMatchObject({ id: 1, error: {} });
    const early = await edge.send(modernPost(modernRequest(2, "no/such"), { accept: `${json}, ${events}` }));
    expect(early).toMatchObject({ status: 404, type: json });
    const at = await edge.send(modernPost(modernRequest(2, "no/such"), { accept: events }));
    expect(await at.answer()).toMatchObject({ id: 2, error: { code: -32601 } });
    expect(at).toMatchObject({ status: 200, type: events });
  });

  test.each(legacyDates.map((date) => [date, date >= "2025-11-25"] as const))(
    "of %s begins with an event that only has an id and a retry time: %s",
    async (revision, primes) => {
      const edge = await open(httpServer().server, { retryMs: 4321 });
      const reply = await send(edge, "legacy", "report", {}, revision);
      await reply.complete();
      const [first] = reply.events;
      expect(first?.id).toBeTypeOf("string");
      if (primes) expect(first).toMatchObject({ retry: "4321", data: "" });
      else expect(first?.data).toContain("notifications/progress");
    },
  );
});

describeEdges("time", (open) => {
  test.each(eras)(
    "a %s call that takes longer than streamAfterMs gets a stream, and comments keep it open",
    async (era) => {
      holdTime();
      const { server, gate, waiting } = httpServer();
      const edge = await open(server, { streamAfterMs: 3000, keepAliveMs: 5000 });
      let reply: HttpReply | undefined;
      void send(edge, era, "wait").then((opened) => (reply = opened));
      await until(() => waiting() === 1, Number.POSITIVE_INFINITY);
      vi.advanceTimersByTime(2000);
      expect(reply).toBeUndefined();
      vi.advanceTimersByTime(2000);
      await until(() => reply !== undefined, Number.POSITIVE_INFINITY);
      vi.advanceTimersByTime(12_000);
      await until(() => (reply?.comments.length ?? 0) >= 2, Number.POSITIVE_INFINITY);
      gate.resolve();
      expect(await reply?.answer()).toMatchObject({ id: 1, result: {} });
    },
  );

  test("comments keep GET and listen streams open, as often as keepAliveMs says [HTTP26-SSE-KEEPALIVE]", async () => {
    holdTime();
    const edge = await open(httpServer().server, { keepAliveMs: 10_000 });
    const get = await openGet(edge, await openSession(edge, newestLegacy));
    const listen = await edge.send(
      modernPost(modernRequest(5, "subscriptions/listen", { notifications: {} })),
    );
    await listen.received(1);
    // With turns in between: a reader that gets no chance to read would be cut off.
    await vi.advanceTimersByTimeAsync(45_000);
    await until(() => get.comments.length >= 4 && listen.comments.length >= 4, Number.POSITIVE_INFINITY);
    expect([get.comments.length, listen.comments.length]).toEqual([4, 4]);
    get.abort();
    listen.abort();
  });

  test("maxStreamMs ends a GET stream in good order, and a listen stream with its result", async () => {
    holdTime();
    const edge = await open(httpServer().server, { maxStreamMs: 60_000 });
    const get = await openGet(edge, await openSession(edge, newestLegacy));
    const listen = await edge.send(
      modernPost(modernRequest(5, "subscriptions/listen", { notifications: {} })),
    );
    await listen.received(1);
    await vi.advanceTimersByTimeAsync(62_000);
    await get.complete();
    expect(await listen.answer()).toMatchObject({ id: 5, result: { resultType: "complete" } });
    expect(edge.stats()).toMatchObject({ subscriptions: 0, streams: 0 });
  });
});

describeEdges("batches", (open) => {
  const batch = [
    toolCall(1, "echo", { text: "a" }),
    { jsonrpc: "2.0", method: "notifications/x" },
    toolCall(2, "report"),
  ];

  test("are answered with one list in 2025-03-26, as JSON or as events [HTTP-POST-BODY-BATCH, HTTP-SSE-BATCH-RESPONSES]", async () => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, "2025-03-26");
    for (const accept of [json, events]) {
      const reply = await edge.send(post(batch, { ...session.headers, accept }));
      await reply.complete();
      const ids = reply.messages.flat().map((message) => message.id);
      expect(ids.toSorted()).toEqual([1, 2]);
      expect(reply.type).toBe(accept);
    }
  });

  test("of notifications or of responses are taken with 202 [HTTP-POST-BODY-BATCH, HTTP-POST-202]", async () => {
    const edge = await open(httpServer().server);
    const session = await openSession(edge, "2025-03-26");
    for (const body of [[batch[1]], [{ jsonrpc: "2.0", id: "x", result: {} }]]) {
      const reply = await edge.send(post(body, session.headers));
      expect(await reply.complete()).toMatchObject({ status: 202, text: "" });
    }
  });

  test.each(legacyDates.filter((date) => date !== "2025-03-26"))(
    "are 400 with -32600 in %s",
    async (revision) => {
      const edge = await open(httpServer().server);
      const session = await openSession(edge, revision);
      const reply = await edge.send(post(batch, session.headers));
      expect((await reply.answer()).error?.code).toBe(-32600);
      expect(reply.status).toBe(400);
    },
  );

  test("are 400 for a modern client", async () => {
    const edge = await open(httpServer().server);
    const reply = await edge.send(post([modernCall(1, "echo")], { "mcp-protocol-version": "2026-07-28" }));
    expect((await reply.answer()).error?.code).toBe(-32600);
    expect(reply.status).toBe(400);
  });
});
