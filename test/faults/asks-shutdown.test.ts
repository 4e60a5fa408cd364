// The end of a server while clients are being asked and tasks run: answers that come in time count, and nothing outlasts it.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type JsonObject, McpServer } from "halyard";
import { nodeHandler } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { SseClient } from "../support/legacy-sse.ts";
import { recordingLogger } from "../support/log.ts";
import { PipePeer } from "../support/pipe.ts";
import { serve, SessionClient } from "../support/sessions.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { nextTurn, until } from "../support/turns.ts";

const capabilities = { sampling: {} };
const answer = { result: { role: "assistant", model: "m", content: { type: "text", text: "Because" } } };
const isQuestion = (message: object): boolean =>
  "method" in message && message.method === "sampling/createMessage";
const isReply = (message: object): boolean => "result" in message && "id" in message && message.id === 7;
const call = (name: string, more: object = {}): JsonObject => {
  return { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name, ...more } };
};

expectNoUnhandledRejections();

function askingServer(): { server: McpServer; failures: string[]; aborted: () => number } {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  const failures: string[] = [];
  let aborted = 0;
  const ask = async (
    _: unknown,
    ctx: { signal: AbortSignal; sample(text: string): Promise<{ text: string }> },
  ): Promise<string> => {
    ctx.signal.addEventListener("abort", () => aborted++);
    try {
      return (await ctx.sample("Why?")).text;
    } catch (error) {
      failures.push((error as Error).message);
      throw error;
    }
  };
  server.tool("ask", {}, ask);
  server.tool("long", { task: "optional" }, ask);
  server.tool("stubborn", {}, async (_, ctx) => {
    await ask(_, ctx).catch(() => {});
    return new Promise<string>(() => {});
  });
  return { server, failures, aborted: () => aborted };
}

describe("close() of an HTTP server", () => {
  /** Mounted in a server of the author's, which takes connections still. */
  async function mounted(server: McpServer): Promise<{ url: string; close: () => Promise<void> }> {
    const handler = nodeHandler(server, { graceMs: 5000, legacySse: true });
    const http = createServer(handler).listen(0, "127.0.0.1");
    await once(http, "listening");
    onTestFinished(() => void http.close());
    const { port } = http.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/mcp`, close: () => handler.close() };
  }

  test("a call over HTTP+SSE that waits for its client's answer still gets it, and new requests are refused", async () => {
    const { server } = askingServer();
    const served = await mounted(server);
    const client = await SseClient.open(served, capabilities);
    await client.say(call("ask"));
    const { id } = await client.stream.message(isQuestion);
    const closing = served.close();
    expect(await client.say({ jsonrpc: "2.0", id: 8, method: "ping" })).toBe(503);
    expect(await client.say({ jsonrpc: "2.0", id, ...answer })).toBe(202);
    expect(await client.stream.message(isReply)).toMatchObject({
      result: { content: [{ text: "Because" }] },
    });
    await closing;
    await client.stream.closed;
    expect(client.stream.messages.some((message) => message["id"] === 8)).toBe(false);
    expect(await client.say({ jsonrpc: "2.0", id, ...answer })).toBe(404);
  });

  test("questions of calls, of tasks and of the author that are not answered end with the grace period", async () => {
    const { server, failures, aborted } = askingServer();
    const served = await serve(server, { graceMs: 100, legacySse: true });
    const session = await SessionClient.open(served, { capabilities });
    const sse = await SseClient.open(served, capabilities);
    const get = await session.get();
    const calls = await Promise.all([session.call("ask"), session.call("stubborn")]);
    const task = await session.request("tools/call", { name: "long", task: {} });
    expect(task).toMatchObject({ result: { task: { status: "working" } } });
    await sse.say(call("stubborn"));
    const own = expect(server.push.ping(session.id)).rejects.toMatchObject({ code: "ASK_FAILED" });
    await Promise.all([...calls, get, sse.stream].map((stream) => stream.message(isQuestion)));
    expect(await server.push.pendingAsks()).toBe(5);
    // Each of them would wait for minutes.
    await served.close();
    await own;
    await until(() => failures.length === 3);
    // Not the task: it is no longer a matter of any connection, and its client may come back for it.
    expect(aborted()).toBe(3);
    expect(await server.push.pendingAsks()).toBe(0);
    await until(() => served.stats().inFlight <= 1);
  });
});

describe("drain() of a pipe", () => {
  test("takes answers and notifications, no requests, and end() fails what was not answered", async () => {
    const { server, failures } = askingServer();
    const peer = new PipePeer(server, { revision: "2025-11-25", capabilities });
    await peer.client.open();
    peer.client.send(call("ask"));
    const { id } = (await peer.client.waitFor(isQuestion)) as unknown as { id: string };
    peer.client.send({ ...call("ask"), id: 8 });
    await nextTurn();
    const draining = peer.pipe.drain(5000);
    peer.client.send({ jsonrpc: "2.0", id: 9, method: "ping" });
    peer.client.send({ jsonrpc: "2.0", id, ...answer });
    peer.client.notify("notifications/cancelled", { requestId: 8 });
    await draining;
    expect(peer.written.filter(isReply)).toMatchObject([{ result: { content: [{ text: "Because" }] } }]);
    expect(peer.written.some((message) => "id" in message && [8, 9].includes(message.id as number))).toBe(
      false,
    );
    expect(failures).toEqual(["sampling/createMessage: The call that asked was cancelled"]);
    await peer.pipe.end(0);
  });
});

// Where calls get 60 seconds to finish, the timeout of a test is the proof that none of them was waited for.
describe("the end of a stdio server", () => {
  const start = (args: readonly string[]): Promise<Child> =>
    startChild("stdio-asking", { of: "faults", revision: "2025-11-25", capabilities, args });
  const begin = async (graceMs: string): Promise<Child> => {
    const child = await start([graceMs]);
    child.client.send(call("ask"));
    await child.client.waitFor(isQuestion);
    return child;
  };
  const clean = { code: 0, signal: null };

  test.each(["SIGTERM", "SIGINT"] as const)(
    "at %s a call that is answered in time finishes",
    async (signal) => {
      const child = await begin("60000");
      child.process.kill(signal);
      await until(() => child.stderr().includes(signal));
      const { id } = (await child.client.waitFor(isQuestion)) as unknown as { id: string };
      child.client.send({ jsonrpc: "2.0", id, ...answer });
      expect(await child.client.waitFor(isReply)).toMatchObject({
        result: { content: [{ text: "Because" }] },
      });
      expect(await child.exited).toEqual(clean);
    },
  );

  test.each([
    ["SIGTERM", "100", "The call that asked was cancelled|can no longer be reached"],
    ["eof", "60000", "can no longer be reached"],
  ])("at %s a question that nobody answers ends in time · grace %s ms", async (how, graceMs, problem) => {
    const child = await begin(graceMs);
    if (how === "eof") child.process.stdin?.end();
    else child.process.kill("SIGTERM");
    expect(await child.exited).toEqual(clean);
    expect(child.stderr()).toMatch(new RegExp(problem));
    expect(child.stderr()).not.toContain("unhandled");
  });

  test.each([
    ["asks", "long", "true"],
    ["asks", "long", "false"],
    ["asks when nobody is there", "late", "false"],
  ])(
    "a task that %s keeps no process alive · %s · endsProcess: %s [STDIO-SHUTDOWN-EOF]",
    async (_, tool, ends) => {
      const child = await start(["60000", ends]);
      child.client.send(call(tool, { task: {} }));
      await child.client.waitFor(tool === "long" ? isQuestion : isReply);
      child.process.stdin?.end();
      expect(await child.exited).toEqual(clean);
      expect(child.stderr()).not.toContain("unhandled");
      if (tool === "late") expect(child.stderr()).toContain("asking nobody");
    },
  );
});
