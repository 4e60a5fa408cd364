// The end of a server under load: every call that was taken is answered, everything else is refused, nothing stays open.
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { nodeHandler, serveHttp } from "halyard/node";
import { describe, expect, test } from "vitest";
import type { EventReply } from "../support/event-reply.ts";
import { runFixture } from "../support/fixture.ts";
import { recordingLogger } from "../support/log.ts";
import { modernRequest, newestModern } from "../support/raw.ts";
import { openRaw } from "../support/raw-socket.ts";
import { edges, initialize, listenOver, sendModern, serve, SessionClient } from "../support/sessions.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

function makeServer(): { server: McpServer; release: () => void; running: () => number } {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  const gate = deferred();
  let running = 0;
  server.tool("held", { input: { type: "object" } }, async (args) => {
    running++;
    await gate.promise;
    return JSON.stringify(args);
  });
  return { server, release: () => gate.resolve(), running: () => running };
}

describe("close() of serveHttp while a request is on its way", () => {
  const body = JSON.stringify(modernRequest(1, "tools/call", { name: "hello" }));
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `MCP-Protocol-Version: ${newestModern}`,
    "Mcp-Method: tools/call",
    "Mcp-Name: hello",
    `Content-Length: ${body.length}`,
    "",
    "",
  ].join("\r\n");

  test.each([
    ["has been connected", "", head + body],
    ["has sent its headers", head, body],
    ["has sent half of it", head + body.slice(0, 20), body.slice(20)],
  ])("a caller that %s is answered, for it could not know", async (_, before, after) => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    server.tool("hello", {}, () => "Hello");
    const http = await serveHttp(server, { port: 0 });
    const raw = openRaw(http.port);
    raw.socket.write(before);
    await once(raw.socket, "connect");
    // A connection is there for the server a moment after it is for the client.
    await until(async () => before === "" || http.stats().inFlight === 1);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    const closing = http.close();
    await nextTurn();
    expect(await raw.request(after)).toMatch(/^HTTP\/1.1 200 [^]*Hello/);
    await closing;
  });

  test("a caller that is connected and says nothing does not hold it up", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const http = await serveHttp(server, { port: 0, graceMs: 60_000 });
    const raw = openRaw(http.port);
    await once(raw.socket, "connect");
    await http.close();
  });
});

describe.each(edges)("close() under load · %s", (edge) => {
  test("200 calls that run are all answered, listen streams get their closing result, GET streams end [INIT-SHUTDOWN-HTTP, SUB-GRACEFUL-RESULT]", async () => {
    const { server, release, running } = makeServer();
    const served = await serve(server, { graceMs: 5000 }, edge);
    const client = await SessionClient.open(served);
    const stream = await client.get();
    const listening = await Promise.all(
      [1, 2, 3].map((id) => listenOver(served.url, { toolsListChanged: true }, { id })),
    );
    const calls = Array.from({ length: 200 }, (_, at) => {
      const params = { name: "held", arguments: { at } };
      return at % 2 === 0
        ? client.start("tools/call", params, at)
        : sendModern(served.url, "tools/call", params, { id: at });
    });
    await until(() => running() === 200);
    const closing = served.close();
    await Promise.all(listening.map(({ closed }) => closed));
    const refused = await initialize(served.url).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect([503, "ECONNREFUSED"]).toContain(refused);
    release();
    const replies = await Promise.all(calls);
    for (const [at, reply] of replies.entries()) {
      expect(await reply.json()).toMatchObject({
        id: at,
        result: { content: [{ text: JSON.stringify({ at }) }] },
      });
    }
    await closing;
    await stream.closed;
    expect(stream.end).toBe("complete");
    // No message says so: closing the connection is the end.
    expect(stream.messages).toEqual([]);
    for (const [at, { messages, end }] of listening.entries()) {
      expect(end).toBe("complete");
      expect(messages.at(-1)).toMatchObject({ id: at + 1, result: { resultType: "complete" } });
    }
    expect(served.stats()).toMatchObject({
      sessions: 0,
      streams: 0,
      subscriptions: 0,
      inFlight: 0,
      timers: 0,
    });
    expect(await server.push.count()).toBe(0);
  });
});

describe("close()", () => {
  test("a request on a connection that is still open is 503 with Retry-After", async () => {
    const { server, release, running } = makeServer();
    const served = await serve(server, { graceMs: 2000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (): Promise<{ status: number | undefined; retry: unknown }> =>
      new Promise((resolve, reject) => {
        const asked = request(served.url, { method: "GET", agent }, (response) => {
          response
            .resume()
            .on("end", () =>
              resolve({ status: response.statusCode, retry: response.headers["retry-after"] }),
            );
        });
        asked.on("error", reject).end();
      });
    const held = sendModern(served.url, "tools/call", { name: "held", arguments: {} });
    await until(() => running() === 1);
    // The connection is made before the server closes, and is busy when it does.
    const client = await SessionClient.open(served);
    const stream = await client.get();
    const before = ask();
    await before;
    const racing = ask();
    const closing = served.close();
    const outcome = await racing.catch((error: NodeJS.ErrnoException) => error.code);
    if (typeof outcome === "object") expect([503, 400]).toContain(outcome.status);
    else expect(["ECONNRESET", "ECONNREFUSED"]).toContain(outcome);
    release();
    await held;
    await closing;
    await stream.closed;
    agent.destroy();
  });

  test("a call that waits for its client's answer still gets it, where new connections are taken", async () => {
    const { server } = makeServer();
    server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.ask("roots/list")));
    const handler = nodeHandler(server, { graceMs: 5000 });
    const http = createServer(handler).listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const served = { url: `http://127.0.0.1:${port}/mcp` };
    const client = await SessionClient.open(served, { capabilities: { roots: {} } });
    const call = await client.call("ask");
    const question = await call.message((message) => message["method"] === "roots/list");
    const closing = handler.close();
    expect((await client.start("ping")).status).toBe(503);
    expect(await client.answer(question, { result: { roots: [] } })).toBe(202);
    await call.message((message) => "result" in message);
    await closing;
    http.close();
  });

  test("a large reply reaches a reader that is slow to take it", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    const large = "x".repeat(8 * 1024 * 1024);
    server.tool("large", {}, () => large);
    const served = await serve(server, { graceMs: 5000 });
    const reply: EventReply = await sendModern(served.url, "tools/call", { name: "large", arguments: {} });
    reply.stall();
    const closing = served.close();
    setTimeout(() => reply.proceed(), 50);
    expect((await reply.text()).length).toBeGreaterThan(large.length);
    await closing;
  });

  test("a call that does not end in time is cut off after the grace period, and its signal aborts", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
    const [began, aborted] = [deferred(), deferred()];
    server.tool("endless", {}, async (_, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted.resolve());
      began.resolve();
      return new Promise<string>(() => {});
    });
    const served = await serve(server, { graceMs: 30 });
    const call = sendModern(served.url, "tools/call", { name: "endless", arguments: {} }).catch(
      (error: Error) => error,
    );
    await began.promise;
    await served.close();
    await aborted.promise;
    expect(await call).toBeInstanceOf(Error);
  });

  test("leaves no timer and no socket in the process, and is quick where nothing runs long", async () => {
    const report = await runFixture<{ resources: string[]; text: string; failure: string }>("drain");
    expect(report.resources).toEqual([]);
    expect(report.text).toContain('"done"');
    expect(report.failure).toContain("can no longer be reached");
  });
});
