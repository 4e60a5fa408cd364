// A transport of one's own: a Pipe between two callbacks, and stdio's framing on a socket.
import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { McpServer, Pipe } from "halyard";
import { serveStdio } from "halyard/stdio";
import { protocolRevisions, TestClient, type Wire } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { initializeRequest, metaKeys, modernRequest, newestModern, unreadableId } from "../support/raw.ts";
import { readLines } from "../support/stdio.ts";
import { nextTurn } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("where", {}, (_, ctx) => `${ctx.transport} ${ctx.revision}`);
  server.tool("wait", {}, async (_, ctx) => {
    ctx.progress(1);
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    return "over";
  });
  server.resource("test://a", {}, () => "a");
  return server;
}

/** The whole of a custom transport: one callback for each direction. */
function callbackPair(server: McpServer): {
  toServer: (text: string) => void;
  toClient: { callback: (text: string) => void };
  pipe: Pipe;
} {
  const toClient: { callback: (text: string) => void } = { callback: () => {} };
  const output = { write: (text: string) => (toClient.callback(text), true), destroy: () => {} };
  const pipe = new Pipe(server, output, { transport: "callbacks" });
  return { toServer: (text) => void pipe.receive(text), toClient, pipe };
}

function connectPair(server: McpServer, revision: string): TestClient {
  const { toServer, toClient, pipe } = callbackPair(server);
  const wire: Wire = { onMessage: () => {}, send: toServer, close: () => pipe.end(50) };
  toClient.callback = (text) => wire.onMessage(text);
  return new TestClient(wire, { revision });
}

describe.each(protocolRevisions)("a pair of callbacks · $date", ({ date, era }) => {
  test("keeps the format, the life cycle and the metadata of the revision [CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    const client = connectPair(makeServer(), date);
    if (era === "legacy") {
      await expect(client.request("tools/list")).rejects.toMatchObject({ code: -32600 });
      expect(await client.open()).toMatchObject({
        protocolVersion: date,
        capabilities: { tools: { listChanged: true } },
      });
    } else {
      client.send({ jsonrpc: "2.0", id: "bare", method: "server/discover" });
      expect(await client.waitFor((message) => "id" in message && message.id === "bare")).toMatchObject({
        error: { code: -32602 },
      });
      expect(await client.request("server/discover")).toMatchObject({ resultType: "complete" });
    }
    expect(await client.request("tools/call", { name: "where" })).toMatchObject({
      content: [{ text: `callbacks ${date}` }],
    });
    client.sendText("nonsense");
    const unreadable = await client.waitFor((message) => "error" in message && message.error.code === -32700);
    expect(unreadable).toEqual({ jsonrpc: "2.0", ...unreadableId(date), error: expect.any(Object) });
    await client.close();
  });

  test("delivers requests and notifications one way, responses and notifications the other, and nothing else [CUSTOM-DIRECTIONS]", async () => {
    const server = makeServer();
    const heard: string[] = [];
    server.onNotification((method) => void heard.push(method));
    const client = connectPair(server, date);
    await client.open();
    client.send({
      jsonrpc: "2.0",
      id: "w",
      method: "tools/call",
      ...client.withMeta({ name: "wait", _meta: { progressToken: 7 } }),
    });
    await client.waitFor((message) => "method" in message && message.method === "notifications/progress");
    client.notify("notifications/cancelled", { requestId: "w" });
    client.send({ jsonrpc: "2.0", id: 99, result: {} });
    await client.request("tools/call", { name: "where" });
    expect(heard.at(-1)).toBe("notifications/cancelled");
    await client.close();
    for (const message of client.received) expect("method" in message && "id" in message).toBe(false);
    expect(client.received.some((message) => "id" in message && message.id === "w")).toBe(false);
  });

  test("carries pushes: a session's or a subscription's [CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    const server = makeServer();
    const client = connectPair(server, date);
    await client.open();
    if (era === "modern")
      client.send(modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    else await client.request("ping");
    await new Promise((resolve) => setImmediate(resolve));
    server.tool("new", {}, () => "new");
    const changed = await client.waitFor(
      (message) => "method" in message && message.method === "notifications/tools/list_changed",
    );
    const stamp = { params: { _meta: { [metaKeys.subscriptionId]: "l" } } };
    expect(changed).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      ...(era === "modern" && stamp),
    });
    await client.close();
    expect(await server.push.count()).toBe(0);
  });
});

describe("two pairs of callbacks on one server", () => {
  test("share nothing: handshake, ids and sessions are each one's own", async () => {
    const server = makeServer();
    const [first, second] = [connectPair(server, "2024-11-05"), connectPair(server, "2025-11-25")];
    await Promise.all([first.open(), second.open()]);
    const where = { name: "where" };
    const [one, two] = await Promise.all([
      first.request("tools/call", where, 1),
      second.request("tools/call", where, 1),
    ]);
    expect([one, two]).toMatchObject([
      { content: [{ text: "callbacks 2024-11-05" }] },
      { content: [{ text: "callbacks 2025-11-25" }] },
    ]);
    const sessions = await server.push.sessions();
    expect(new Set(sessions).size).toBe(2);
    await server.push.toSession(sessions[0] ?? "", "notifications/message", { level: "info", data: "one" });
    expect([first, second].map((client) => client.notifications("notifications/message").length)).toEqual([
      1, 0,
    ]);
    await first.close();
    await second.request("ping");
    expect(await server.push.sessions()).toHaveLength(1);
    await second.close();
  });
});

describe("the end of a pipe", () => {
  test("nothing is taken after it, and what still runs is cancelled", async () => {
    const written: string[] = [];
    const { toServer, toClient, pipe } = callbackPair(makeServer());
    toClient.callback = (text) => void written.push(text);
    toServer(JSON.stringify(modernRequest(1, "tools/call", { name: "wait" })));
    await pipe.end(1);
    expect(pipe.receive(JSON.stringify(modernRequest(2, "tools/list")))).toBe(false);
    await nextTurn();
    expect(written).toEqual([]);
  });
});

/** A server that speaks newline-framed JSON-RPC on every connection, and a client that does so too. */
async function overSocket<T>(
  server: McpServer,
  revision: string,
  body: (client: TestClient, socket: Socket) => Promise<T>,
): Promise<T> {
  const listening = createServer(
    (socket) => void serveStdio(server, { input: socket, output: socket, graceMs: 100 }),
  );
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const address = listening.address();
  const socket = createConnection({
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    host: "127.0.0.1",
  });
  await once(socket, "connect");
  const wire: Wire = {
    onMessage: () => {},
    send: (text) => void socket.write(`${text}\n`),
    close: async () => void socket.destroy(),
  };
  readLines(socket, (line) => wire.onMessage(line));
  const client = new TestClient(wire, { revision });
  try {
    await client.open();
    return await body(client, socket);
  } finally {
    socket.destroy();
    listening.close();
  }
}

describe.each(protocolRevisions)("a socket · $date", ({ date }) => {
  test("is served with the framing of stdio: one message to a line [CUSTOM-STDIO-FRAMING, CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    await overSocket(makeServer(), date, async (client) => {
      const calls = Array.from({ length: 20 }, () => client.request("tools/call", { name: "where" }));
      for (const call of await Promise.all(calls))
        expect(call).toMatchObject({ content: [{ text: `stdio ${date}` }] });
    });
  });
});

describe("two sockets", () => {
  test("are two connections: one's handshake is not the other's [CUSTOM-PRESERVE-LEGACY]", async () => {
    const server = makeServer();
    await overSocket(server, "2025-06-18", async (client) => {
      expect(await client.request("tools/list")).toMatchObject({ tools: [{}, {}] });
      await overSocket(server, newestModern, async (other) => {
        other.send({ jsonrpc: "2.0", id: "plain", method: "tools/list" });
        const answer = await other.waitFor((message) => "id" in message && message.id === "plain");
        expect(answer).toMatchObject({ error: { code: -32600 } });
        other.send(initializeRequest("i", "2024-11-05"));
        expect(await other.waitFor((message) => "id" in message && message.id === "i")).toMatchObject({
          result: { protocolVersion: "2024-11-05" },
        });
      });
      expect(await client.request("tools/call", { name: "where" })).toMatchObject({
        content: [{ text: "stdio 2025-06-18" }],
      });
    });
  });
});
