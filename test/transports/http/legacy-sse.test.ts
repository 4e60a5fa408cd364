// The HTTP+SSE transport of 2024-11-05, beside the endpoint.
import type { JsonObject } from "halyard";
import { afterEach, expect, test, vi } from "vitest";
import { holdTime } from "../../support/clock.ts";
import { describeEdges, type HttpEdge, post } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { httpServer, ping, toolCall } from "../../support/http-server.ts";
import { type Answer, initializeRequest } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface SseClient {
  readonly stream: HttpReply;
  readonly endpoint: string;
  say(message: JsonObject): Promise<number>;
  /** What came in events of the type `message`. */
  messages(): Answer[];
}

/** Connects as a client of that transport does, with the handshake. */
async function connect(edge: HttpEdge, ssePath = "/sse"): Promise<SseClient> {
  const stream = await edge.send({ method: "GET", path: ssePath, headers: { accept: "text/event-stream" } });
  expect(stream).toMatchObject({ status: 200, type: "text/event-stream" });
  await until(() => stream.events.length > 0, Number.POSITIVE_INFINITY);
  const endpoint = stream.events[0]?.data ?? "";
  const client: SseClient = {
    stream,
    endpoint,
    say: async (message) => (await (await edge.send({ ...post(message), path: endpoint })).complete()).status,
    messages: () =>
      stream.events
        .filter(({ event }) => event === "message")
        .map(({ data }) => JSON.parse(data ?? "") as Answer),
  };
  await client.say(initializeRequest("init", "2024-11-05"));
  await client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
  await until(() => client.messages().length === 1, Number.POSITIVE_INFINITY);
  return client;
}

/** The texts that are parsed from now on, but for those that the tests parse themselves. */
function parsedOutsideTests(): string[] {
  const texts: string[] = [];
  const parse = JSON.parse.bind(JSON);
  vi.spyOn(JSON, "parse").mockImplementation((text: string, reviver) => {
    const frames = (new Error("who parses").stack ?? "").split("\n").slice(1);
    const caller = frames.find((frame) => !/node_modules|legacy-sse\.test/.test(frame));
    if (caller?.includes("/dist/")) texts.push(text);
    return parse(text, reviver) as unknown;
  });
  return texts;
}

describeEdges("HTTP+SSE", (open, kind) => {
  test("is not there unless it is asked for", async () => {
    const edge = await open(httpServer().server);
    expect((await edge.send({ method: "GET", path: "/sse" })).status).toBe(404);
    expect((await edge.send({ ...post(ping), path: "/messages" })).status).toBe(404);
  });

  test("says first where messages go, with a token that is unguessable [SSE24-TWO-ENDPOINTS, SSE24-ENDPOINT-EVENT, HTTP-BACKCOMPAT-SERVER, HTTP26-ERA-HTTPSSE-SERVER]", async () => {
    const edge = await open(httpServer().server, { legacySse: true });
    const clients = [await connect(edge), await connect(edge)];
    for (const { stream, endpoint } of clients) {
      expect(stream.events[0]).toMatchObject({ event: "endpoint" });
      expect(endpoint).toMatch(/^\/messages\?sessionId=[\w-]{22,}$/);
    }
    expect(clients[0]?.endpoint).not.toBe(clients[1]?.endpoint);
    for (const { stream } of clients) stream.abort();
  });

  test("takes a message with 202, and answers it in an event named message [SSE24-MESSAGE-EVENT, SSE24-POST-STATUS]", async () => {
    const edge = await open(httpServer().server, { legacySse: { ssePath: "/old", messagePath: "/old/in" } });
    const client = await connect(edge, "/old");
    expect(client.endpoint).toMatch(/^\/old\/in\?/);
    expect(await client.say(toolCall(1, "echo", { text: "hi" }))).toBe(202);
    await until(() => client.messages().length === 2);
    expect(client.messages()[1]).toMatchObject({ id: 1, result: { content: [{ text: "hi" }] } });
    client.stream.abort();
  });

  test("answers each client on its own stream, though they use the same ids", async () => {
    const { server } = httpServer();
    const edge = await open(server, { legacySse: true });
    const clients = await Promise.all(["a", "b", "c"].map(() => connect(edge)));
    await Promise.all(clients.map((client, at) => client.say(toolCall(1, "echo", { text: `for ${at}` }))));
    for (const [at, client] of clients.entries()) {
      await until(() => client.messages().length === 2);
      expect(client.messages()[1]).toMatchObject({ id: 1, result: { content: [{ text: `for ${at}` }] } });
    }
    expect(await server.push.broadcast("notifications/message", { level: "info", data: 1 })).toBe(3);
    for (const client of clients) await until(() => client.messages().length === 3);
    for (const client of clients) client.stream.abort();
  });

  test("refuses a token that names no stream, or one that has closed, with 404", async () => {
    const { server } = httpServer();
    const edge = await open(server, { legacySse: true });
    const client = await connect(edge);
    for (const path of ["/messages", "/messages?sessionId=", `${client.endpoint}x`]) {
      expect((await edge.send({ ...post(ping), path })).status).toBe(404);
    }
    client.stream.abort();
    await until(async () => (await server.push.count()) === 0);
    expect(await client.say(ping)).toBe(404);
  });

  test("refuses other methods by 405, what takes no events by 406, and what is too large by 413 [HTTP-405-ALLOW]", async () => {
    const edge = await open(httpServer({ limits: { maxBytes: 1000 } }).server, { legacySse: true });
    expect(await edge.send({ ...post(ping), path: "/sse" })).toMatchObject({
      status: 405,
      headers: { allow: "GET" },
    });
    expect(await edge.send({ method: "GET", path: "/messages" })).toMatchObject({
      status: 405,
      headers: { allow: "POST" },
    });
    expect((await edge.send({ method: "GET", path: "/sse", headers: { accept: "text/html" } })).status).toBe(
      406,
    );
    const client = await connect(edge);
    expect(await client.say(toolCall(1, "echo", { text: "x".repeat(2000) }))).toBe(413);
    client.stream.abort();
  });

  test("belongs to the principal that opened the stream [SSE24-AUTH]", async () => {
    const edge = await open(httpServer().server, {
      legacySse: true,
      auth: (request) => {
        const subject = request.header("authorization");
        return subject === undefined ? undefined : { issuer: "test", subject };
      },
    });
    const client = await connect(edge);
    const stolen = await edge.send({ ...post(ping, { authorization: "mallory" }), path: client.endpoint });
    expect(stolen.status).toBe(404);
    client.stream.abort();
  });

  test("keeps an idle stream open with comments, as often as keepAliveMs says", async () => {
    holdTime();
    const edge = await open(httpServer().server, { legacySse: true, keepAliveMs: 10_000 });
    const { stream } = await connect(edge);
    vi.advanceTimersByTime(35_000);
    await until(() => stream.comments.length >= 3, Number.POSITIVE_INFINITY);
    expect(stream.comments).toHaveLength(3);
    stream.abort();
  });

  test("lets running calls finish when the server is closed, then ends the stream", async () => {
    const { server, gate, waiting, log } = httpServer();
    const edge = await open(server, { legacySse: true, graceMs: 5000 });
    const client = await connect(edge);
    await client.say(toolCall(1, "wait"));
    await until(() => waiting() === 1);
    const closing = edge.close();
    gate.resolve();
    await closing;
    await client.stream.complete();
    expect(client.messages().at(-1)).toMatchObject({ id: 1, result: {} });
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("parses a message once, whatever has to look at it, while the server is closing too", async () => {
    const { server, gate, waiting } = httpServer();
    server.tool("scoped", { scopes: ["a"] }, () => "");
    const edge = await open(server, {
      legacySse: true,
      graceMs: 60_000,
      auth: () => ({ issuer: "test", subject: "user", scopes: ["a"] }),
      rateLimit: { perPrincipal: { perMinute: 6000 } },
    });
    const client = await connect(edge);
    const parsed = parsedOutsideTests();
    await client.say(toolCall(1, "wait", { text: "running" }));
    await until(() => waiting() === 1);
    const closing = edge.close();
    // serveHttp closes its HTTP server. On other mounts new requests still arrive.
    if (kind !== "serveHttp") {
      const silent = { jsonrpc: "2.0", method: "notifications/said", params: { mark: "silent" } };
      expect(await client.say(silent)).toBe(202);
      expect(await client.say(toolCall(2, "echo", { text: "refused" }))).toBe(503);
    }
    const counts = ["running", "silent", "refused"].map((mark) =>
      parsed.filter((text) => text.includes(mark)),
    );
    for (const texts of counts) expect(texts.length).toBeLessThanOrEqual(1);
    expect(counts[0]).toHaveLength(1);
    gate.resolve();
    await closing;
    await client.stream.complete();
  });

  test("ends the stream of a call that does not finish in time, and what the call says later goes nowhere", async () => {
    const { server, gate, waiting, aborted } = httpServer();
    const edge = await open(server, { legacySse: true, graceMs: 20 });
    const client = await connect(edge);
    await client.say(toolCall(1, "wait"));
    await until(() => waiting() === 1);
    await edge.close();
    await client.stream.ended();
    gate.resolve();
    await until(() => aborted.length === 1);
    expect(client.messages()).toHaveLength(1);
  });
});
