// Servers of 2024-11-05 over HTTP+SSE: a stream that names the URL for messages, and messages to that URL alone.
import { McpServer } from "halyard";
import { type AuthRequest, connect, ConnectionLost, type HeaderFields, HttpFailure } from "halyard/client";
import { serveHttp } from "halyard/node";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { type Asked, event, failing, HttpScript, logged, quick } from "../../support/http-script.ts";
import { holdClocks } from "../../support/clock.ts";
import { nextTurn, until } from "../../support/turns.ts";

afterEach(() => void vi.useRealTimers());

const oldest = "2024-11-05";
const initialized = {
  protocolVersion: oldest,
  capabilities: { tools: {}, logging: {} },
  serverInfo: { name: "old", version: "1" },
};

interface OldServer {
  readonly server: HttpScript;
  /** The stream of the newest client. */
  readonly stream: () => Asked;
  /** Writes a message to it. */
  say(message: object): void;
}

/** A server that knows only the older transport. */
async function oldServer(endpoint = "/messages?sessionId=1"): Promise<OldServer> {
  const server = await HttpScript.open(oldest);
  const stream = (): Asked => server.of("GET").at(-1) as Asked;
  const say = (message: object): void => void stream().response.write(event(message, { type: "message" }));
  const answer =
    (result: object) =>
    ({ path, message, refuse }: Asked): void => {
      if (path === "/sse") return refuse(405);
      refuse(202, "Accepted");
      say({ jsonrpc: "2.0", id: message.id, result });
    };
  server.on("server/discover", ({ refuse }) => refuse(405));
  server.on("initialize", answer(initialized));
  server.on("logging/setLevel", answer({}));
  server.on("work", answer({ a: 1 }));
  server.on("GET", (asked) => asked.stream()(`event: endpoint\ndata: ${endpoint}\n\n`));
  return { server, stream, say };
}

async function open(old: OldServer, options: Parameters<typeof connect>[1] = {}): ReturnType<typeof connect> {
  const client = await connect(`${old.server.origin}/sse`, { backoff: quick, ...options });
  onTestFinished(() => client.close());
  return client;
}

test("connect finds the older transport by itself, and posts all messages to the URL that the stream names [SSE24-POST-ONLY, HTTP-BACKCOMPAT-CLIENT, HTTP-BACKCOMPAT-CLIENT-4XX, HTTP26-ERA-HTTPSSE]", async () => {
  const old = await oldServer();
  const logs: unknown[] = [];
  const client = await open(old, {
    auth: "token",
    headers: { "X-Team": "a" },
    onLog: ({ data }) => logs.push(data),
  });
  expect(client.revision).toBe(oldest);
  expect(await client.request("work")).toEqual({ a: 1 });
  old.say(logged("pushed"));
  await until(() => logs.length === 1);
  const posts = old.server.asked.filter(({ path, method }) => path !== "/sse" && method === "POST");
  expect(posts.map(({ message }) => message.method)).toEqual(
    expect.arrayContaining(["initialize", "notifications/initialized", "work"]),
  );
  for (const { path, headers, message } of posts) {
    expect(path).toBe("/messages?sessionId=1");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
      "x-team": "a",
    });
    expect(message).not.toBeInstanceOf(Array);
  }
  expect(old.stream().headers).toMatchObject({ accept: "text/event-stream", authorization: "Bearer token" });
});

test("an object that obtains credentials hears of the URL for messages, and of the address that was dialled", async () => {
  const old = await oldServer();
  const asked: AuthRequest[] = [];
  const headers = (request: AuthRequest): HeaderFields => {
    asked.push(request);
    return {};
  };
  const client = await open(old, { auth: { headers } });
  asked.length = 0;
  await client.request("work");
  const { origin } = old.server;
  expect(asked).toContainEqual({
    url: `${origin}/messages?sessionId=1`,
    method: "POST",
    server: `${origin}/sse`,
  });
});

test("our own server offers it", async () => {
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  server.tool("hello", {}, () => "Hello");
  const http = await serveHttp(server, { port: 0, legacySse: true, graceMs: 50 });
  onTestFinished(() => http.close());
  const client = await connect(http.url.replace("/mcp", "/sse"), { backoff: quick });
  onTestFinished(() => client.close());
  expect((await client.callTool("hello")).content).toEqual([{ type: "text", text: "Hello" }]);
});

test.each(["http://evil.example/messages", "//evil.example/messages", "http://[", "file:///etc/passwd"])(
  "the URL for messages must be of the same origin, not %s",
  async (endpoint) => {
    const old = await oldServer(endpoint);
    const error = await failing(
      connect(`${old.server.origin}/sse`, { revision: oldest, backoff: quick, auth: "token" }),
    );
    expect(error).toBeInstanceOf(HttpFailure);
    expect(old.server.asked.every(({ path }) => path === "/sse")).toBe(true);
  },
);

test("a stream that names no URL is not the older transport", async () => {
  const old = await oldServer();
  old.server.on("GET", ({ stream, response }) => {
    stream()(event({ jsonrpc: "2.0", method: "notifications/x" }));
    response.end();
  });
  expect(
    await failing(connect(`${old.server.origin}/sse`, { revision: oldest, backoff: quick })),
  ).toBeInstanceOf(HttpFailure);
});

test("a stream that names its URL never is closed when connecting takes too long", async () => {
  const old = await oldServer();
  old.server.on("GET", ({ stream }) => void stream());
  const connecting = failing(
    connect(`${old.server.origin}/sse`, { revision: oldest, backoff: quick, connectTimeoutMs: 300 }),
  );
  const { response } = await old.server.next("GET");
  expect(await connecting).toMatchObject({ code: "TIMEOUT", limit: "connectTimeoutMs" });
  await until(() => response.destroyed);
});

test("a lost stream fails the requests that wait, and the client connects again", async () => {
  const old = await oldServer();
  const client = await open(old);
  old.server.on("slow", ({ refuse }) => refuse(202));
  const waiting = failing(client.request("slow"));
  await old.server.next("slow");
  old.stream().response.end();
  const error = await waiting;
  expect(error).toBeInstanceOf(ConnectionLost);
  expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
  expect(await client.request("work")).toEqual({ a: 1 });
  expect(old.server.of("GET").length).toBeGreaterThan(1);
});

test("closing the client closes its stream, and the process keeps no connection [INIT-SHUTDOWN-HTTP]", async () => {
  const old = await oldServer();
  const client = await open(old);
  const { response } = old.stream();
  await client.close();
  await until(() => response.destroyed && old.server.sockets.size === 0);
});

test.each<[string, boolean, (asked: Asked) => void]>([
  ["that breaks after it arrived may have run", true, ({ socket }) => socket.destroy()],
  ["that a gateway lost may have run", true, ({ refuse }) => refuse(503)],
  ["of a session that the server does not know has not run", false, ({ refuse }) => refuse(404)],
])("a message %s", async (_, mayHaveRun, answer) => {
  const old = await oldServer();
  const client = await open(old);
  old.server.on("pay", answer);
  expect(await failing(client.request("pay"))).toMatchObject({ code: "CONNECTION_LOST", mayHaveRun });
  if (mayHaveRun) expect(old.server.of("pay")).toHaveLength(1);
  expect(await client.request("work")).toEqual({ a: 1 });
});

test.each([302, 400, 408, 409, 413, 500])(
  "a message that is answered with %i is sent once, and others continue waiting",
  async (status) => {
    const old = await oldServer();
    const client = await open(old);
    old.server.on("slow", ({ refuse }) => refuse(202));
    const slow = client.request("slow");
    const { message } = await old.server.next("slow");
    old.server.on("pay", ({ refuse }) => refuse(status, "", { location: "http://127.0.0.1:1/" }));
    const error = await failing(client.request("pay"));
    expect(error).toBeInstanceOf(HttpFailure);
    expect(error).toMatchObject({ status });
    expect(old.server.of("pay")).toHaveLength(1);
    old.say({ jsonrpc: "2.0", id: message.id, result: { a: 2 } });
    expect(await slow).toEqual({ a: 2 });
    expect(old.server.of("GET")).toHaveLength(1);
  },
);

test.each([429, 503])("a message that is refused with %i for now is sent again", async (status) => {
  const old = await oldServer();
  const client = await open(old);
  old.server.on("pay", ({ refuse, message }) => {
    if (old.server.of("pay").length < 3) return refuse(status, "", { "retry-after": "0" });
    refuse(202);
    old.say({ jsonrpc: "2.0", id: message.id, result: { a: 1 } });
  });
  expect(await client.request("pay")).toEqual({ a: 1 });
  expect(old.server.of("GET")).toHaveLength(1);
});

test("a message that the server has, and whose stream is given up after a sleep, may have run", async () => {
  holdClocks("setTimeout", "clearTimeout");
  const old = await oldServer();
  const client = await open(old, { connectTimeoutMs: 1e9, timeoutMs: 1e9, maxTimeMs: 1e9 });
  old.server.on("pay", () => {});
  const paying = failing(client.request("pay"));
  while (old.server.of("pay").length === 0) await nextTurn();
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(15_000);
  while (old.server.of("GET").length < 2) {
    vi.advanceTimersByTime(10);
    await nextTurn();
  }
  expect(await paying).toMatchObject({ reason: "cut", mayHaveRun: true });
  expect(old.server.of("pay")).toHaveLength(1);
});
