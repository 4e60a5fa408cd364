// Bodies: how large they may be, however they come, and how slow.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "halyard";
import { nodeHandler } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEdges, modernPost, openEdge, post, type RawRequest, sendTo } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { discover, httpServer, modernCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/turns.ts";

const limits = { maxBytes: 1000, maxDepth: 6, maxElements: 100 };
const big = modernCall(1, "echo", { text: "x".repeat(2000) });
const deep = modernCall(1, "echo", { text: [[[[[[]]]]]] });
const full = modernCall(1, "echo", { text: Array.from({ length: 200 }, () => 1) });
/** A call whose text is so many bytes long, more than it has characters. */
const callOf = (bytes: number): JsonObject => {
  const sized = (length: number): JsonObject => modernCall(1, "echo", { text: `é€🌍${"x".repeat(length)}` });
  return sized(bytes - Buffer.byteLength(JSON.stringify(sized(0))));
};
const chunked = (request: RawRequest): RawRequest => ({
  ...request,
  body: String(request.body).match(/[^]{1,100}/g) ?? [],
});

describeEdges("a body", (open) => {
  test.each([
    ["with its length", (request: RawRequest) => request],
    ["in chunks", chunked],
  ] as const)("that is too large is 413, sent %s, and the next one is taken", async (_, send) => {
    const edge = await open(httpServer({ limits }).server, { legacySse: true });
    const reply = await edge.send(send(modernPost(big)));
    expect((await reply.answer()).error?.message).toContain("larger than 1000 bytes");
    expect(reply.status).toBe(413);
    const fits = await edge.send(send(modernPost(modernCall(1, "echo", { text: "x".repeat(500) }))));
    expect(fits.status).toBe(200);
  });

  test.each([
    ["with its length", (request: RawRequest) => request],
    ["in chunks", chunked],
  ] as const)("of exactly maxBytes is taken, sent %s, and one of a byte more is 413", async (_, send) => {
    const edge = await open(httpServer({ limits }).server, { legacySse: true });
    const stream = await edge.send({
      method: "GET",
      path: "/sse",
      headers: { accept: "text/event-stream" },
    });
    await until(() => stream.events.length === 1);
    const path = stream.events[0]?.data ?? "";
    for (const [bytes, status, sseStatus] of [
      [1000, 200, 202],
      [1001, 413, 413],
    ] as const) {
      const request = send(modernPost(callOf(bytes)));
      expect((await edge.send(request)).status).toBe(status);
      expect((await edge.send({ ...request, path })).status).toBe(sseStatus);
    }
    stream.abort();
  });

  test.each([
    ["deep", deep],
    ["full", full],
  ])("that is too %s is 400 before anything looks into it", async (_, message) => {
    const edge = await open(httpServer({ limits }).server);
    const reply = await edge.send(modernPost(message));
    expect((await reply.answer()).error?.code).toBe(-32600);
    expect(reply.status).toBe(400);
  });

  test("may come in pieces that cut a character in two", async () => {
    const edge = await open(httpServer().server);
    const { body, headers } = modernPost(modernCall(1, "echo", { text: "äöü🌍" }));
    const bytes = Buffer.from(String(body));
    if (edge.kind === "fetchHandler") {
      expect(
        await (await edge.send({ headers: headers ?? {}, body: [String(body)] })).answer(),
      ).toMatchObject({ result: {} });
      return;
    }
    const raw = openRaw(edge.port);
    const head = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
    raw.socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${head.join("\r\n")}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    );
    for (const byte of bytes) raw.socket.write(Buffer.from([byte]));
    await until(() => raw.text().includes("äöü🌍"));
  });

  test("that is empty is a parse error", async () => {
    const edge = await open(httpServer().server);
    const reply = await edge.send(post("", { "mcp-protocol-version": "2026-07-28" }));
    expect((await reply.answer()).error?.code).toBe(-32700);
    expect(reply.status).toBe(400);
  });
});

/** A server whose framework reads the body first and leaves it, or does not leave it, on the request. */
async function parsing(
  read: (request: IncomingMessage, text: string) => void,
): Promise<(request: RawRequest) => Promise<HttpReply>> {
  const handler = nodeHandler(httpServer({ limits }).server);
  const http = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      read(request, text);
      void handler(request, response);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close();
    http.close();
  });
  return (request) => sendTo((http.address() as AddressInfo).port, request);
}

describe("a body that a framework has read", () => {
  const asValue = (request: IncomingMessage, text: string): void =>
    void Object.assign(request, { body: JSON.parse(text) as unknown });
  const asText = (request: IncomingMessage, text: string): void =>
    void Object.assign(request, { body: text });
  const asBytes = (request: IncomingMessage, text: string): void =>
    void Object.assign(request, { body: Buffer.from(text) });

  test.each([
    ["a value", asValue],
    ["a text", asText],
    ["bytes", asBytes],
  ])("and left as %s is taken within the same limits", async (_, read) => {
    const send = await parsing(read);
    expect((await send(modernPost(discover))).status).toBe(200);
    for (const how of [(request: RawRequest) => request, chunked]) {
      expect((await send(how(modernPost(big)))).status).toBe(413);
      expect((await send(how(modernPost(deep)))).status).toBe(400);
      expect((await send(how(modernPost(full)))).status).toBe(400);
    }
  });

  test.each([
    ["a text", asText],
    ["bytes", asBytes],
  ])("and left as %s may have exactly maxBytes", async (_, read) => {
    const send = await parsing(read);
    expect((await send(modernPost(callOf(1000)))).status).toBe(200);
    expect((await send(modernPost(callOf(1001)))).status).toBe(413);
  });

  test.each([
    ["a value", asValue],
    ["a text", asText],
    ["bytes", asBytes],
  ])("and left as %s may be exactly as deep and as full as one that was not", async (_, read) => {
    const send = await parsing(read);
    const told = async (message: unknown): Promise<string | undefined> => {
      const reply = await send(post(message, { "mcp-protocol-version": "2026-07-28" }));
      expect(reply.status).toBe(400);
      return (await reply.answer()).error?.message;
    };
    const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    const list = (values: number): unknown => Array.from({ length: values - 1 }, () => 1);
    const [tooDeep, tooFull] = [
      "The message nests deeper than 6 levels",
      "The message holds more than 100 values",
    ];
    expect(await told(nested(6))).not.toBe(tooDeep);
    expect(await told(nested(7))).toBe(tooDeep);
    expect(await told(list(100))).not.toBe(tooFull);
    expect(await told(list(101))).toBe(tooFull);
  });

  test("and not left is refused at once, rather than waited for", async () => {
    const send = await parsing(() => {});
    expect((await send(modernPost(discover))).status).toBe(400);
  });
});

test("serveHttp cuts off slow headers and bodies, and keeps idle connections longer than load balancers do", async () => {
  let found: Server | undefined;
  const see = (message: unknown): void => void (found = (message as { server: Server }).server);
  subscribe("http.server.request.start", see);
  onTestFinished(() => void unsubscribe("http.server.request.start", see));
  const edge = await openEdge("serveHttp", httpServer().server);
  await (await edge.send(modernPost(discover))).complete();
  expect(found?.headersTimeout).toBeLessThanOrEqual(15_000);
  expect(found?.requestTimeout).toBeLessThanOrEqual(60_000);
  expect(found?.headersTimeout).toBeGreaterThan(0);
  expect(found?.requestTimeout).toBeGreaterThan(0);
  expect(found?.keepAliveTimeout).toBeGreaterThan(60_000);
  // Both are only looked at so often.
  expect(found).toMatchObject({ connectionsCheckingInterval: expect.toSatisfy((ms: number) => ms <= 5000) });
});
