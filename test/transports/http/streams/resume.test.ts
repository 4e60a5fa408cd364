// Resuming streams: the missed messages, which clients may resume, and what happens past the log.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { afterEach, describe, expect, test, vi } from "vitest";
import { holdTime } from "../../../support/clock.ts";
import type { EventReply } from "../../../support/event-reply.ts";
import { recordingLogger } from "../../../support/log.ts";
import {
  type Edge,
  listenOver,
  logDataOf,
  methodsOf,
  serve,
  type Served,
  sendModern,
  sessionCells,
  SessionClient,
} from "../../../support/sessions.ts";
import { deferred, until } from "../../../support/turns.ts";

const note = "notifications/message";

function numbered(data: number): JsonObject {
  return { level: "info", data };
}

interface Setup {
  readonly server: McpServer;
  readonly served: Served;
  readonly client: SessionClient;
  push(data: number, client?: SessionClient): Promise<void>;
}

async function setup(
  options: HttpOptions = {},
  { edge = "serveHttp" as Edge, revision = "2025-11-25" } = {},
): Promise<Setup> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("first", {}, () => "first");
  server.resource("note:///a", {}, () => "a");
  server.resource("note:///b", {}, () => "b");
  const served = await serve(server, options, edge);
  const client = await SessionClient.open(served, { revision });
  const push = async (data: number, { id } = client): Promise<void> => {
    expect(await server.push.toSession(id, note, numbered(data))).toBe(true);
  };
  return { server, served, client, push };
}

/** Cuts a GET stream, and waits until the server has seen it. */
async function cut(stream: EventReply, { served }: Setup): Promise<void> {
  const before = served.stats().streams;
  stream.cut();
  await until(() => served.stats().streams < before);
}

afterEach(() => void vi.useRealTimers());

describe.each(sessionCells)("resume · $revision · $edge", (cell) => {
  const { revision } = cell;

  test("a GET stream goes on after the last event, nothing lost and nothing twice, with messages sent meanwhile [RESUME-EVENT-ID, RESUME-ALWAYS-GET, RESUME-REPLAY]", async () => {
    const made = await setup({}, cell);
    const { client, push } = made;
    const first = await client.get();
    for (const data of [1, 2, 3]) await push(data);
    await first.message(() => logDataOf(first.messages).length === 3);
    const [afterOne] = first.events.filter(({ data }) => data).map(({ id }) => id);
    await cut(first, made);
    for (const data of [4, 5]) await push(data);
    // The client says that it has received only the first one.
    const second = await client.get(afterOne);
    await push(6);
    await second.message(() => logDataOf(second.messages).length === 5);
    expect(logDataOf(second.messages)).toEqual([2, 3, 4, 5, 6]);
  });

  test("event ids are unique over all streams of a session, and name their stream [RESUME-EVENT-ID-UNIQUE, RESUME-EVENT-ID-STREAM]", async () => {
    const { client, push, server } = await setup({}, cell);
    server.tool("log", {}, (_, ctx) => {
      for (const data of [1, 2, 3]) ctx.log("info", data);
      return "done";
    });
    const streams = [await client.get(), await client.get()];
    for (let data = 0; data < 10; data++) await push(data);
    const calls = [await client.call("log"), await client.call("log")];
    await until(() => logDataOf(streams.flatMap(({ messages }) => messages)).length === 10);
    for (const call of calls) await call.closed;
    const all = [...streams, ...calls];
    const ids = all.flatMap(({ events }) => events.flatMap(({ id }) => id ?? []));
    expect(ids.length).toBeGreaterThanOrEqual(18);
    expect(new Set(ids).size).toBe(ids.length);
    const names = all.map(({ events }) => new Set(events.flatMap(({ id }) => id?.split(".")[0] ?? [])));
    for (const name of names) expect(name.size).toBeLessThanOrEqual(1);
    expect(new Set(names.flatMap((name) => [...name])).size).toBe(
      names.filter(({ size }) => size === 1).length,
    );
  });

  test("the response of a call whose connection was cut is replayed, and only what belongs to that stream [RESUME-ALWAYS-GET, RESUME-REPLAY, RESUME-NO-CROSS-STREAM]", async () => {
    const { client, push, server } = await setup({}, cell);
    const gate = deferred();
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", "begun");
      await gate.promise;
      ctx.log("info", "ending");
      return "done";
    });
    const other = await client.get();
    const stream = await client.start("tools/call", { name: "slow" }, "the call");
    await stream.message(() => logDataOf(stream.messages).length === 1);
    const { lastEventId } = stream;
    await stream.vanish();
    await push(1);
    gate.resolve();
    await other.message(() => logDataOf(other.messages).length === 1);
    const resumed = await client.get(lastEventId);
    await resumed.closed;
    expect(resumed.end).toBe("complete");
    expect(resumed.messages).toMatchObject([
      { method: note, params: { data: "ending" } },
      { id: "the call", result: { content: [{ text: "done" }] } },
    ]);
    expect(logDataOf(other.messages)).toEqual([1]);
    // Once more from the same place, and there it is again; after its end there is nothing.
    const again = await client.get(lastEventId);
    await again.closed;
    expect(again.messages).toEqual(resumed.messages);
    const rest = await client.get(resumed.lastEventId);
    await rest.closed;
    expect(rest.messages).toEqual([]);
  });

  test("a call that still runs goes on where its client comes back [RESUME-ALWAYS-GET, RESUME-REPLAY]", async () => {
    const { client, server } = await setup({}, cell);
    const gate = deferred();
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", 1);
      await gate.promise;
      ctx.log("info", 3);
      return "done";
    });
    const stream = await client.start("tools/call", { name: "slow" }, 7);
    await stream.message(() => logDataOf(stream.messages).length === 1);
    await stream.vanish();
    const resumed = await client.get(stream.lastEventId);
    expect(resumed.status).toBe(200);
    gate.resolve();
    await resumed.closed;
    expect(logDataOf(resumed.messages)).toEqual([3]);
    expect(resumed.messages.at(-1)).toMatchObject({ id: 7, result: {} });
  });

  test("another session's event id is answered as an unknown one is [RESUME-NO-CROSS-STREAM]", async () => {
    const made = await setup({}, cell);
    const { client, push, server, served } = made;
    server.tool("log", {}, (_, ctx) => (ctx.log("info", "secret"), "secret"));
    const stream = await client.get();
    await push(1);
    await stream.message(() => logDataOf(stream.messages).length === 1);
    const call = await client.call("log");
    await call.closed;
    const thief = await SessionClient.open(served, { revision });
    const foreign = await thief.get(`${stream.lastEventId?.split(".")[0]}.0`);
    const unknown = await thief.get("gAAAAAAAAAAAAAAAAAAAAAA.0");
    await push(2, thief);
    for (const reply of [foreign, unknown]) expect(reply.status).toBe(200);
    await until(() => [...foreign.messages, ...unknown.messages].some(({ method }) => method === note));
    expect(logDataOf([...foreign.messages, ...unknown.messages])).toEqual([2]);
    const foreignCall = await thief.get(`${call.lastEventId?.split(".")[0]}.0`);
    const unknownCall = await thief.get("pAAAAAAAAAAAAAAAAAAAAAA.0");
    expect([foreignCall.status, unknownCall.status]).toEqual([400, 400]);
    expect(await foreignCall.json()).toEqual(await unknownCall.json());
  });
});

describe("priming and polling", () => {
  test.each([
    { revision: "2025-11-25", primes: true },
    { revision: "2025-06-18", primes: false },
    { revision: "2025-03-26", primes: false },
  ])(
    "a stream begins with an event that has an id, no data and retry from 2025-11-25 on · $revision [RESUME-PRIMING]",
    async ({ revision, primes }) => {
      const { client, server, push } = await setup({ retryMs: 321 }, { revision });
      server.tool("log", {}, (_, ctx) => (ctx.log("info", 1), "done"));
      const streams = [await client.get(), await client.call("log")];
      await push(1);
      for (const stream of streams) {
        await stream.message(() => stream.messages.length > 0);
        const [first] = stream.events;
        const priming = {
          id: expect.stringMatching(/^[gp]\d+\.\d+-\w+(\.\d+-\w+)?$/) as string,
          data: "",
          retry: "321",
        };
        if (primes) expect(first).toEqual(priming);
        else expect(first?.data).not.toBe("");
      }
    },
  );

  test("ctx.closeStream() says retry and closes the connection; the rest comes when the client is back [RESUME-SERVER-CLOSE, RESUME-RETRY-SEND, RESUME-ALWAYS-GET]", async () => {
    const { client, server } = await setup({ retryMs: 50 });
    const gate = deferred();
    server.tool("long", {}, async (_, ctx) => {
      ctx.closeStream();
      await gate.promise;
      ctx.log("info", "back");
      return "done";
    });
    const stream = await client.start("tools/call", { name: "long" }, 3);
    await stream.closed;
    expect(stream.end).toBe("complete");
    expect(stream.messages).toEqual([]);
    expect(stream.events.at(-1)).toEqual({ retry: "50" });
    const resumed = await client.get(stream.lastEventId);
    gate.resolve();
    await resumed.closed;
    expect(resumed.messages).toMatchObject([{ params: { data: "back" } }, { id: 3, result: {} }]);
  });

  test("ctx.closeStream() does nothing for a client that could not come back", async () => {
    const { client, server, served } = await setup({}, { revision: "2025-06-18" });
    server.tool("long", {}, (_, ctx) => (ctx.closeStream(), "done"));
    expect(await client.request("tools/call", { name: "long" })).toMatchObject({ result: {} });
    const modern = await sendModern(served.url, "tools/call", { name: "long", arguments: {} });
    expect(await modern.json()).toMatchObject({ result: { content: [{ text: "done" }] } });
  });

  test("maxStreamMs closes a GET stream so that it can be resumed, and a listen stream with its result [RESUME-SERVER-CLOSE, RESUME-RETRY-SEND]", async () => {
    holdTime();
    const made = await setup({ maxStreamMs: 60_000 });
    const stream = await made.client.get();
    await made.push(1);
    await stream.message(() => logDataOf(stream.messages).length === 1);
    const listening = await listenOver(made.served.url, { toolsListChanged: true });
    await vi.advanceTimersByTimeAsync(61_000);
    await stream.closed;
    await listening.closed;
    expect([stream.end, listening.end]).toEqual(["complete", "complete"]);
    expect(listening.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
    await made.push(2);
    const resumed = await made.client.get(stream.lastEventId);
    await resumed.message(() => logDataOf(resumed.messages).length === 1);
    expect(logDataOf(resumed.messages)).toEqual([2]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(resumed.end).toBeUndefined();
  });
});

describe("what is no longer kept", () => {
  test.each([
    "gAAAAAAAAAAAAAAAAAAAAAA.1",
    "nonsense",
    "g.1",
    "0",
    "gAAAAAAAAAAAAAAAAAAAAAA.99999999999999999999",
  ])("GET after %s, which was never sent, is made good too", async (id) => {
    const { client } = await setup();
    const stream = await client.get(id);
    expect(stream.status).toBe(200);
    await stream.count(2);
    expect(methodsOf(stream.messages)).toEqual(["tools/list_changed", "resources/list_changed"]);
  });

  test("an event that a stream has not sent yet does not exist", async () => {
    const made = await setup();
    const stream = await made.client.get();
    await made.push(1);
    await stream.message(() => logDataOf(stream.messages).length === 1);
    const ahead = await made.client.get(`${stream.lastEventId?.split(".")[0]}.99`);
    await ahead.count(2);
    expect(methodsOf(ahead.messages)).toEqual(["tools/list_changed", "resources/list_changed"]);
  });

  test("a POST stream past it is 400", async () => {
    const { client, server, served } = await setup({ limits: { maxStreamBytes: 1000 } });
    server.tool("chatty", {}, (_, ctx) => {
      for (let at = 0; at < 50; at++) ctx.log("info", at);
      return "done";
    });
    const call = await client.call("chatty");
    await call.closed;
    expect((await client.get(call.events[0]?.id)).status).toBe(400);
    expect(served.stats().replayBytes).toBeLessThanOrEqual(1000);
  });

  test("a session may have eight GET streams: one more ends the one that is least useful, and nothing is lost", async () => {
    const made = await setup();
    const { client, push, served } = made;
    const streams: EventReply[] = [];
    for (let at = 0; at < 8; at++) streams.push(await client.get());
    const [oldest, second] = streams;
    await cut(second as EventReply, made);
    streams.push(await client.get());
    expect(oldest?.end).toBeUndefined();
    streams.push(await client.get());
    await oldest?.closed;
    expect(oldest?.end).toBe("complete");
    expect(served.stats().streams).toBe(8);
    await push(1);
    await until(() => logDataOf(streams.flatMap(({ messages }) => messages)).length === 1);
  });
});

describe("the modern era", () => {
  test("streams carry no event ids, and Last-Event-ID says nothing [RESUME-MODERN-NONE]", async () => {
    const { server, served } = await setup();
    const listening = await listenOver(
      served.url,
      { toolsListChanged: true },
      { headers: { "last-event-id": "gAAAAAAAAAAAAAAAAAAAAAA.1" } },
    );
    server.tool("second", {}, () => "second");
    await listening.count(2);
    expect(listening.events.every(({ id, retry }) => id === undefined && retry === undefined)).toBe(true);
    const call = await sendModern(
      served.url,
      "tools/call",
      { name: "first", arguments: {} },
      { headers: { "last-event-id": "x" } },
    );
    expect(await call.json()).toMatchObject({ result: { content: [{ text: "first" }] } });
    expect(served.stats().replayStreams).toBe(0);
  });
});
