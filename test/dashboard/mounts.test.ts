// A dashboard that its author mounts, behind each framework, as a browser and attackers meet it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { fastify } from "fastify";
import type { McpServer } from "halyard";
import { type Dashboard, dashboard, type DashboardOptions } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { nodeHandler } from "halyard/node";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeServer } from "../support/catalogue.ts";
import { stopClock } from "../support/clock.ts";
import { asking, reasonOf } from "../support/dashboard.ts";
import { type RawRequest, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { until } from "../support/turns.ts";

const token = "a-token-that-is-long-enough";
const authorization = `Bearer ${token}`;
const about = { ask: "about" };
const server = (): McpServer => makeServer().server;

async function portOf(http: Server): Promise<number> {
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  await until(() => http.listening);
  return (http.address() as AddressInfo).port;
}

/** A handler whose endpoint closes when the test ends. */
function nodeMount(page: Dashboard): ReturnType<typeof nodeHandler> {
  const handler = nodeHandler(server(), { dashboard: page, graceMs: 50 });
  onTestFinished(() => handler.close());
  return handler;
}

const mounts: Readonly<Record<string, (page: Dashboard) => Promise<number>>> = {
  "plain Node": async (page) => {
    const handler = nodeMount(page);
    const http = createServer((request, response) => {
      const isPage = request.url?.startsWith("/dashboard") ?? false;
      void (isPage ? page.nodeHandler : handler)(request, response);
    });
    return portOf(http.listen(0, "127.0.0.1"));
  },
  Express: async (page) => {
    const app = express();
    app.all("/mcp", nodeMount(page));
    app.use("/dashboard", page.nodeHandler);
    return portOf(app.listen(0, "127.0.0.1"));
  },
  "Express behind express.json()": async (page) => {
    const app = express().use(express.json());
    app.all("/mcp", nodeMount(page));
    app.use("/dashboard", page.nodeHandler);
    return portOf(app.listen(0, "127.0.0.1"));
  },
  Fastify: async (page) => {
    nodeMount(page);
    const app = fastify({ forceCloseConnections: true });
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      for (const path of ["/dashboard", "/dashboard/*"])
        scope.all(path, (request, reply) => {
          reply.hijack();
          void page.nodeHandler(request.raw, reply.raw);
        });
    });
    onTestFinished(() => app.close());
    return Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);
  },
  Hono: async (page) => {
    const handler = fetchHandler(server(), { dashboard: page, graceMs: 50 });
    onTestFinished(() => handler.close());
    const app = new Hono()
      .all("/mcp", (context) => handler(context.req.raw))
      .all("/dashboard/*", (context) => page.fetchHandler(context.req.raw));
    return portOf(serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }) as Server);
  },
};

describe.each(Object.keys(mounts))("%s", (name) => {
  async function open(options: DashboardOptions = {}): Promise<{
    port: number;
    send: (request: RawRequest) => Promise<HttpReply>;
    ask: (headers?: RawRequest["headers"], question?: unknown) => Promise<HttpReply>;
  }> {
    const page = dashboard({ token, ...options });
    const port = await mounts[name]!(page);
    const send = async (request: RawRequest): Promise<HttpReply> =>
      (await sendTo(port, { method: "GET", path: "/dashboard/", ...request })).complete();
    const origin = `http://127.0.0.1:${port}`;
    const ask = (headers: RawRequest["headers"] = {}, question: unknown = about): Promise<HttpReply> =>
      send({ ...asking(question, { origin, authorization, ...headers }), path: "/dashboard/ask" });
    return { port, send, ask };
  }

  test("serves the page and its files below the path", async () => {
    const { send } = await open();
    const replies = [
      await send({}),
      await send({ path: "/dashboard/page.js" }),
      await send({ path: "/dashboard/page.css" }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { headers } of replies) {
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers["x-frame-options"]).toBe("DENY");
    }
  });

  test("leads to the slash at the end, relative to where the browser is", async () => {
    const { send } = await open();
    const reply = await send({ path: "/dashboard" });
    expect([reply.status, reply.headers["location"]]).toEqual([307, "./dashboard/"]);
  });

  test("answers questions with the token, and names the endpoint at the origin of the page", async () => {
    const { ask, port } = await open();
    const reply = await ask();
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ name: "test", endpoint: `http://127.0.0.1:${port}/mcp` });
  });

  test("answers nobody else", async () => {
    const { ask, send } = await open();
    expect((await ask({ authorization: undefined })).status).toBe(401);
    expect((await ask({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await ask({ origin: "https://evil.example" })).status).toBe(403);
    expect((await ask({ host: "evil.example", origin: "http://evil.example" })).status).toBe(403);
    expect((await ask({ "content-type": "text/plain" })).status).toBe(415);
    expect((await send({ path: `/dashboard/?token=${token}` })).status).toBe(400);
    expect((await send({ path: "/dashboard/ask" })).status).toBe(405);
    expect((await send({ path: "/dashboard/", method: "DELETE" })).status).toBe(405);
    expect((await send({ path: "/dashboard/page.js.map" })).status).toBe(404);
  });

  test("reads at most 64 KB", async () => {
    const { ask } = await open();
    expect((await ask({}, JSON.stringify(about).padEnd(64 * 1024 + 1))).status).toBe(413);
  });

  test("answers under the hosts that you allow, whichever scheme a proxy serves them by", async () => {
    const { ask } = await open({ allowedHosts: ["mcp.example.com"] });
    expect((await ask({ host: "mcp.example.com", origin: "https://mcp.example.com" })).status).toBe(200);
    expect((await ask({ host: "mcp.example.com", origin: "https://www.example.com" })).status).toBe(403);
    // The proxy has replaced the host, so the server cannot know the page's own origin.
    const replaced = await ask({ origin: "https://mcp.example.com" });
    expect([replaced.status, reasonOf(replaced)]).toEqual([
      403,
      expect.stringContaining("pass on the Host header"),
    ]);
  });
});

test("a path cannot lead elsewhere", async () => {
  const page = dashboard({ token });
  const port = await mounts["plain Node"]!(page);
  for (const path of [
    "/dashboard//evil.example",
    "/dashboard/javascript:alert(1)",
    "/dashboard/%2e%2e",
    "/dashboard/..",
  ])
    expect((await sendTo(port, { method: "GET", path })).status).toBe(404);
});

test("addresses behind a proxy have their own guesses, if the endpoint trusts the proxy", async () => {
  stopClock();
  const page = dashboard({ token });
  const handler = fetchHandler(server(), { dashboard: page, trustProxy: true });
  onTestFinished(() => handler.close());
  const ask = async (address: string, given: string): Promise<number> => {
    const request = asking(about, { "x-forwarded-for": address, authorization: `Bearer ${given}` });
    return (await page.fetchHandler(new Request("http://localhost/dashboard/ask", request as RequestInit)))
      .status;
  };
  for (let guess = 0; guess < 10; guess++) expect(await ask("192.0.2.1", `wrong-${guess}`)).toBe(401);
  expect(await ask("192.0.2.1", token)).toBe(429);
  expect(await ask("192.0.2.2", token)).toBe(200);
});

test("10,000 wrong requests at once do not keep the right one out", async () => {
  const page = dashboard({ token });
  const handler = fetchHandler(server(), { dashboard: page });
  onTestFinished(() => handler.close());
  const ask = (question: unknown): Promise<Response> =>
    page.fetchHandler(
      new Request("http://localhost/dashboard/ask", asking(question, { authorization }) as RequestInit),
    );
  const wrong = (at: number): Promise<Response> =>
    at % 10 > 0 ? page.fetchHandler(new Request("http://localhost/dashboard/ask")) : ask({ ask: "nothing" });
  const replies = await Promise.all(Array.from({ length: 10_000 }, (_, at) => wrong(at)));
  const statuses = new Set(replies.map(({ status }) => status));
  expect([...statuses].toSorted()).toEqual([400, 405, 503]);
  expect((await ask(about)).status).toBe(200);
});

test("a page whose files are not mounted says so, until its styles are there", async () => {
  const page = dashboard({ token });
  const app = express();
  app.all("/mcp", nodeMount(page));
  app.all("/dashboard", page.nodeHandler);
  const port = await portOf(app.listen(0, "127.0.0.1"));
  expect((await sendTo(port, { path: "/dashboard/page.css" })).status).toBe(404);
  const html = await (await sendTo(port, { method: "GET", path: "/dashboard/" })).complete();
  expect(html.text.replace(/\s+/g, " ")).toContain(
    '<p id="unmounted"> The files of this page are not found: mount the dashboard at all paths below this one, as with app.use("/dashboard", page.nodeHandler) in Express </p>',
  );
  const whole = express().use("/dashboard", page.nodeHandler);
  const css = await sendTo(await portOf(whole.listen(0, "127.0.0.1")), {
    method: "GET",
    path: "/dashboard/page.css",
  });
  expect((await css.complete()).text).toMatch(/#unmounted\s*\{\s*display:\s*none/);
});
