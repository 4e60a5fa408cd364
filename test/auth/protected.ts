// A protected server behind each of the ways to mount one, and the ways in that a token is asked for.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { McpServer, type ServerOptions } from "halyard";
import { bearerAuth, type RequestHead } from "halyard/auth";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, nodeHandler, serveHttp } from "halyard/node";
import { onTestFinished } from "vitest";
import { type HttpEdge, modernPost, openGet, openSession, post, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { recordingLogger } from "../support/log.ts";
import { modernRequest } from "../support/raw.ts";
import { until } from "../support/turns.ts";

export type Mount = "serveHttp" | "nodeHandler in Express" | "fetchHandler";
export const mounts: readonly Mount[] = ["serveHttp", "nodeHandler in Express", "fetchHandler"];

export type AuthChanges = Partial<Parameters<typeof bearerAuth>[0]>;

/** A request with this token, as a door sees it. */
export function headWith(token: string): RequestHead {
  return {
    method: "POST",
    path: "/mcp",
    query: "",
    address: undefined,
    headers: () => ({}),
    header: () => `Bearer ${token}`,
  };
}

/** A server that is reached under its own address, which is the resource. */
export interface Protected extends HttpEdge {
  readonly resource: string;
  readonly metadataUrl: string;
}

/** Serves on a free port (PORT in the resource), protected by tokens of `issuer`, until the test ends. */
export async function protect(
  mount: Mount,
  server: McpServer,
  issuer: string,
  auth: AuthChanges = {},
  options: HttpOptions = {},
): Promise<Protected> {
  const http = createServer();
  const port = await listen(http);
  const origin = `http://127.0.0.1:${port}`;
  const resource = auth.resource?.replace("PORT", String(port)) ?? `${origin}/mcp`;
  const door = bearerAuth({ authorizationServers: [issuer], ...auth, resource });
  const given = { graceMs: 50, legacySse: true, ...options, auth: door };
  const mounted = await mounters[mount](http, port, server, given);
  onTestFinished(mounted.close);
  return {
    kind: mount === "nodeHandler in Express" ? "nodeHandler" : mount,
    port,
    resource,
    metadataUrl: `${new URL(resource).origin}/.well-known/oauth-protected-resource${new URL(resource).pathname}`,
    send: (request) => sendTo(port, request),
    ...mounted,
  };
}

type Mounter = (
  http: Server,
  port: number,
  server: McpServer,
  options: HttpOptions,
) => Promise<Pick<HttpEdge, "stats" | "close">>;

const mounters: Record<Mount, Mounter> = {
  async serveHttp(http, port, server, options) {
    // The port was only found out; it is free again for a server of its own.
    await new Promise((resolve) => http.close(resolve));
    return serveHttp(server, { ...options, port });
  },
  async "nodeHandler in Express"(http, _, server, options) {
    const handler = nodeHandler(server, options);
    const app = express();
    app.all(["/mcp", "/sse", "/messages", "/.well-known/{*document}"], handler);
    http.on("request", app);
    return closing(http, handler);
  },
  async fetchHandler(http, _, server, options) {
    const handler = fetchHandler(server, options);
    const listener = getRequestListener(handler);
    http.on("request", (request, response) => void listener(request, response));
    return closing(http, handler);
  },
};

function closing(
  http: Server,
  handler: Pick<HttpEdge, "stats" | "close">,
): Pick<HttpEdge, "stats" | "close"> {
  const close = async (): Promise<void> => {
    http.close();
    await handler.close();
    http.closeAllConnections();
  };
  return { stats: () => handler.stats(), close };
}

async function listen(http: Server): Promise<number> {
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return (http.address() as AddressInfo).port;
}

/** A server with a definition of each kind that needs `notes:write`, and one tool that needs nothing. */
export function notesServer(options: ServerOptions = {}): {
  readonly server: McpServer;
  readonly logger: ReturnType<typeof recordingLogger>;
} {
  const logger = recordingLogger();
  const server = new McpServer({ name: "notes", version: "1.0.0" }, { logger, ...options });
  const needsWrite = { scopes: ["notes:write"] };
  server.tool("whoami", {}, (_, ctx) => `${ctx.principal?.issuer} ${ctx.principal?.subject}`);
  server.tool("write_note", needsWrite, (_, ctx) => `Noted for ${ctx.principal?.subject}`);
  server.resource("note:///open", {}, () => "open");
  server.resource("note:///secret", needsWrite, () => "secret");
  server.resourceTemplate("secret:///{id}", needsWrite, ({ params }) => String(params.id));
  const complete = { to: () => ["x"] };
  const args = { type: "object", properties: { to: { type: "string" } } } as const;
  server.prompt("open", {}, () => "open");
  server.prompt("secret", { ...needsWrite, arguments: args, complete }, () => "secret");
  return { server, logger };
}

export const bearer = (token: string | undefined): { authorization: string | undefined } => ({
  authorization: token === undefined ? undefined : `Bearer ${token}`,
});

/** The requests that a token is asked for; `good` is one that is valid, for what has to come before. */
export const entrances: Readonly<
  Record<string, (edge: Protected, token: string | undefined, good: string) => Promise<HttpReply>>
> = {
  "a modern POST": (edge, token) =>
    edge.send(modernPost(modernRequest(1, "tools/call", { name: "whoami" }), bearer(token))),
  initialize: (edge, token) => edge.send(post(initialize, bearer(token))),
  "a POST in a session": async (edge, token, good) => {
    const session = await openSession(edge, "2025-11-25", bearer(good));
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami" } };
    return edge.send(post(call, { ...session.headers, ...bearer(token) }));
  },
  "a GET in a session": async (edge, token, good) =>
    openGet(edge, await openSession(edge, "2025-11-25", bearer(good)), bearer(token)),
  "a DELETE of a session": async (edge, token, good) => {
    const { headers } = await openSession(edge, "2025-11-25", bearer(good));
    return edge.send({ method: "DELETE", headers: { ...headers, ...bearer(token) } });
  },
  "a GET over HTTP+SSE": (edge, token) => openSse(edge, token),
  "a POST over HTTP+SSE": async (edge, token, good) => {
    const stream = await openSse(edge, good);
    onTestFinished(stream.abort);
    await until(() => stream.events.length > 0);
    return edge.send({ ...post(initialize, bearer(token)), path: stream.events[0]?.data ?? "" });
  },
};

export const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

export function openSse(edge: HttpEdge, token: string | undefined): Promise<HttpReply> {
  return edge.send({
    method: "GET",
    path: "/sse",
    headers: { accept: "text/event-stream", ...bearer(token) },
  });
}
