// Transports that fail: one broken peer ends for itself, and harms no other.
import { PassThrough } from "node:stream";
import { McpServer } from "halyard";
import { Pipe, portOf } from "halyard/transport";
import { serveStdio } from "halyard/stdio";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { listen } from "../support/listen.ts";
import { PipePeer } from "../support/pipe.ts";
import { startChild } from "../support/child.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { nextTurn, until } from "../support/turns.ts";

expectNoUnhandledRejections();

function toolServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("first", {}, () => "first");
  return server;
}

/** A pipe whose output throws once `broken` is set. */
function breakablePipe(server: McpServer): { pipe: Pipe; state: { broken: boolean; destroyed?: string } } {
  const state: { broken: boolean; destroyed?: string } = { broken: false };
  const output = {
    write: () => {
      if (state.broken) throw new Error("The socket is closed");
      return true;
    },
    destroy: (reason: string) => {
      state.destroyed = reason;
    },
  };
  return { pipe: new Pipe(portOf(server), output, { transport: "test" }), state };
}

function initialize(pipe: Pipe): void {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  pipe.receive(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
}

describe("an output that throws", () => {
  test("while a change is announced is dropped, and the others are notified", async () => {
    const server = toolServer();
    await nextTurn();
    const before = new PipePeer(server);
    await listen(before.client, { toolsListChanged: true }, 1);
    const { pipe, state } = breakablePipe(server);
    initialize(pipe);
    await nextTurn();
    const after = new PipePeer(server);
    await listen(after.client, { toolsListChanged: true }, 1);
    state.broken = true;
    server.tool("second", {}, () => "second");
    await nextTurn();
    expect(before.client.notifications("notifications/tools/list_changed")).toHaveLength(1);
    expect(after.client.notifications("notifications/tools/list_changed")).toHaveLength(1);
    expect(state.destroyed).toBeDefined();
    for (const peer of [before, after]) await peer.pipe.end(0);
    await pipe.end(0);
  });

  test("while a reply is written ends that pipe only", async () => {
    const server = toolServer();
    const { pipe, state } = breakablePipe(server);
    initialize(pipe);
    await nextTurn();
    state.broken = true;
    pipe.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
    await nextTurn();
    expect(state.destroyed).toBeDefined();
    await pipe.end(0);
    expect(await server.push.count()).toBe(0);
  });

  test("while an acknowledgement is written leaves no subscription behind", async () => {
    const server = toolServer();
    const { pipe, state } = breakablePipe(server);
    const { client } = new PipePeer(server);
    state.broken = true;
    const params = client.withMeta({ notifications: { toolsListChanged: true } });
    pipe.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", ...params }));
    await nextTurn();
    await pipe.end(0);
    expect(await server.push.count()).toBe(0);
  });
});

describe("streams that fail", () => {
  test.each([
    ["the input fails", (input: PassThrough) => input.destroy(new Error("EIO"))],
    ["the input is destroyed", (input: PassThrough) => input.destroy()],
    ["the output fails", (_: PassThrough, output: PassThrough) => output.destroy(new Error("EPIPE"))],
    ["the output is destroyed", (_: PassThrough, output: PassThrough) => output.destroy()],
  ])("the server ends when %s", async (_, fail) => {
    const server = toolServer();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const stdio = await serveStdio(server, { input, output, graceMs: 10 });
    initializeOn(input);
    await until(async () => (await server.push.count()) === 1);
    fail(input, output);
    await stdio.closed;
    expect(await server.push.count()).toBe(0);
  });

  test("closing twice, or after the end, is the same as closing once", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const stdio = await serveStdio(toolServer(), { input, output });
    await Promise.all([stdio.close(), stdio.close()]);
    await stdio.close();
    input.end();
    await stdio.closed;
  });
});

function initializeOn(input: PassThrough): void {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
}

describe("a client that dies", () => {
  test("ends the server, which neither crashes nor complains", async () => {
    const child = await startChild("server", { args: ["100"], revision: "2025-11-25" });
    // The end of the pipe that the client reads from is gone; its input is still open.
    child.process.stdout?.destroy();
    const params = { name: "big", arguments: { bytes: 300_000 } };
    child.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    child.client.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.stderr()).not.toMatch(/unhandled|EPIPE|TypeError|at .*\.js:/i);
  });

  test("in the middle of a line leaves nothing behind", async () => {
    const child = await startChild("server");
    child.process.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/');
    child.process.stdin?.destroy();
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(child.stderr()).not.toMatch(/unhandled/i);
  });
});
