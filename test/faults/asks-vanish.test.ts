// A client vanishes while a handler asks it: the handler gets an error soon, and nothing keeps waiting.
import { request } from "node:http";
import { type JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { describe, expect, test } from "vitest";
import { isServed } from "../support/connections.ts";
import { defined, post } from "../support/http.ts";
import { recordingLogger } from "../support/log.ts";
import { SseClient } from "../support/legacy-sse.ts";
import { describeMatrix, pipes } from "../support/matrix.ts";
import { PipePeer } from "../support/pipe.ts";
import { type Edge, edges, serve, type Served, SessionClient } from "../support/sessions.ts";
import { type Deferred, deferred, until } from "../support/turns.ts";

const capabilities = { sampling: {} };
const lost = "sampling/createMessage: The client can no longer be reached";

interface Asking {
  readonly server: McpServer;
  /** How each question ended. */
  readonly outcomes: string[];
  /** Lets `late` ask, which waits for it. */
  readonly gate: Deferred<void>;
  readonly began: Deferred<void>;
}

/** `ask` asks the client's model at once, `late` when the gate opens. */
function askingServer(): Asking {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  const outcomes: string[] = [];
  const [gate, began] = [deferred(), deferred()];
  const ask = async (sample: Promise<{ text: string }>): Promise<string> => {
    const outcome = await sample.then(
      ({ text }) => text,
      (error: Error) => error.message,
    );
    outcomes.push(outcome);
    return outcome;
  };
  server.tool("ask", {}, (_, ctx) => ask(ctx.sample("Why?")));
  server.tool("late", {}, async (_, ctx) => {
    began.resolve();
    await gate.promise;
    return ask(ctx.sample("Why?"));
  });
  return { server, outcomes, gate, began };
}

const isQuestion = (message: object): boolean =>
  "method" in message && message.method === "sampling/createMessage";

const answer = { role: "assistant", model: "m", content: { type: "text", text: "Because" } };

/** The question ends for want of a client, and not after the minutes that an answer may take. */
async function expectLost(asking: Asking, vanish: () => Promise<unknown> | void): Promise<void> {
  void vanish();
  await until(() => asking.outcomes.length === 1);
  expect(asking.outcomes).toEqual([lost]);
  expect(await asking.server.push.pendingAsks()).toBe(0);
}

describeMatrix("a client that vanishes", { eras: ["legacy"], transports: pipes }, (cell) => {
  test("while it is asked fails the question soon", async () => {
    const asking = askingServer();
    const client = await cell.connect(asking.server, { capabilities });
    client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask" } });
    await client.waitFor(isQuestion);
    await expectLost(asking, () => client.close());
  });

  test("before it is asked fails the question at once, though its call may still finish", async () => {
    const asking = askingServer();
    const client = await cell.connect(asking.server, { capabilities });
    client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "late" } });
    await asking.began.promise;
    const closed = client.close();
    await expectLost(asking, () => asking.gate.resolve());
    await closed;
  });
});

async function open(
  options: HttpOptions = {},
  edge: Edge = "serveHttp",
): Promise<Asking & { served: Served; client: SessionClient }> {
  const asking = askingServer();
  const served = await serve(asking.server, options, edge);
  return { ...asking, served, client: await SessionClient.open(served, { capabilities }) };
}

describe("a client that vanishes over HTTP", () => {
  test("from a stream of HTTP+SSE while it is asked fails the question soon", async () => {
    const asking = await open({ legacySse: true });
    const client = await SseClient.open(asking.served, capabilities);
    await client.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask" } });
    await client.stream.message(isQuestion);
    await expectLost(asking, () => client.stream.cut());
  });

  test.each(edges)(
    "before the handler asks, where the stream was never opened, fails the question after the resume window · %s",
    async (edge) => {
      const asking = await open({ resumeWindowMs: 1 }, edge);
      const { client } = asking;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "late" } });
      const headers = defined(post(body, client.headers()).headers);
      const call = request(client.url, { method: "POST", headers, agent: false });
      call.on("error", () => {});
      call.end(body);
      await asking.began.promise;
      const port = call.socket?.localPort ?? 0;
      expect(isServed(port)).toBe(true);
      call.destroy();
      await until(() => !isServed(port));
      await expectLost(asking, () => asking.gate.resolve());
    },
  );

  test.each([
    ["the stream of the call", {}, "call"],
    ["the GET stream, where the call takes no events", { accept: "application/json" }, "get"],
  ] as const)(
    "from %s fails the question past the resume window, which may be short",
    async (_, headers, place) => {
      const asking = await open({ resumeWindowMs: 1 });
      const { client } = asking;
      const get = await client.get();
      const params = { name: "ask", arguments: {} };
      const call = client.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
      const stream = place === "get" ? get : await call;
      await stream.message(isQuestion);
      await expectLost(asking, () => stream.cut());
      if (place === "get") expect(await (await call).json()).toMatchObject({ result: {} });
    },
  );

  test.each([
    ["the stream of the call", {}, "call"],
    ["the GET stream, where the call takes no events", { accept: "application/json" }, "get"],
  ] as const)("and comes back to %s within the resume window is heard", async (_, headers, place) => {
    const { client, outcomes } = await open();
    const get = await client.get();
    const params = { name: "ask", arguments: {} };
    const call = client.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
    const stream = place === "get" ? get : await call;
    const question = await stream.message(isQuestion);
    stream.cut();
    await stream.closed;
    const resumed = await client.get(stream.events[0]?.id);
    expect(await resumed.message(isQuestion)).toEqual(question);
    expect(await client.answer(question, { result: answer })).toBe(202);
    await until(() => outcomes.length === 1);
    expect(outcomes).toEqual(["Because"]);
    const isReply = (message: JsonObject): boolean => message["id"] === 1 && "result" in message;
    if (place === "call") await resumed.message(isReply);
    else expect(isReply(await (await call).json())).toBe(true);
  });

  test("300 at once, each asked on a socket of its own, leave nothing behind", async () => {
    const asking = await open({ resumeWindowMs: 1 });
    const { client, outcomes, served, server } = asking;
    const calls = await Promise.all(Array.from({ length: 300 }, () => client.call("ask")));
    await Promise.all(calls.map((call) => call.message(isQuestion)));
    expect(await server.push.pendingAsks()).toBe(300);
    for (const call of calls) call.cut();
    await until(() => outcomes.length === 300);
    expect(new Set(outcomes)).toEqual(new Set([lost]));
    expect(await server.push.pendingAsks()).toBe(0);
    await until(() => served.stats().inFlight === 0);
  });
});

describe("a client that does not read", () => {
  test("and does not answer fails the question in time, and may answer others once it reads", async () => {
    const { server } = askingServer();
    const peer = new PipePeer(server, { revision: "2025-11-25", capabilities });
    await peer.client.open();
    await until(async () => (await server.push.sessions()).length === 1);
    const [session = ""] = await server.push.sessions();
    peer.slow = true;
    const asked = server.push.request(session, "roots/list", {}, { timeoutMs: 30 });
    await expect(asked).rejects.toMatchObject({ message: "roots/list: No answer within 30 ms" });
    expect(await server.push.pendingAsks()).toBe(0);
    peer.drain();
    peer.onWrite = (message) => {
      if ("method" in message && message.method === "ping") {
        const { id } = message as unknown as { id: string };
        queueMicrotask(() => peer.client.send({ jsonrpc: "2.0", id, result: {} }));
      }
    };
    await server.push.ping(session);
    await peer.pipe.end(0);
  });
});
