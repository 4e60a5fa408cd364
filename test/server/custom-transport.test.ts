// Transports of one's own, as docs/guides/custom-transports.md and custom-exchanges.md show them: callbacks, a message port, a socket with stdio's framing.
import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer } from "node:net";
import { MessageChannel } from "node:worker_threads";
import { McpServer, type Servable } from "halyard";
import { serveStdio } from "halyard/stdio";
import { protocolRevisions, type Received, TestClient, type Wire } from "halyard/testing";
import { Pipe, portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { readTable } from "../support/documents.ts";
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
  return server;
}

interface Callbacks {
  readonly toServer: (text: string) => void;
  readonly toClient: { callback: (text: string) => void };
  readonly pipe: Pipe;
}

/** The whole of a custom transport: one callback for each direction. */
function callbackPair(server: Servable): Callbacks {
  const toClient: Callbacks["toClient"] = { callback: () => {} };
  const output = { write: (text: string) => (toClient.callback(text), true), destroy: () => {} };
  const pipe = new Pipe(portOf(server), output, { transport: "callbacks" });
  return { toServer: (text) => void pipe.receive(text), toClient, pipe };
}

async function overCallbacks(server: Servable): Promise<Wire> {
  const { toServer, toClient, pipe } = callbackPair(server);
  const wire: Wire = { onMessage: () => {}, onClose: () => {}, send: toServer, close: () => pipe.end(50) };
  toClient.callback = (text) => wire.onMessage(text);
  return wire;
}

async function overPort(server: Servable): Promise<Wire> {
  const { port1, port2 } = new MessageChannel();
  const pipe = new Pipe(
    portOf(server),
    { write: (text) => (port1.postMessage(text), true), destroy: () => port1.close() },
    { transport: "message-port" },
  );
  port1.on("message", (text: string) => void pipe.receive(text));
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => port2.postMessage(text),
    close: async () => {
      await pipe.end(50);
      port1.close();
    },
  };
  port2.on("message", (text: string) => wire.onMessage(text));
  return wire;
}

/** A server that speaks newline-framed JSON-RPC on a TCP connection, and the other end of it. */
async function overSocket(server: Servable): Promise<Wire> {
  const listener = createServer(async (socket) => {
    const { closed } = await serveStdio(server, { input: socket, output: socket, graceMs: 1000 });
    await closed;
    socket.end();
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const socket = connectSocket({ port: (listener.address() as AddressInfo).port, host: "127.0.0.1" });
  await once(socket, "connect");
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => void socket.write(`${text}\n`),
    close: async () => {
      socket.end();
      await once(socket, "close");
      listener.close();
    },
  };
  readLines(socket, (line) => wire.onMessage(line));
  return wire;
}

const carriers = [
  { carrier: "a pair of callbacks", transport: "callbacks", open: overCallbacks },
  { carrier: "a message port", transport: "message-port", open: overPort },
  { carrier: "a socket", transport: "stdio", open: overSocket },
] as const;

const cells = carriers.flatMap((carrier) =>
  protocolRevisions.map((revision) => ({ ...carrier, ...revision })),
);

function isNotification(method: string): (message: Received) => boolean {
  return (message) => "method" in message && message.method === method;
}

function answers(id: string): (message: Received) => boolean {
  return (message) => "id" in message && message.id === id;
}

describe.each(cells)("$carrier · $date", ({ date, era, transport, open }) => {
  const connect = async (server: Servable): Promise<TestClient> =>
    new TestClient(await open(server), { revision: date });

  test("keeps the format, the life cycle and the metadata of the revision [CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    const client = await connect(makeServer());
    if (era === "legacy") {
      await expect(client.request("tools/list")).rejects.toMatchObject({ code: -32600 });
      expect(await client.open()).toMatchObject({
        protocolVersion: date,
        capabilities: { tools: { listChanged: true } },
      });
    } else {
      expect(await client.request("server/discover")).toMatchObject({ resultType: "complete" });
      // What one request said of its client does not hold for the next.
      client.send({ jsonrpc: "2.0", id: "bare", method: "server/discover" });
      expect(await client.waitFor(answers("bare"))).toMatchObject({ error: { code: -32602 } });
    }
    expect(await client.request("tools/call", { name: "where" })).toMatchObject({
      content: [{ text: `${transport} ${date}` }],
    });
    client.sendText("nonsense");
    const unreadable = await client.waitFor((message) => "error" in message && message.error.code === -32700);
    expect(unreadable).toEqual({ jsonrpc: "2.0", ...unreadableId(date), error: expect.any(Object) });
    expect(client.received.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    await client.close();
  });

  test("delivers requests and notifications one way, responses and notifications the other, and nothing else [CUSTOM-DIRECTIONS]", async () => {
    const server = makeServer();
    const heard: string[] = [];
    server.onNotification((method) => void heard.push(method));
    const client = await connect(server);
    await client.open();
    client.send({
      jsonrpc: "2.0",
      id: "w",
      method: "tools/call",
      ...client.withMeta({ name: "wait", _meta: { progressToken: 7 } }),
    });
    await client.waitFor(isNotification("notifications/progress"));
    client.notify("notifications/cancelled", { requestId: "w" });
    const before = client.received.length;
    client.send({ jsonrpc: "2.0", id: 99, result: {} });
    await client.request("tools/call", { name: "where" });
    expect(client.received.slice(before)).toHaveLength(1);
    expect(heard.at(-1)).toBe("notifications/cancelled");
    await client.close();
    for (const message of client.received) expect("method" in message && "id" in message).toBe(false);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    expect(client.received.some(answers("w"))).toBe(false);
  });

  test("carries pushes: a session's or a subscription's [CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    const server = makeServer();
    const client = await connect(server);
    await client.open();
    if (era === "modern") {
      const filter = client.withMeta({ notifications: { toolsListChanged: true } });
      client.send({ jsonrpc: "2.0", id: "l", method: "subscriptions/listen", ...filter });
      await client.waitFor(isNotification("notifications/subscriptions/acknowledged"));
    } else await client.request("ping");
    server.tool("new", {}, () => "new");
    const changed = await client.waitFor(isNotification("notifications/tools/list_changed"));
    const stamp = { params: { _meta: { [metaKeys.subscriptionId]: "l" } } };
    expect(changed).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      ...(era === "modern" && stamp),
    });
    await client.close();
    await expect.poll(() => server.push.count()).toBe(0);
  });
});

describe.each(protocolRevisions)("a socket · $date", ({ date }) => {
  test("is served with the framing of stdio: one message to a line [CUSTOM-STDIO-FRAMING, CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN]", async () => {
    const client = new TestClient(await overSocket(makeServer()), { revision: date });
    await client.open();
    const calls = Array.from({ length: 20 }, () => client.request("tools/call", { name: "where" }));
    for (const call of await Promise.all(calls))
      expect(call).toMatchObject({ content: [{ text: `stdio ${date}` }] });
    await client.close();
  });
});

describe("two peers of one server", () => {
  test("share nothing: handshake, ids and sessions are each one's own", async () => {
    const server = makeServer();
    const [first, second] = [
      new TestClient(await overCallbacks(server), { revision: "2024-11-05" }),
      new TestClient(await overCallbacks(server), { revision: "2025-11-25" }),
    ];
    await Promise.all([first.open(), second.open()]);
    const where = { name: "where" };
    const [one, two] = await Promise.all([
      first.request("tools/call", where, { id: 1 }),
      second.request("tools/call", where, { id: 1 }),
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

  test("are two connections on two sockets: one's handshake is not the other's [CUSTOM-PRESERVE-LEGACY]", async () => {
    const server = makeServer();
    const client = new TestClient(await overSocket(server), { revision: "2025-06-18" });
    const other = new TestClient(await overSocket(server), { revision: newestModern });
    await client.open();
    expect(await client.request("tools/list")).toMatchObject({ tools: [{}, {}] });
    await other.open();
    other.send({ jsonrpc: "2.0", id: "plain", method: "tools/list" });
    expect(await other.waitFor(answers("plain"))).toMatchObject({ error: { code: -32600 } });
    other.send(initializeRequest("i", "2024-11-05"));
    expect(await other.waitFor(answers("i"))).toMatchObject({ result: { protocolVersion: "2024-11-05" } });
    expect(await client.request("tools/call", { name: "where" })).toMatchObject({
      content: [{ text: "stdio 2025-06-18" }],
    });
    await Promise.all([client.close(), other.close()]);
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

test("docs/guides/custom-transports.md says how connections, framing and cancellation work [CUSTOM-DOCUMENT]", () => {
  const rows = readTable("docs/guides/custom-transports.md", "What a transport has to settle");
  expect(rows.map(({ question }) => question)).toEqual(
    expect.arrayContaining(["connection set-up", "framing", "cancellation"]),
  );
  expect(rows.flatMap((row) => Object.values(row)).filter((cell) => cell === "")).toEqual([]);
});
