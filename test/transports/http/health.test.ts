// Health checks: what a probe sees on every edge, without a token and under any host, and what it never sees.
import { readFileSync } from "node:fs";
import { Agent, createServer, request as httpRequest } from "node:http";
import express from "express";
import { McpServer } from "halyard";
import { bearerAuth } from "halyard/auth";
import { connect } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { type HttpOptions, nodeHandler, serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { backplaneThat } from "../../support/backplane.ts";
import {
  describeEdges,
  finish,
  modernPost,
  openEdge,
  openGet,
  openSession,
  post,
} from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { httpServer, modernCall, toolCall } from "../../support/http-server.ts";
import { newestLegacy } from "../../support/raw.ts";
import { until } from "../../support/turns.ts";

const bearer = {
  resource: "https://mcp.example.com/mcp",
  authorizationServers: ["https://auth.example.com"],
};
/** A probe as kubelet sends it, to the address of a pod. */
const probe = {
  method: "GET",
  path: "/health",
  headers: { host: "10.1.2.3:3000", "user-agent": "kube-probe/1.34" },
};

async function seen(reply: HttpReply): Promise<[status: number, text: string]> {
  await until(() => reply.isOver());
  return [reply.status, reply.text];
}

describeEdges("health", (open, kind) => {
  test("true answers ok at /health under any host, without a token, and says nothing else", async () => {
    const edge = await open(httpServer().server, { health: true, auth: bearerAuth(bearer) });
    const reply = await edge.send(probe);
    expect(await seen(reply)).toEqual([200, "ok"]);
    expect(reply.headers).toMatchObject({ "content-type": "text/plain", "cache-control": "no-store" });
    const allowed = new Set(["content-type", "cache-control", "content-length", "date", "connection"]);
    expect(Object.keys(reply.headers).filter((name) => !allowed.has(name))).toEqual([]);
    expect((await edge.send({ ...probe, path: "/mcp" })).status).toBe(403);
  });

  test("HEAD has the headers of GET and no body", async () => {
    const edge = await open(httpServer().server, { health: "/live/z" });
    const reply = await edge.send({ ...probe, method: "HEAD", path: "/live/z" });
    expect(await seen(reply)).toEqual([200, ""]);
    expect(reply.headers["cache-control"]).toBe("no-store");
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s is 405, and Allow is GET, HEAD", async (method) => {
    const edge = await open(httpServer().server, {
      health: true,
      cors: { origins: ["https://app.example"] },
    });
    const reply = await edge.send({ ...probe, method });
    expect(reply).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect((await reply.answer()).error?.message).toBe("Method not allowed: use GET, HEAD");
  });

  test("without the option, or below its path, there is nothing", async () => {
    const without = await open(httpServer().server);
    const local = { ...probe, headers: { host: "localhost" } };
    expect((await without.send(local)).status).toBe(404);
    expect((await without.send(probe)).status).toBe(403);
    const edge = await open(httpServer().server, { health: true });
    expect((await edge.send({ ...local, path: "/health/" })).status).toBe(404);
    expect((await edge.send({ ...probe, path: "/health/" })).status).toBe(403);
    expect((await edge.send({ ...probe, path: "/health?full=1" })).status).toBe(200);
  });

  test("a page of another origin is refused, and rate limits count probes", async () => {
    const rateLimit = { perAddress: { perMinute: 1, burst: 2, concurrent: 10 }, now: () => 0 };
    const edge = await open(httpServer().server, { health: true, rateLimit });
    const foreign = { ...probe, headers: { ...probe.headers, origin: "https://evil.example" } };
    const refused = await edge.send(foreign);
    expect(refused.status).toBe(403);
    expect((await refused.answer()).error?.message).toMatch(/^Origin https:\/\/evil.example is not allowed/);
    const statuses = [];
    for (let nth = 0; nth < 3; nth++) statuses.push((await edge.send(probe)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test("is closing, with 503, while a call finishes and afterwards", async () => {
    const { server, waiting, gate } = httpServer();
    const edge = await open(server, { health: true, graceMs: 20_000 });
    const call = edge.send(modernPost(modernCall(1, "wait")));
    await until(() => waiting() === 1);
    // A connection that was open before: the listener of serveHttp takes no new ones.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = (): Promise<HttpReply> =>
      kind === "fetchHandler"
        ? edge.send(probe)
        : finish(httpRequest({ port: edge.port, agent, host: "127.0.0.1", ...probe }), "");
    expect(await seen(await ask())).toEqual([200, "ok"]);
    const closed = edge.close();
    expect(await seen(await ask())).toEqual([503, "closing"]);
    gate.resolve();
    expect((await call).status).toBe(200);
    await closed;
    if (kind === "fetchHandler") expect(await seen(await ask())).toEqual([503, "closing"]);
  });
});

test("serveHttp with open streams says closing on an open connection until they have ended", async () => {
  const { server, waiting, gate } = httpServer();
  const { port, close } = await serveHttp(server, { port: 0, health: true, graceMs: 20_000 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const send = (request: object): Promise<HttpReply> => {
    const { body = "", ...rest } = request as { body?: string };
    return finish(
      httpRequest({ port, host: "127.0.0.1", method: "POST", path: "/mcp", agent: false, ...rest }),
      body,
    );
  };
  const edge = { send } as never;
  const session = await openSession(edge, newestLegacy);
  const stream = await openGet(edge, session);
  const call = send(post(toolCall(1, "wait"), session.headers));
  await until(() => waiting() === 1);
  expect(await seen(await send({ ...probe, agent }))).toEqual([200, "ok"]);
  const closed = close();
  expect(await seen(await send({ ...probe, agent }))).toEqual([503, "closing"]);
  expect(stream.isOver()).toBe(false);
  gate.resolve();
  await call;
  await closed;
  await until(() => stream.isOver());
});

test("a node that cannot join its cluster is degraded, and serves modern calls", async () => {
  const backplane = backplaneThat(() => {
    throw new Error("down");
  }, memoryBackplane());
  const { server } = httpServer({ backplane });
  const handler = nodeHandler(server, { health: true });
  onTestFinished(() => handler.close());
  await handler.ready.catch(() => {});
  const http = createServer(handler).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await until(() => http.listening);
  const { port } = http.address() as { port: number };
  const reply = await finish(httpRequest({ port, host: "127.0.0.1", agent: false, ...probe }), "");
  expect(await seen(reply)).toEqual([200, "degraded"]);
  const client = await connect(`http://127.0.0.1:${port}/mcp`, { revision: "modern" });
  onTestFinished(() => client.close());
  expect(await client.listTools()).not.toEqual([]);
});

test("inside a router of Express, health is the whole path that the probe asks for", async () => {
  const handler = nodeHandler(httpServer().server, { path: "/api/mcp", health: "/api/health" });
  onTestFinished(() => handler.close());
  const router = express.Router().all(["/mcp", "/health"], handler);
  const http = express().use("/api", router).listen(0, "127.0.0.1");
  onTestFinished(() => void http.close());
  await until(() => http.listening);
  const { port } = http.address() as { port: number };
  const reply = await fetch(`http://127.0.0.1:${port}/api/health`);
  expect([reply.status, await reply.text()]).toEqual([200, "ok"]);
});

test("a probe of another path reads which option moves health checks there", async () => {
  const edge = await openEdge("nodeHandler", httpServer().server, { health: true });
  const reply = await edge.send({ method: "GET", path: "/api/health" });
  expect([reply.status, await reply.answer()]).toMatchObject([
    404,
    {
      error: {
        message:
          'Not found: the MCP endpoint is at /mcp, and health checks are at /health. To serve one of them at /api/health, pass path: "/api/health" or health: "/api/health"',
      },
    },
  ]);
});

test("the probes of docs/guides/health.md ask what its first sample serves", async () => {
  const page = readFileSync("docs/guides/health.md", "utf8");
  const probes = [...page.matchAll(/httpGet: \{ path: (\S+), port: (\d+) \}/g)].map(([, path, port]) => [
    path,
    port,
  ]);
  expect(probes).toEqual([
    ["/health", "3000"],
    ["/health", "3000"],
  ]);
  expect(page).toContain("port: 3000,");
  expect(Number(/^ {2}terminationGracePeriodSeconds: (\d+)$/m.exec(page)?.[1]) * 1000).toBeGreaterThan(
    2 * 5000,
  );
});

describe("paths that are taken", () => {
  const rows: readonly [string, HttpOptions, string][] = [
    ["the endpoint", { health: "/mcp" }, "HTTP: health is /mcp, where path is served: choose another path"],
    [
      "its default",
      { health: true, path: "/health" },
      "HTTP: health is /health, where path is served: choose another path",
    ],
    [
      "HTTP+SSE",
      { health: "/messages", legacySse: true },
      "HTTP: health is /messages, where legacySse.messagePath is served: choose another path",
    ],
    [
      "the metadata of auth",
      { health: "/.well-known/oauth-protected-resource/mcp", auth: bearerAuth(bearer) },
      "HTTP: health is /.well-known/oauth-protected-resource/mcp, where a metadata document of auth is served: choose another path",
    ],
    [
      "HTTP+SSE by the endpoint",
      { path: "/sse", legacySse: true },
      "HTTP: legacySse.ssePath is /sse, where path is served: choose another path",
    ],
    [
      "messages by their stream",
      { legacySse: { messagePath: "/sse" } },
      "HTTP: legacySse.messagePath is /sse, where legacySse.ssePath is served: choose another path",
    ],
    [
      "no path",
      { health: "health" },
      'HTTP: health must be true or false, or a path such as "/health", not "health"',
    ],
    [
      "two slashes",
      { health: "//health" },
      'HTTP: health must be true or false, or a path such as "/health", not "//health"',
    ],
    ["a query", { path: "/mcp?a=b" }, 'HTTP: path must be the path of a URL, such as "/mcp", not "/mcp?a=b"'],
    ["a blank", { path: "/my mcp" }, 'HTTP: path must be the path of a URL, such as "/mcp", not "/my mcp"'],
  ];

  test.each(rows)("are refused at start: %s", (_, options, message) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    expect(() => nodeHandler(server, options)).toThrow(expect.objectContaining({ message }));
  });
});
