// A legacy client past its limit: its calls are refused, and what running calls wait for is not.
import type { JsonObject } from "halyard";
import type { HttpOptions, RateLimitOptions } from "halyard/node";
import { describe, expect, test } from "vitest";
import { stoppedClock } from "../../support/clock.ts";
import { mirrored, openEdge, post, type RawRequest } from "../../support/http.ts";
import { httpServer, modernCall, ping, toolCall } from "../../support/http-server.ts";
import { type Answer, initializeRequest } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

/** A client with a handshake behind it, whichever transport it speaks. */
interface Client {
  post(message: unknown, headers?: Record<string, string | undefined>): Promise<{ status: number }>;
  /** What the server has sent on the stream of the call with the id 1. */
  heard(): Answer[];
}

const initialized: JsonObject = { jsonrpc: "2.0", method: "notifications/initialized" };
const handshake = 2;

type Connect = (
  options: HttpOptions,
) => Promise<Client & { stats(): { callers: number }; aborted: string[] }>;

function fixture() {
  const made = httpServer();
  made.server.tool("ask", {}, async (_, ctx) => JSON.stringify(await ctx.ask("roots/list")));
  return made;
}

const transports: Record<string, { connect: Connect; requests: number }> = {
  "Streamable HTTP": {
    requests: handshake,
    async connect(options) {
      const { server, aborted } = fixture();
      const edge = await openEdge("serveHttp", server, options);
      const begun = await edge.send(post(initializeRequest(0, "2025-03-26")));
      const headers = { "mcp-session-id": begun.headers["mcp-session-id"] };
      const heard: Answer[] = [];
      const send = async (message: unknown, more = {}): Promise<{ status: number }> => {
        const reply = await edge.send(post(message, { ...headers, ...more }));
        reply.onText = () => void heard.splice(0, heard.length, ...reply.messages);
        return reply;
      };
      await send(initialized);
      return { post: send, heard: () => heard, stats: edge.stats, aborted };
    },
  },
  "HTTP+SSE": {
    requests: handshake + 1,
    async connect(options) {
      const { server, aborted } = fixture();
      const edge = await openEdge("serveHttp", server, { ...options, legacySse: true });
      const stream = await edge.send({
        method: "GET",
        path: "/sse",
        headers: { accept: "text/event-stream" },
      });
      await until(() => stream.events.length > 0);
      const path = stream.events[0]?.data ?? "";
      const messages = (): Answer[] =>
        stream.events.slice(1).map(({ data }) => JSON.parse(data ?? "") as Answer);
      const send = (message: unknown, headers = {}): Promise<{ status: number }> =>
        edge.send({ ...post(message, headers), path });
      await send(initializeRequest(0, "2024-11-05"));
      await until(() => messages().length === 1);
      await send(initialized);
      return { post: send, heard: () => messages().slice(1), stats: edge.stats, aborted };
    },
  },
};

const questionOf = (heard: Answer[]): JsonObject | undefined =>
  (heard as JsonObject[]).find((message) => message["method"] === "roots/list");

/** Each kind of limit, set so that one call after the handshake is the last. */
const limits: Record<string, (requests: number) => NonNullable<RateLimitOptions["perAddress"]>> = {
  burst: (requests) => ({ perMinute: 1, burst: requests + 1 }),
  concurrent: () => ({ concurrent: 1 }),
};

const cells = Object.entries(transports).flatMap(([transport, { connect, requests }]) =>
  Object.entries(limits).map(([limit, of]) => ({ transport, limit, connect, perAddress: of(requests) })),
);

describe.each(cells)("a session past `$limit` · $transport", ({ connect, perAddress }) => {
  const options = { rateLimit: { perAddress, now: stoppedClock().now } };

  test("may answer what a running call asks, while its calls are refused", async () => {
    const client = await connect(options);
    const running = client.post(toolCall(1, "ask"));
    await until(() => questionOf(client.heard()) !== undefined);
    expect((await client.post(toolCall(2, "echo"))).status).toBe(429);
    const { id } = questionOf(client.heard()) as { id: string };
    expect((await client.post({ jsonrpc: "2.0", id, result: { roots: [] } })).status).toBe(202);
    await running;
    await until(() => (client.heard() as JsonObject[]).some((message) => message["id"] === 1));
  });

  test("may cancel a running call", async () => {
    const client = await connect(options);
    void client.post(toolCall(1, "wait")).catch(() => {});
    await until(async () => (await client.post(ping)).status === 429);
    const params = { requestId: 1, reason: "enough" };
    expect((await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params })).status).toBe(
      202,
    );
    await until(() => client.aborted.length === 1);
    expect(client.aborted).toEqual(["enough"]);
  });
});

describe.each(Object.entries(transports))("a batch under `concurrent` · %s", (_, { connect }) => {
  test("gives back the room of all its messages when it has been answered", async () => {
    const client = await connect({ rateLimit: { perAddress: { concurrent: 4 }, now: stoppedClock().now } });
    const batch = [1, 2, 3].map((id) => toolCall(id, "echo"));
    for (let count = 0; count < 5; count++) {
      await until(async () => (await client.post(batch)).status < 300);
      await until(async () => (await client.post(ping)).status < 300);
    }
  });
});

const rateLimited = (burst: number): HttpOptions => ({
  rateLimit: { perAddress: { perMinute: 1, burst }, now: stoppedClock().now },
});

describe.each(Object.entries(transports))("a session past its limit · %s", (_, { connect, requests }) => {
  test("may say no more without an answer than the limit again", async () => {
    const client = await connect(rateLimited(requests));
    const seen: number[] = [];
    for (let count = 0; count <= requests; count++) seen.push((await client.post(initialized)).status);
    expect(seen).toEqual([...Array.from({ length: requests }, () => 202), 429]);
  });

  const calls: [title: string, message: unknown, headers: RawRequest["headers"]][] = [
    ["a call of its own", ping, {}],
    ["a modern call that carries its id", modernCall(1, "echo"), mirrored(modernCall(1, "echo"))],
    ["a batch with a call in it", [initialized, ping], {}],
    ["what is no message", { jsonrpc: "2.0" }, {}],
    ["what is no JSON object", "5", {}],
  ];

  test.each(calls)("gets no answer to %s", async (_title, message, headers) => {
    const client = await connect(rateLimited(requests));
    expect((await client.post(message, { ...headers })).status).toBe(429);
  });

  test("has paid for each message of a batch", async () => {
    const batch = [1, 2, 3].map((id) => toolCall(id, "echo"));
    const client = await connect(rateLimited(requests + 3));
    expect((await client.post(batch)).status).toBeLessThan(300);
    expect((await client.post(ping)).status).toBe(429);
    const other = await connect(rateLimited(requests + 4));
    await other.post(batch);
    expect((await other.post(ping)).status).toBeLessThan(300);
  });
});
