// Mistakes in front of the handler: frameworks that read the body, other paths, proxies and browsers. The response or the log says what to do.
import { createServer, type RequestListener } from "node:http";
import { connect as connectHttp2, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import express from "express";
import { fastify } from "fastify";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler, serveHttp } from "halyard/node";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEdges, modernPost, post, type RawRequest, sendTo } from "../../support/http.ts";
import { httpServer, modernCall } from "../../support/http-server.ts";
import { initializeRequest, newestLegacy } from "../../support/raw.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/turns.ts";

const taken =
  "Other code has read the body before the MCP handler: mount the handler before body parsers, or pass on what they have read";
const call = modernPost(modernCall(1, "echo", { text: "hello" }));

async function listening(listener: RequestListener): Promise<number> {
  const http = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  await until(() => http.listening);
  return (http.address() as AddressInfo).port;
}

async function messageOf(port: number, request: RawRequest): Promise<[number, string | undefined]> {
  const reply = await sendTo(port, request);
  return [reply.status, (await reply.answer()).error?.message];
}

describe("a body that was read before", () => {
  test("by middleware that keeps nothing is a 400 that says so", async () => {
    const app = express();
    app.use((request, _, next) => void request.on("data", () => {}).on("end", next));
    app.all("/mcp", nodeHandler(httpServer().server));
    expect(await messageOf(await listening(app), call)).toEqual([400, taken]);
  });

  test("by a parser of forms is a 400 that says so", async () => {
    const app = express().use(express.urlencoded({ type: "*/*" }));
    app.all("/mcp", nodeHandler(httpServer().server));
    expect(await messageOf(await listening(app), call)).toEqual([400, taken]);
  });

  test("by Fastify, without a scope of its own, is a 400 that says so", async () => {
    const handler = nodeHandler(httpServer().server);
    const app = fastify({ forceCloseConnections: true });
    app.all("/mcp", (request, reply) => {
      reply.hijack();
      void handler(request.raw, reply.raw);
    });
    onTestFinished(() => app.close());
    await app.listen({ port: 0, host: "127.0.0.1" });
    expect(await messageOf((app.server.address() as AddressInfo).port, call)).toEqual([400, taken]);
  });

  test("by a middleware of Hono is a 400 that says so", async () => {
    const handler = fetchHandler(httpServer().server);
    const app = new Hono();
    app.use(async (context, next) => {
      await context.req.raw.text();
      await next();
    });
    app.all("/mcp", (context) => handler(context.req.raw));
    const { body, headers } = call as { body: string; headers: Record<string, string> };
    const reply = await app.request("http://localhost/mcp", {
      method: "POST",
      body,
      headers: JSON.parse(JSON.stringify(headers)),
    });
    expect([reply.status, ((await reply.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      taken,
    ]);
  });

  test("by nobody, although Express 4 has set an empty body, is read", async () => {
    const handler = nodeHandler(httpServer().server);
    const port = await listening(
      (request, response) => void handler(Object.assign(request, { body: {} }), response),
    );
    expect(JSON.stringify(await (await sendTo(port, call)).answer())).toContain("hello");
  });
});

test("a handler that is mounted at another path names the option", async () => {
  const app = express();
  app.all("/api/mcp", nodeHandler(httpServer().server));
  expect(await messageOf(await listening(app), { ...call, path: "/api/mcp" })).toEqual([
    404,
    'Not found: the MCP endpoint is at /mcp. If you mount it at /api/mcp, pass path: "/api/mcp"',
  ]);
});

test("a request without a Host header says who must pass it on", async () => {
  const { port, close } = await serveHttp(httpServer().server, { port: 0 });
  onTestFinished(close);
  const reply = await openRaw(port).request("GET /mcp HTTP/1.0\r\n\r\n");
  expect(reply).toContain('"The request has no Host header: a proxy in front must pass it on"');
});

test.each(["0.0.0.0:3000", "[::]:3000"])("the host %s is not to be allowed", async (host) => {
  const { port, close } = await serveHttp(httpServer().server, { port: 0 });
  onTestFinished(close);
  expect(await messageOf(port, { ...call, headers: { ...call.headers, host } })).toEqual([
    403,
    `Host ${host} is not allowed: it is an address to listen on, so connect to 127.0.0.1`,
  ]);
});

test.each([undefined, ["*"]])("HTTP/2 of Node is refused, with allowedHosts %s", async (allowedHosts) => {
  const { server, log } = httpServer();
  const handler = nodeHandler(server, { allowedHosts });
  const http = createHttp2(handler as unknown as Parameters<typeof createHttp2>[1]).listen(0, "127.0.0.1");
  await until(() => http.listening);
  const client = connectHttp2(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    client.destroy();
    http.close();
    await handler.close();
  });
  const request = client.request({ ":method": "POST", ":path": "/mcp", "content-type": "application/json" });
  let status: unknown;
  request.on("response", (headers) => void (status = headers[":status"]));
  const says = "node:http2 is not supported: use node:http, or put a proxy that speaks HTTP/2 in front";
  expect([JSON.parse(await text(request.end("{}"))).error.message, status]).toEqual([says, 403]);
  expect(log.map(({ message }) => message)).toEqual([says]);
});

describe("a response that other code has sent", () => {
  const says =
    "Other code has sent the response before the MCP handler: in Fastify, call reply.hijack() first; in Express, do not respond before it";

  test("is named in the log, once", async () => {
    const { server, log } = httpServer();
    const handler = nodeHandler(server);
    const app = express();
    app.all("/mcp", (request, response) => {
      response.end();
      void handler(request, response);
    });
    const port = await listening(app);
    for (let count = 0; count < 2; count++) expect((await sendTo(port, call)).status).toBe(200);
    await until(() => log.length > 0);
    expect(log.map(({ message }) => message)).toEqual([says]);
  });

  test("such as that of Fastify without hijack, is named, too", async () => {
    const { server, log } = httpServer();
    const handler = nodeHandler(server);
    const app = fastify({ forceCloseConnections: true });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_, __, done) => done(null));
    app.all("/mcp", (request, reply) => {
      void handler(request.raw, reply.raw);
      void reply.send();
    });
    onTestFinished(() => app.close());
    await app.listen({ port: 0, host: "127.0.0.1" });
    expect((await sendTo((app.server.address() as AddressInfo).port, call)).status).toBe(200);
    await until(() => log.length > 0);
    expect(log.map(({ message }) => message)).toEqual([says]);
  });

  test("is not that of a client that has gone, nor the handler's own", async () => {
    const { server, log, gate, aborted, waiting } = httpServer();
    const handler = nodeHandler(server);
    const port = await listening((request, response) => void handler(request, response));
    expect((await sendTo(port, call)).status).toBe(200);
    const { body, headers } = modernPost(modernCall(2, "wait")) as {
      body: string;
      headers: Record<string, string>;
    };
    const stop = new AbortController();
    const gone = fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      body,
      headers,
      signal: stop.signal,
    });
    await until(() => waiting() > 0);
    stop.abort();
    await expect(gone).rejects.toThrow();
    await until(() => aborted.length > 0);
    gate.resolve();
    expect(log).toEqual([]);
  });
});

test("a handler that is made for each request is named in the log, once", async () => {
  const { server, log } = httpServer();
  const made = Array.from({ length: 12 }, () => fetchHandler(server));
  onTestFinished(async () => void (await Promise.all(made.map((handler) => handler.close()))));
  expect(log.map(({ message }) => message)).toEqual([
    "This server has 11 open HTTP handlers: call fetchHandler() or nodeHandler() once, and not for each request",
  ]);
  const other = httpServer();
  for (let count = 0; count < 12; count++) await fetchHandler(other.server).close();
  expect(other.log).toEqual([]);
});

describeEdges("a body that is not JSON", (open) => {
  test.each([
    ["", "The message is not valid JSON: it is empty"],
    ["[object Object]", "The message is not valid JSON: pass JSON.stringify(message)"],
    ["{'id':1}", "The message is not valid JSON"],
  ])("such as %j says why", async (body, says) => {
    const reply = await (await open(httpServer().server)).send({ ...call, body });
    expect([reply.status, (await reply.answer()).error?.message]).toEqual([400, says]);
  });
});

describeEdges("a page of another origin", (open) => {
  const preflight = (origin: string): RawRequest => ({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });

  test("that may send but not read is named in the log, with the option", async () => {
    const { server, log } = httpServer();
    const edge = await open(server);
    expect((await edge.send(preflight("http://localhost:5173"))).status).toBe(405);
    const hint = "A page of http://localhost:5173 may not call: add its origin to cors.origins";
    expect(log.map(({ message }) => message)).toEqual([hint]);
  });

  test("that is not among the origins of cors is named, too, and one that is among them is not", async () => {
    const { server, log } = httpServer();
    const edge = await open(server, { cors: { origins: ["https://app.example"] } });
    await edge.send(preflight("https://app.example"));
    expect(log).toEqual([]);
    await edge.send(preflight("http://localhost:5173"));
    expect(log).toHaveLength(1);
  });

  test("is refused by 403 with the option that lets it in", async () => {
    const edge = await open(httpServer().server);
    const reply = await edge.send(
      post(initializeRequest(1, newestLegacy), { origin: "https://app.example" }),
    );
    expect((await reply.answer()).error?.message).toBe(
      "Origin https://app.example is not allowed: add it to cors.origins if its pages may call, or to allowedOrigins",
    );
  });
});
