// Questions to clients: where the answer comes from, and every way in which it may not come.
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { afterEach, describe, expect, test, vi } from "vitest";
import { holdTime } from "../support/clock.ts";
import { type EventReply, send } from "../support/event-reply.ts";
import { recordingLogger } from "../support/log.ts";
import { describeMatrix } from "../support/matrix.ts";
import { edges, type Edge, sendModern, serve, type Served, SessionClient } from "../support/sessions.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

interface Setup {
  readonly server: McpServer;
  readonly served: Served;
  readonly client: SessionClient;
  /** How each question of a call ended. */
  readonly outcomes: string[];
}

function askingServer(outcomes: string[], timeoutMs?: number): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("ask", {}, async (_, ctx) => {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const outcome = await ctx.ask("roots/list", {}, options).then(
      (result) => JSON.stringify(result),
      (error: Error) => error.message,
    );
    outcomes.push(outcome);
    return outcome;
  });
  return server;
}

async function setup(
  options: HttpOptions = {},
  { timeoutMs, edge = "serveHttp" }: { timeoutMs?: number; edge?: Edge } = {},
): Promise<Setup> {
  const outcomes: string[] = [];
  const server = askingServer(outcomes, timeoutMs);
  const served = await serve(server, options, edge);
  return { server, served, client: await SessionClient.open(served), outcomes };
}

const isQuestion = (message: JsonObject): boolean =>
  message["method"] !== undefined && message["id"] !== undefined;

afterEach(() => void vi.useRealTimers());

describe.each(edges)("asks · %s", (edge) => {
  test("ctx.ask() goes out on the stream of the call, and its answer comes on another POST", async () => {
    const { client, server } = await setup({}, { edge });
    const other = await client.get();
    const call = await client.start("tools/call", { name: "ask" }, "c");
    const question = await call.message(isQuestion);
    expect(question).toMatchObject({ jsonrpc: "2.0", method: "roots/list" });
    expect(await server.push.pendingAsks()).toBe(1);
    expect(await client.answer(question, { result: { roots: [] } })).toBe(202);
    await call.closed;
    expect(call.messages.at(-1)).toMatchObject({ id: "c", result: { content: [{ text: '{"roots":[]}' }] } });
    expect(await server.push.pendingAsks()).toBe(0);
    expect(other.messages).toEqual([]);
  });

  test("push.request() and push.ping() ask on the GET stream, under ids that are never used again [BASE-REQ-ID-UNIQUE-SESSION]", async () => {
    const { client, server } = await setup({}, { edge });
    const stream = await client.get();
    const asks = Array.from({ length: 20 }, () => server.push.request(client.id, "roots/list"));
    await stream.count(20);
    for (const question of stream.messages)
      await client.answer(question, { result: { roots: [question["id"]] } });
    const results = await Promise.all(asks);
    const ids = stream.messages.map(({ id }) => id);
    expect(results.map(({ roots }) => (roots as unknown[])[0])).toEqual(ids);
    const pinged = server.push.ping(client.id);
    await stream.count(21);
    const ping = stream.messages.at(-1) as JsonObject;
    expect(ping).toMatchObject({ method: "ping" });
    expect(new Set([...ids, ping["id"]]).size).toBe(21);
    await client.answer(ping, { result: {} });
    await pinged;
  });

  test("another session's answer with the same id does nothing, and neither does a second one", async () => {
    const { client, served, server } = await setup({}, { edge });
    const stranger = await SessionClient.open(served);
    const stream = await client.get();
    const asked = server.push.request(client.id, "roots/list");
    const question = await stream.message(isQuestion);
    expect(await stranger.answer(question, { result: { roots: ["stolen"] } })).toBe(202);
    expect(await stranger.answer(question, { error: { code: 1, message: "stolen" } })).toBe(202);
    expect(await client.answer({ id: "unknown" }, { result: {} })).toBe(202);
    expect(await server.push.pendingAsks()).toBe(1);
    await client.answer(question, { result: { roots: [] } });
    await client.answer(question, { result: { roots: ["late"] } });
    expect(await asked).toEqual({ roots: [] });
  });
});

describe("asks that fail", () => {
  test("the client answers with an error", async () => {
    const { client, server } = await setup();
    const stream = await client.get();
    const asked = server.push.request(client.id, "roots/list");
    const expected = { code: "ASK_FAILED", message: "No roots here", cause: { code: -32601 } };
    const outcome = expect(asked).rejects.toMatchObject(expected);
    await client.answer(await stream.message(isQuestion), {
      error: { code: -32601, message: "No roots here" },
    });
    await outcome;
  });

  test("the client does not answer in time: it is told, and the question is forgotten", async () => {
    const { client, server } = await setup();
    const stream = await client.get();
    await expect(server.push.request(client.id, "roots/list", {}, { timeoutMs: 30 })).rejects.toMatchObject({
      code: "ASK_FAILED",
      message: "roots/list: No answer within 30 ms",
    });
    const { id } = await stream.message(isQuestion);
    const cancelled = await stream.message(({ method }) => method === "notifications/cancelled");
    expect(cancelled["params"]).toMatchObject({ requestId: id });
    expect(await server.push.pendingAsks()).toBe(0);
    expect(await client.answer({ id }, { result: {} })).toBe(202);
  });

  test("there is no session, or no stream of it", async () => {
    const { client, server } = await setup();
    await expect(server.push.request(client.id, "ping")).rejects.toMatchObject({ code: "ASK_FAILED" });
    await expect(server.push.ping("unknown")).rejects.toMatchObject({ code: "ASK_FAILED" });
  });

  test("a modern client and a client without a session cannot be asked, and the error names what is needed", async () => {
    const outcomes: string[] = [];
    const served = await serve(askingServer(outcomes));
    await (
      await sendModern(served.url, "tools/call", { name: "ask", arguments: {} })
    ).closed;
    expect(outcomes).toEqual([
      expect.stringContaining("this client cannot receive requests: it is modern: call ctx.elicit"),
    ]);
  });

  test("the call is cancelled while it asks", async () => {
    const { client, server, outcomes } = await setup();
    const call = await client.start("tools/call", { name: "ask" }, "c");
    await call.message(isQuestion);
    await client.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c" } });
    await until(() => outcomes.length === 1);
    expect(outcomes).toEqual(["roots/list: The call that asked was cancelled"]);
    expect(await server.push.pendingAsks()).toBe(0);
    await call.closed;
    expect(call.messages.some(({ result }) => result !== undefined)).toBe(false);
  });

  test("a call that was cancelled before it asks is refused at once", async () => {
    const { client, server } = await setup();
    const outcomes: string[] = [];
    const [began, isCancelled] = [deferred(), deferred()];
    server.tool("late", {}, async (_, ctx) => {
      began.resolve();
      await isCancelled.promise;
      outcomes.push(
        await ctx.ask("roots/list").then(
          () => "answered",
          (error: Error) => error.message,
        ),
      );
      return "done";
    });
    const running = client.start("tools/call", { name: "late" }, "c");
    await began.promise;
    await client.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c" } });
    isCancelled.resolve();
    await until(() => outcomes.length === 1);
    expect(outcomes).toEqual(["roots/list: The call that asked was cancelled"]);
    await (
      await running
    ).closed;
  });

  test("the session ends", async () => {
    const { client, server } = await setup();
    const stream = await client.get();
    const asked = server.push.request(client.id, "roots/list");
    const outcome = expect(asked).rejects.toMatchObject({
      message: "roots/list: The client can no longer be reached",
    });
    await stream.message(isQuestion);
    await client.delete();
    await outcome;
  });
});

describe("asks on a stream that is lost", () => {
  const lost = "roots/list: The client can no longer be reached";

  async function loseStream(
    kind: "call" | "get",
    made: Setup,
  ): Promise<{ stream: EventReply; question: JsonObject; asked: Promise<unknown> }> {
    const { client, server, outcomes } = made;
    const stream =
      kind === "get" ? await client.get() : await client.start("tools/call", { name: "ask" }, "c");
    if (kind === "get") {
      server.push.request(client.id, "roots/list").then(
        (result) => outcomes.push(JSON.stringify(result)),
        (error: Error) => outcomes.push(error.message),
      );
    }
    const question = await stream.message(isQuestion);
    await stream.vanish();
    return { stream, question, asked: until(() => outcomes.length === 1) };
  }

  test.each(["call", "get"] as const)(
    "it is asked again and answered when the client comes back within the resume window · %s",
    async (kind) => {
      holdTime();
      const made = await setup({}, { timeoutMs: 600_000 });
      const { stream, question, asked } = await loseStream(kind, made);
      await vi.advanceTimersByTimeAsync(28_000);
      expect(made.outcomes).toEqual([]);
      // From before the question, as if it had never arrived.
      const resumed = await made.client.get(stream.events[0]?.id);
      expect(await resumed.message(isQuestion)).toEqual(question);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(made.outcomes).toEqual([]);
      await made.client.answer(question, { result: { roots: [] } });
      await asked;
      expect(made.outcomes).toEqual(['{"roots":[]}']);
    },
  );

  test.each([
    { kind: "call", resumeWindowMs: undefined, before: 28_000, after: 4000 },
    { kind: "get", resumeWindowMs: undefined, before: 28_000, after: 4000 },
    { kind: "call", resumeWindowMs: 5000, before: 3000, after: 4000 },
    { kind: "get", resumeWindowMs: 5000, before: 3000, after: 4000 },
  ] as const)(
    "it fails when the resume window ends, and the call continues · $kind · $resumeWindowMs",
    async ({ kind, resumeWindowMs, before, after }) => {
      holdTime();
      const made = await setup(resumeWindowMs === undefined ? {} : { resumeWindowMs }, {
        timeoutMs: 600_000,
      });
      const { stream, asked } = await loseStream(kind, made);
      await vi.advanceTimersByTimeAsync(before);
      expect(made.outcomes).toEqual([]);
      await vi.advanceTimersByTimeAsync(after);
      await asked;
      expect(made.outcomes).toEqual([lost]);
      expect(await made.server.push.pendingAsks()).toBe(0);
      if (kind === "get") return;
      // Its answer is there for a client that comes even later.
      const resumed = await made.client.get(stream.lastEventId);
      await resumed.closed;
      expect(resumed.messages.at(-1)).toMatchObject({ id: "c", result: { content: [{ text: lost }] } });
    },
  );

  test("it fails at once over the transport of 2024-11-05, whose streams cannot be resumed", async () => {
    const made = await setup({ legacySse: true });
    const base = made.served.url.replace("/mcp", "");
    const stream = await send(`${base}/sse`, { method: "GET", headers: { accept: "text/event-stream" } });
    await until(() => stream.events.length === 1);
    const endpoint = base + String(stream.events[0]?.data);
    const post = (message: JsonObject): Promise<EventReply> =>
      send(endpoint, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    stream.events.splice(0);
    await post({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "c", version: "1" } },
    });
    await stream.count(1);
    await post({ id: 1, method: "tools/call", params: { name: "ask" } });
    await stream.message(isQuestion);
    stream.cut();
    await until(() => made.outcomes.length === 1);
    expect(made.outcomes).toEqual([lost]);
  });
});

describeMatrix("asks on a pipe", { eras: ["legacy"] }, (cell) => {
  test("ctx.ask() and push.ping() reach the client, and the end of the pipe fails them", async () => {
    const outcomes: string[] = [];
    const server = askingServer(outcomes);
    const client = await cell.connect(server);
    const call = client.request("tools/call", { name: "ask" });
    const question = (await client.waitFor((message) => isQuestion(message as never))) as unknown as {
      id: string;
    };
    client.send({ jsonrpc: "2.0", id: question.id, result: { roots: [] } });
    expect(await call).toMatchObject({ content: [{ text: '{"roots":[]}' }] });
    const [session = ""] = await server.push.sessions();
    await server.push.ping(session);
    const failing = expect(server.push.request(session, "roots/list")).rejects.toMatchObject({
      code: "ASK_FAILED",
    });
    await nextTurn();
    await client.close();
    await failing;
    expect(await server.push.pendingAsks()).toBe(0);
  });
});
