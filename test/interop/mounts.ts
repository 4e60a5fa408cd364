// A server behind each of the frameworks that HTTP is mounted in, as docs/guides/mounting.md shows it.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { fastify } from "fastify";
import type { Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpStats, nodeHandler, serveHttp } from "halyard/node";
import { Hono } from "hono";

/** A server that can be reached over HTTP. */
export interface Mounted {
  readonly url: string;
  stats(): HttpStats;
  close(): Promise<void>;
}

interface Mount {
  readonly name: string;
  mount(server: Servable): Promise<Mounted>;
}

const address = "127.0.0.1";

/** Closing must not wait for a client that keeps its connection. */
const graceMs = 200;

export const mounts: readonly Mount[] = [
  { name: "serveHttp", mount: (server) => serveHttp(server, { port: 0, graceMs }) },
  { name: "node:http", mount: mountNode },
  { name: "Express", mount: (server) => mountExpress(server, express()) },
  {
    name: "Express behind express.json()",
    mount: (server) => mountExpress(server, express().use(express.json())),
  },
  { name: "Fastify", mount: mountFastify },
  { name: "Hono", mount: mountHono },
];

async function mountNode(server: Servable): Promise<Mounted> {
  const handler = nodeHandler(server, { graceMs });
  const http = createServer(handler).listen(0, address);
  await once(http, "listening");
  return mounted(http, handler);
}

async function mountExpress(server: Servable, app: express.Express): Promise<Mounted> {
  const handler = nodeHandler(server, { graceMs });
  app.all("/mcp", handler);
  const http = app.listen(0, address);
  await once(http, "listening");
  return mounted(http, handler);
}

async function mountFastify(server: Servable): Promise<Mounted> {
  const handler = nodeHandler(server, { graceMs });
  const app = fastify({ forceCloseConnections: true });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/mcp", (request, reply) => {
      reply.hijack();
      void handler(request.raw, reply.raw);
    });
  });
  app.addHook("preClose", () => handler.close());
  const url = await app.listen({ port: 0, host: address });
  return { url: `${url}/mcp`, stats: handler.stats, close: () => app.close() };
}

async function mountHono(server: Servable): Promise<Mounted> {
  const handler = fetchHandler(server, { graceMs });
  const app = new Hono().all("/mcp", (context) => handler(context.req.raw));
  const http = serve({ fetch: app.fetch, hostname: address, port: 0 }) as Server;
  await once(http, "listening");
  return mounted(http, handler);
}

function mounted(http: Server, handler: { stats(): HttpStats; close(): Promise<void> }): Mounted {
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://${address}:${port}/mcp`,
    stats: handler.stats,
    async close() {
      await handler.close();
      http.close();
      http.closeAllConnections();
    },
  };
}
