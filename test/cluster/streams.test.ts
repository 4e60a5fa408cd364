// Streams of one session on several nodes at once: each message once, wherever a client connects, resumes, answers, cancels or ends.
import type { JsonObject, McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { clientAt, serveCluster, type TestNode } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { logDataOf, methodsOf, SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

expectNoUnhandledRejections();

const capabilities = { elicitation: {} };

/** Pushes these numbers to the session, from that node, one after the other. */
async function push({ server }: TestNode, { id }: SessionClient, ...numbers: number[]): Promise<void> {
  for (const data of numbers) {
    const params = { level: "info", data };
    expect(await server.push.toSession(id, "notifications/message", params)).toBe(true);
  }
}

/** Resolves when a stream has got this number. */
async function got(stream: EventReply, number: number): Promise<void> {
  await until(() => logDataOf(stream.messages).includes(number));
}

const isResponse = (id: string) => (message: JsonObject) =>
  message["id"] === id && message["method"] === undefined;

function responsesIn(streams: readonly EventReply[], id: string): JsonObject[] {
  return streams.flatMap(({ messages }) => messages.filter(isResponse(id)));
}

/** Tools that wait for the test. */
function heldTools(): {
  readonly define: (server: McpServer) => void;
  readonly release: (text: string) => void;
  readonly signals: AbortSignal[];
} {
  const gate = deferred<string>();
  const signals: AbortSignal[] = [];
  const define = (server: McpServer): void => {
    server.tool("wait", {}, async (_, ctx) => {
      ctx.log("info", "began");
      signals.push(ctx.signal);
      return gate.promise;
    });
    server.tool("ask", {}, async (_, ctx) => {
      const { name } = await ctx.elicit("Who?", z.object({ name: z.string() }));
      return `It is ${name}`;
    });
  };
  return { define, release: (text) => gate.resolve(text), signals };
}

const waitCall = { name: "wait", arguments: {} };
const askCall = { name: "ask", arguments: {} };
const isQuestion = (message: JsonObject): boolean => message["method"] === "elicitation/create";
const named = (name: string): JsonObject => ({ result: { action: "accept", content: { name } } });

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);

  test("two GETs on two nodes get each message once in total, and one continues when the other closes", async () => {
    const [first, second, third] = await serveCluster(engine);
    const client = await SessionClient.open(first);
    const one = await client.get();
    const two = await clientAt(second, client).get();
    await push(third, client, 1, 2, 3);
    await got(two, 3);
    expect([logDataOf(one.messages), logDataOf(two.messages)]).toEqual([[], [1, 2, 3]]);
    await two.vanish();
    let number = 3;
    await until(async () => {
      await push(third, client, ++number);
      return logDataOf(one.messages).length > 0;
    });
    await push(first, client, ++number, ++number);
    await got(one, number);
    const later = logDataOf(one.messages);
    expect(later).toEqual(later.map((_, at) => number - later.length + 1 + at));
    one.cut();
  });

  test("what came after a client had gone is not its old stream's: a new stream on another node brings it", async () => {
    const [a, b] = await serveCluster(engine);
    const client = await SessionClient.open(a);
    const old = await client.get();
    await push(b, client, 1);
    await got(old, 1);
    // Node A does not hear of the next messages before it has seen that its client is gone.
    a.engine.hold();
    await push(b, client, 2, 3);
    await old.vanish();
    await until(() => a.stats().streams === 0);
    a.engine.release((held) => held);
    a.engine.heal();
    // The log says after all others that the stream of node A is lost.
    await push(a, client, 4);
    const fresh = await clientAt(b, client).get();
    await got(fresh, 4);
    expect(logDataOf(fresh.messages)).toEqual([2, 3, 4]);
    fresh.cut();
  });

  test("a client that comes back with an id that is not kept is told to read again, and gets what waited", async () => {
    const define = (server: McpServer): void => void server.tool("first", {}, () => "first");
    const [a, b] = await serveCluster({ ...engine, define });
    const client = await SessionClient.open(a);
    const old = await client.get();
    await push(a, client, 1);
    await got(old, 1);
    await old.vanish();
    await until(() => a.stats().streams === 0);
    await push(b, client, 2);
    const start = old.lastEventId?.split(".")[0];
    const again = await clientAt(b, client).get(`${start}.7-abc.7-abc`);
    await got(again, 2);
    expect(methodsOf(again.messages)).toEqual(["tools/list_changed", "message"]);
    again.cut();
  });

  test("a GET stream that is resumed on B while A still writes: A's connection ends, nothing is doubled", async () => {
    const [first, second, third] = await serveCluster(engine);
    const client = await SessionClient.open(first);
    const old = await client.get();
    await push(third, client, 1, 2, 3);
    await got(old, 3);
    const resumed = await clientAt(second, client).get(old.lastEventId);
    await push(first, client, 4, 5);
    await push(third, client, 6);
    await got(resumed, 6);
    await old.closed;
    expect([logDataOf(old.messages), logDataOf(resumed.messages)]).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(resumed.messages).toHaveLength(3);
    resumed.cut();
  });

  test("a POST stream that is resumed on B while A runs: A's connection ends, and the result comes once", async () => {
    const { define, release } = heldTools();
    const [first, second, third] = await serveCluster({ backplane: engine.backplane, define });
    const client = await SessionClient.open(first);
    const old = await client.start("tools/call", waitCall, "call");
    await until(() => old.lastEventId !== undefined);
    const resumed = await clientAt(second, client).get(old.lastEventId);
    await old.closed;
    const again = await clientAt(third, client).get(old.lastEventId);
    await resumed.closed;
    release("done");
    await again.message(isResponse("call"));
    await again.closed;
    expect(responsesIn([old, resumed, again], "call")).toHaveLength(1);
    const replayed = await clientAt(first, client).get(old.lastEventId);
    await replayed.closed;
    expect(responsesIn([replayed], "call")).toHaveLength(1);
  });

  test("a node that its clients cannot reach still runs their calls, and other nodes deliver", async () => {
    const { define, release } = heldTools();
    const [cut, second, third] = await serveCluster({ backplane: engine.backplane, define });
    const client = await SessionClient.open(cut);
    const call = await client.start("tools/call", waitCall, "call");
    const stream = await client.get();
    await until(() => call.lastEventId !== undefined && stream.lastEventId !== undefined);
    await call.vanish();
    await stream.vanish();
    await push(cut, client, 1, 2);
    const [resumedCall, resumedStream] = await Promise.all([
      clientAt(second, client).get(call.lastEventId),
      clientAt(third, client).get(stream.lastEventId),
    ]);
    await push(cut, client, 3);
    release("done");
    expect(await resumedCall.message(isResponse("call"))).toMatchObject({
      result: { content: [{ text: "done" }] },
    });
    await got(resumedStream, 3);
    expect(logDataOf(resumedStream.messages)).toEqual([1, 2, 3]);
    resumedStream.cut();
  });

  test("DELETE ends a call and a stream on other nodes", async () => {
    const { define, release, signals } = heldTools();
    const [first, second, third] = await serveCluster({ backplane: engine.backplane, define });
    const client = await SessionClient.open(first);
    const call = await client.start("tools/call", waitCall, "call");
    await until(() => signals.length === 1 && call.lastEventId !== undefined);
    const stream = await clientAt(second, client).get();
    expect(await clientAt(third, client).delete()).toBe(204);
    await Promise.all([call.closed, stream.closed]);
    expect(signals[0]?.aborted).toBe(true);
    release("too late");
    for (const node of [first, second, third]) {
      expect((await clientAt(node, client).get(call.lastEventId)).status).toBe(404);
      expect((await clientAt(node, client).get()).status).toBe(404);
      expect(await node.server.push.toSession(client.id, "notifications/message", {})).toBe(false);
    }
  });

  test("the same question answered on two nodes at once: both 202, and the first answer counts", async () => {
    const { define } = heldTools();
    const [first, second, third] = await serveCluster({ backplane: engine.backplane, define });
    const client = await SessionClient.open(first, { capabilities });
    const call = await client.start("tools/call", askCall, "call");
    const question = await call.message(isQuestion);
    const answers = [clientAt(second, client), clientAt(third, client)].map((elsewhere, at) =>
      elsewhere.answer(question, named(at === 0 ? "Ada" : "Bob")),
    );
    expect(await Promise.all(answers)).toEqual([202, 202]);
    await call.closed;
    const [response, ...others] = responsesIn([call], "call");
    expect(others).toEqual([]);
    expect(JSON.stringify(response)).toMatch(/It is (Ada|Bob)/);
    expect(await clientAt(second, client).answer(question, named("Eve"))).toBe(202);
  });

  test("a cancel that races the result leaves at most one response, and no stream open", async () => {
    for (let round = 0; round < 10; round++) {
      const { define, release, signals } = heldTools();
      const [first, second] = await serveCluster({ backplane: engine.backplane, define, nodes: 2 });
      const client = await SessionClient.open(first);
      const call = await client.start("tools/call", waitCall, "call");
      await until(() => signals.length === 1);
      const params = { requestId: "call" };
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params };
      const cancelling = clientAt(second, client).say(cancelled);
      if (round % 2 === 0) release("done");
      else setImmediate(() => release("done"));
      expect(await cancelling).toBe(202);
      await call.closed;
      expect(responsesIn([call], "call").length).toBeLessThanOrEqual(1);
      await until(() => first.stats().inFlight === 0);
    }
  });
});
