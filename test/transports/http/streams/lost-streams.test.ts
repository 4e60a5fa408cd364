// Streams that were cut: a client never forgets where it was, and hears of what it may have lost.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { EventReply } from "../../../support/event-reply.ts";
import { recordingLogger } from "../../../support/log.ts";
import {
  type Edge,
  edges,
  logDataOf,
  methodsOf,
  serve,
  type Served,
  sessionCells,
  SessionClient,
  sessionDates,
} from "../../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../../support/turns.ts";

const note = "notifications/message";
const uri = "note:///a";

/** The notifications after a gap. */
const gap = ["tools/list_changed", "resources/list_changed", `resources/updated ${uri}`];

interface Setup {
  readonly server: McpServer;
  readonly served: Served;
  readonly client: SessionClient;
  push(...data: number[]): Promise<void>;
  /** Cuts a stream, and waits until the server has seen it. */
  cut(stream: EventReply): Promise<void>;
}

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("first", {}, () => "first");
  server.resource(uri, {}, () => "a");
  return server;
}

async function setup(
  options: HttpOptions = {},
  { edge = "serveHttp" as Edge, revision = "2025-11-25" } = {},
): Promise<Setup> {
  const server = makeServer();
  const served = await serve(server, options, edge);
  const client = await SessionClient.open(served, { revision });
  await client.request("resources/subscribe", { uri });
  return {
    server,
    served,
    client,
    push: async (...all) => {
      for (const data of all) await server.push.toSession(client.id, note, { level: "info", data });
    },
    cut: async (stream) => {
      const before = served.stats().streams;
      stream.cut();
      await until(() => served.stats().streams < before);
    },
  };
}

function toldOf({ messages }: { messages: readonly JsonObject[] }): string[] {
  return methodsOf(messages.filter(({ method }) => method !== note));
}

/** Everything that a stream brings up to this push. */
async function heardUpTo(stream: EventReply, data: number): Promise<EventReply> {
  await stream.message(() => logDataOf(stream.messages).includes(data));
  return stream;
}

afterEach(() => void vi.useRealTimers());

test.each(sessionCells)(
  "what came on the stream that took over does not come again on the one that is resumed · $revision · $edge",
  async ({ revision, edge }) => {
    const { server, client, push, cut } = await setup({}, { edge, revision });
    const broadcast = (data: number): Promise<number> => server.push.broadcast(note, { level: "info", data });
    const other = await client.get();
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    const id = first.events.findLast(({ data }) => data)?.id;
    await broadcast(2);
    await heardUpTo(first, 2);
    await cut(first);
    await push(3);
    await heardUpTo(other, 3);
    await broadcast(4);
    await server.resources.updated(uri);
    await heardUpTo(other, 4);
    const second = await client.get(id);
    await push(5);
    await heardUpTo(second, 5);
    expect(logDataOf(second.messages)).toEqual([2, 5]);
    expect(toldOf(second)).toEqual([]);
    await cut(second);
    await broadcast(6);
    await heardUpTo(other, 6);
    expect(logDataOf(other.messages)).toEqual([3, 4, 6]);
    expect(toldOf(other)).toEqual([`resources/updated ${uri}`]);
    const third = await client.get(second.events.findLast(({ id: own }) => own)?.id);
    await push(7);
    await heardUpTo(third, 7);
    expect(logDataOf(third.messages)).toEqual([7]);
  },
);

describe.each(edges)("a resumed stream begins with the id that the client came with · %s", (edge) => {
  const priming = (id: string | undefined): object => ({ id, data: "", retry: "321" });

  test("a GET stream, before what was missed and where nothing was [RESUME-PRIMING]", async () => {
    const { client, push, cut } = await setup({ retryMs: 321 }, { edge });
    const first = await client.get();
    await push(1, 2);
    await heardUpTo(first, 2);
    const one = first.events.find(({ data }) => data)?.id;
    await cut(first);
    const second = await client.get(one);
    await heardUpTo(second, 2);
    expect(second.events[0]).toEqual(priming(one));
    expect(logDataOf(second.messages)).toEqual([2]);
    await cut(second);
    const third = await client.get(second.lastEventId);
    await until(() => third.events.length > 0);
    expect(third.events).toEqual([priming(second.lastEventId)]);
  });

  test("the stream of a call that runs, and of one that has ended [RESUME-PRIMING, RESUME-ALWAYS-GET]", async () => {
    const { client, server, served } = await setup({ retryMs: 321 }, { edge });
    const gate = deferred();
    server.tool("slow", {}, async (_, ctx) => {
      ctx.log("info", 1);
      await gate.promise;
      return "done";
    });
    const stream = await client.call("slow");
    await heardUpTo(stream, 1);
    const { lastEventId } = stream;
    await stream.vanish();
    const running = await client.get(lastEventId);
    await until(() => running.events.length > 0);
    expect(running.events).toEqual([priming(lastEventId)]);
    await running.vanish();
    gate.resolve();
    await until(() => served.stats().inFlight === 0);
    const ended = await client.get(running.lastEventId);
    await ended.closed;
    expect(ended.events).toEqual([
      priming(lastEventId),
      { id: expect.any(String) as string, data: expect.stringContaining("done") as string },
    ]);
    // It has everything now, and the stream need not be kept: a client that asks for ever would be told so.
    expect((await client.get(ended.lastEventId)).status).toBe(400);
    expect((await client.get(ended.lastEventId)).status).toBe(400);
  });
});

test.each(sessionDates.filter((date) => date < "2025-11-25"))(
  "a resumed stream of %s begins with what was missed",
  async (revision) => {
    const { client, push, cut } = await setup({}, { revision });
    const first = await client.get();
    await push(1, 2);
    await heardUpTo(first, 2);
    await cut(first);
    const second = await client.get(first.events[0]?.id);
    await heardUpTo(second, 2);
    expect(second.events.every(({ data }) => data)).toBe(true);
  },
);

describe.each(sessionCells)("a GET without an id · $revision · $edge", (cell) => {
  test("after a stream that was cut with events says what to read again, and replays nothing [RESUME-NO-CROSS-STREAM]", async () => {
    const { client, push, cut } = await setup({}, cell);
    const first = await client.get();
    await push(1, 2);
    await heardUpTo(first, 2);
    await cut(first);
    await push(3);
    const second = await heardUpTo(await client.get(), 3);
    expect(methodsOf(second.messages)).toEqual([...gap, "message"]);
    expect(logDataOf(second.messages)).toEqual([3]);
    // The first is still there for a client that remembers it after all, with what it had, and once.
    const one = first.events.find(({ data }) => data);
    const resumed = await heardUpTo(await client.get(one?.id), 2);
    await push(4);
    await heardUpTo(resumed, 4);
    expect(methodsOf(resumed.messages)).toEqual(["message", "message"]);
    expect(logDataOf(resumed.messages)).toEqual([2, 4]);
    expect(logDataOf(second.messages)).toEqual([3]);
  });

  test("after a stream of which the client has shown that it has all, says nothing", async () => {
    const { client, push, cut } = await setup({}, cell);
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    await cut(first);
    await cut(await client.get(first.lastEventId));
    await push(2);
    const third = await heardUpTo(await client.get(), 2);
    expect(methodsOf(third.messages)).toEqual(["message"]);
  });

  test("after a stream that brought nothing, says nothing", async () => {
    const { client, push, cut } = await setup({}, cell);
    await cut(await client.get());
    await push(1);
    const second = await heardUpTo(await client.get(), 1);
    expect(methodsOf(second.messages)).toEqual(["message"]);
  });

  test("beside a stream that looks open says it once, and a client that comes back to that one hears it no more", async () => {
    const { client, push, cut } = await setup({}, cell);
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    const second = await client.get();
    await push(2);
    await heardUpTo(second, 2);
    await cut(first);
    const resumed = await client.get(first.lastEventId);
    await push(3);
    await until(() => [...logDataOf(second.messages), ...logDataOf(resumed.messages)].includes(3));
    expect(toldOf(second)).toEqual(gap);
    expect(toldOf(resumed)).toEqual([]);
  });

  test("beside an open stream that carried nothing is no loss", async () => {
    const { client, push } = await setup({}, cell);
    await client.get();
    const second = await client.get();
    await push(1);
    await heardUpTo(second, 1);
    expect(toldOf(second)).toEqual([]);
  });

  test("says it again when the stream that said it was cut, too", async () => {
    const { client, push, cut } = await setup({}, cell);
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    await cut(first);
    const second = await client.get();
    await second.count(gap.length);
    await cut(second);
    await push(2);
    const third = await heardUpTo(await client.get(), 2);
    expect(methodsOf(third.messages)).toEqual([...gap, "message"]);
  });
});

describe("a stream that nobody comes back to", () => {
  test("is made good on another that is open, once the time to come back is over", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
    const { client, push, cut } = await setup({ resumeWindowMs: 10_000 });
    const second = await client.get();
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    await cut(first);
    await vi.advanceTimersByTimeAsync(8000);
    await push(2);
    await heardUpTo(second, 2);
    expect(toldOf(second)).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    await push(3);
    await heardUpTo(second, 3);
    expect(methodsOf(second.messages)).toEqual(["message", ...gap, "message"]);
  });

  test("is made good once, where the client has been told meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
    const { client, push, cut } = await setup({ resumeWindowMs: 10_000, limits: { keepMs: 60_000 } });
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    await cut(first);
    const second = await client.get("gAAAAAAAAAAAAAAAAAAAAAA.1");
    await second.count(gap.length);
    await vi.advanceTimersByTimeAsync(63_000);
    await push(2);
    await heardUpTo(second, 2);
    expect(methodsOf(second.messages)).toEqual([...gap, "message"]);
  });

  test("is exact for a client that comes back later, as long as it is kept", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
    const { client, push, cut } = await setup({ resumeWindowMs: 10_000, limits: { keepMs: 60_000 } });
    const first = await client.get();
    await push(1, 2);
    await heardUpTo(first, 2);
    await cut(first);
    await vi.advanceTimersByTimeAsync(50_000);
    const one = first.events.find(({ data }) => data)?.id;
    const second = await heardUpTo(await client.get(one), 2);
    expect(methodsOf(second.messages)).toEqual(["message"]);
  });

  test("is made good for a client without an id, though what it carried is no longer kept", async () => {
    const { client, push, cut } = await setup({ limits: { maxStreamBytes: 1000 } });
    const first = await client.get();
    await push(...Array.from({ length: 20 }, () => 1));
    await heardUpTo(first, 1);
    await cut(first);
    await push(2);
    const second = await heardUpTo(await client.get(), 2);
    expect(methodsOf(second.messages)).toEqual([...gap, "message"]);
  });

  test("is made good when it ends to make room for a ninth", async () => {
    const { client, push, cut } = await setup();
    const others: EventReply[] = [];
    for (let at = 0; at < 7; at++) others.push(await client.get());
    const first = await client.get();
    await push(1);
    await heardUpTo(first, 1);
    await cut(first);
    const ninth = await client.get(others[0]?.lastEventId);
    others.push(ninth, await client.get());
    await push(2);
    await until(() => others.flatMap(({ messages }) => logDataOf(messages)).includes(2));
    await nextTurn();
    expect(others.flatMap(toldOf)).toEqual(gap);
  });
});
