// Serves fetch handlers by their paths, and gives each session the transport that the official SDKs want for it.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";

/** Listens on a free port. */
export function listenOn(routes) {
  const listener = getRequestListener(async (request) => {
    const handler = routes[new URL(request.url).pathname];
    return handler ? handler(request) : new Response("No such path", { status: 404 });
  });
  createServer((request, response) => {
    const raw = routes.raw?.[new URL(request.url, "http://localhost").pathname];
    if (raw) raw(request, response);
    else listener(request, response);
  }).listen(0, "127.0.0.1");
}

/** A handler with one transport for each session; `open` returns it, connected. */
export function bySession(open) {
  const transports = new Map();
  return async (request) => {
    const id = request.headers.get("mcp-session-id");
    const known = transports.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response("No such session", { status: 404 });
    const transport = await open({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (started) => void transports.set(started, transport),
      onsessionclosed: (ended) => void transports.delete(ended),
    });
    return transport.handleRequest(request);
  };
}

/** A handler with a transport for each request, and no streams besides. */
export function withoutSessions(open) {
  return async (request) => {
    if (request.method !== "POST") return new Response("Method not allowed", { status: 405 });
    return (await open({ sessionIdGenerator: undefined })).handleRequest(request);
  };
}
