// Transports of one's own, as docs/custom-transports.md shows them: a message port, and a socket with stdio's framing.
import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer } from "node:net";
import { MessageChannel } from "node:worker_threads";
import { McpServer, Pipe, type Servable } from "halyard";
import { serveStdio } from "halyard/stdio";
import { protocolRevisions, type Received, TestClient, type Wire } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { readTable } from "../support/documents.ts";
import { readLines } from "../support/stdio.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("count", {}, (_, ctx) => {
    ctx.progress(1, 1);
    return "Counted";
  });
  server.tool(
    "hang",
    {},
    (_, ctx) => new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve("Gone"))),
  );
  return server;
}

/** A client at the other end of a message port. */
function overPort(server: Servable, revision: string): TestClient {
  const { port1, port2 } = new MessageChannel();
  const pipe = new Pipe(
    server,
    { write: (text) => (port1.postMessage(text), true), destroy: () => port1.close() },
    { transport: "message-port" },
  );
  port1.on("message", (text: string) => void pipe.receive(text));
  const wire: Wire = {
    onMessage: () => {},
    send: (text) => port2.postMessage(text),
    close: async () => {
      await pipe.end(1000);
      port1.close();
    },
  };
  port2.on("message", (text: string) => wire.onMessage(text));
  return new TestClient(wire, { revision });
}

/** A client at the other end of a TCP connection, framed by newlines. */
async function overSocket(server: Servable, revision: string): Promise<TestClient> {
  const listener = createServer((socket) => {
    void serveStdio(server, { input: socket, output: socket, graceMs: 1000 }).then(async ({ closed }) => {
      await closed;
      socket.end();
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const socket = connectSocket({ port: (listener.address() as AddressInfo).port, host: "127.0.0.1" });
  const wire: Wire = {
    onMessage: () => {},
    send: (text) => void socket.write(`${text}\n`),
    close: async () => {
      socket.end();
      await once(socket, "close");
      listener.close();
    },
  };
  readLines(socket, (line) => wire.onMessage(line));
  return new TestClient(wire, { revision });
}

/** What a client does that uses every pattern of its era: a call with progress, a change, a cancellation. */
async function useEverything(server: McpServer, client: TestClient): Promise<void> {
  await client.open();
  if (client.era === "modern") {
    void client
      .request("subscriptions/listen", { notifications: { toolsListChanged: true } }, "listen")
      .catch(() => {});
    await client.waitFor(isNotification("notifications/subscriptions/acknowledged"));
  }
  await client.request("tools/call", { name: "count", _meta: { progressToken: "p" } });
  server.tool("later", {}, () => "Later");
  await client.waitFor(isNotification("notifications/tools/list_changed"));
  client.send({ jsonrpc: "2.0", id: "hang", method: "tools/call", ...client.withMeta({ name: "hang" }) });
  client.notify("notifications/cancelled", { requestId: "hang" });
  await client.request("tools/list");
}

function isNotification(method: string): (message: Received) => boolean {
  return (message) => "method" in message && message.method === method;
}

const [legacy, modern] = (["legacy", "modern"] as const).map((wanted) =>
  protocolRevisions.filter(({ era }) => era === wanted).map(({ date }) => date),
);

describe.each(legacy ?? [])("a custom transport · %s", (revision) => {
  test("Pipe keeps the format and the lifecycle on a message port [CUSTOM-PRESERVE-LEGACY]", async () => {
    const server = makeServer();
    const client = overPort(server, revision);
    await expect(client.request("tools/list")).rejects.toMatchObject({ code: -32600 });
    await useEverything(server, client);
    expect(client.received.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    expect(client.received.filter((message) => "id" in message && message.id === "hang")).toEqual([]);
    await client.close();
  });
});

describe.each(modern ?? [])("a custom transport · %s", (revision) => {
  test("Pipe keeps format, patterns and per-request metadata on a message port [CUSTOM-PRESERVE-MODERN]", async () => {
    const server = makeServer();
    const client = overPort(server, revision);
    await useEverything(server, client);
    expect(client.received.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    expect(client.received.filter((message) => "id" in message && message.id === "hang")).toEqual([]);
    // What one request said of its client does not hold for the next.
    client.send({ jsonrpc: "2.0", id: "bare", method: "server/discover" });
    const answer = await client.waitFor((message) => "id" in message && message.id === "bare");
    expect(answer).toMatchObject({ error: { code: -32602 } });
    await client.close();
  });

  test("only responses and notifications come back, and a client's response is not answered [CUSTOM-DIRECTIONS]", async () => {
    const server = makeServer();
    const client = overPort(server, revision);
    await useEverything(server, client);
    const before = client.received.length;
    client.send({ jsonrpc: "2.0", id: "nobody-asked", result: {} });
    await client.request("tools/list");
    expect(client.received.slice(before)).toHaveLength(1);
    expect(client.received.filter((message) => "method" in message && "id" in message)).toEqual([]);
    await client.close();
  });
});

describe.each(protocolRevisions)("a custom transport · $date", ({ date }) => {
  test("serveStdio serves a socket with the framing of stdio [CUSTOM-STDIO-FRAMING]", async () => {
    const server = makeServer();
    const client = await overSocket(server, date);
    await useEverything(server, client);
    expect(client.notifications("notifications/progress")).toHaveLength(1);
    await client.close();
  });
});

test("docs/custom-transports.md says how connections, framing and cancellation work [CUSTOM-DOCUMENT]", () => {
  const rows = readTable("docs/custom-transports.md", "What a transport has to settle");
  expect(rows.map(({ question }) => question)).toEqual(
    expect.arrayContaining(["connection set-up", "framing", "cancellation"]),
  );
  expect(rows.flatMap((row) => Object.values(row)).filter((cell) => cell === "")).toEqual([]);
});
