// The ways into a server that a hostile peer may find, each spoken to in the same words.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import type { ClientCapabilities, Servable } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, type HttpStats, nodeHandler, serveHttp } from "halyard/node";
import { TestClient } from "halyard/testing";
import { onTestFinished } from "vitest";
import { HttpWire } from "../support/http-client.ts";
import { modernPost, post, type RawRequest, sendTo } from "../support/http.ts";
import { discover, ping } from "../support/http-server.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { initializeRequest, newestLegacy } from "../support/raw.ts";
import { connectStdio } from "../support/stdio.ts";
import { SseWire } from "./sse-wire.ts";

export type MountName = "serveHttp" | "fetchHandler" | "Express" | "stdio" | "HTTP+SSE";

export interface ClientOptions {
  readonly revision?: string;
  readonly capabilities?: ClientCapabilities;
  /** The identity that it claims, on mounts that authenticate. */
  readonly user?: string;
  /** What it says it was granted, separated by blanks. */
  readonly scopes?: string;
}

/** A server that can be reached. */
export interface Door {
  readonly mount: MountName;
  /** A client of its own, with its handshake done; the newest legacy revision unless told otherwise. */
  connect(options?: ClientOptions): Promise<TestClient>;
  /** Ends the server as its author does. */
  close(): Promise<void>;
}

/** A server that can be reached over HTTP. */
export interface HttpDoor extends Door {
  readonly port: number;
  /** A request to each route that this mount has, which would be answered but for what is changed in it. */
  readonly routes: readonly RawRequest[];
  send(request: RawRequest): Promise<HttpReply>;
  stats(): HttpStats;
}

export const mountNames: readonly MountName[] = ["serveHttp", "fetchHandler", "Express", "stdio", "HTTP+SSE"];

/** Believes what a header says, as a test may. */
const auth: NonNullable<HttpOptions["auth"]> = (request) => {
  const subject = request.header("x-user");
  const scopes = request.header("x-scopes")?.split(" ");
  return subject === undefined ? undefined : { issuer: "https://issuer.example", subject, scopes };
};

/** The headers that claim an identity. */
export function saysToBe(user: string, scopes?: string): Record<string, string> {
  return { "x-user": user, ...(scopes !== undefined && { "x-scopes": scopes }) };
}

interface Served {
  readonly port: number;
  close(): Promise<void>;
  stats(): HttpStats;
}

type Serve = (server: Servable, options: HttpOptions) => Promise<Served>;

async function listen(
  listener: RequestListener,
  handler: { stats(): HttpStats; close(): Promise<void> },
): Promise<Served> {
  const http = createServer(listener).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  return { port: (http.address() as AddressInfo).port, stats: handler.stats, close: handler.close };
}

async function serveOwn(server: Servable, options: HttpOptions): Promise<Served> {
  const http = await serveHttp(server, { ...options, port: 0 });
  onTestFinished(() => http.close());
  return http;
}

const servers: Readonly<Record<Exclude<MountName, "stdio">, Serve>> = {
  serveHttp: serveOwn,
  "HTTP+SSE": (server, options) => serveOwn(server, { legacySse: true, ...options }),
  fetchHandler: (server, options) => {
    const handler = fetchHandler(server, options);
    const listener = getRequestListener(handler);
    return listen((request, response) => void listener(request, response), handler);
  },
  // As many do it: with the parser of Express before everything, and its limit out of the way.
  Express: (server, options) => {
    const handler = nodeHandler(server, options);
    const app = express().use(express.json({ limit: "100mb", strict: false }));
    app.all(["/mcp", "/health", "/.well-known/{*document}"], handler);
    return listen(app, handler);
  },
};

const streamableRoutes: readonly RawRequest[] = [
  modernPost(discover),
  post(initializeRequest(1, newestLegacy)),
  post(ping, { "mcp-session-id": "x" }),
  { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "x" } },
  { method: "DELETE", headers: { "mcp-session-id": "x" } },
  { method: "OPTIONS" },
];
const sseRoutes: readonly RawRequest[] = [
  { method: "GET", path: "/sse", headers: { accept: "text/event-stream" } },
  { ...post(ping), path: "/messages?sessionId=x" },
];

/** Serves over HTTP until the test ends. */
export async function openHttp(
  mount: Exclude<MountName, "stdio">,
  server: Servable,
  options: HttpOptions = {},
): Promise<HttpDoor> {
  const served = await servers[mount](server, { graceMs: 50, auth, ...options });
  const isSse = mount === "HTTP+SSE";
  return {
    mount,
    port: served.port,
    routes: isSse ? sseRoutes : streamableRoutes,
    send: (request) => sendTo(served.port, request),
    stats: served.stats,
    close: served.close,
    async connect({ user, scopes, revision = isSse ? "2024-11-05" : newestLegacy, capabilities = {} } = {}) {
      const headers = user === undefined ? {} : saysToBe(user, scopes);
      const wire = isSse
        ? await SseWire.open(served.port, headers)
        : new HttpWire(served.port, revision, () => Promise.resolve(), headers);
      const client = new TestClient(wire, { revision, capabilities });
      await client.open();
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** Serves until the test ends, over whatever the mount is. */
export async function openDoor(mount: MountName, server: Servable, options: HttpOptions = {}): Promise<Door> {
  if (mount !== "stdio") return openHttp(mount, server, options);
  const clients: TestClient[] = [];
  return {
    mount,
    close: async () => void (await Promise.all(clients.map((client) => client.close()))),
    async connect({ revision = newestLegacy, capabilities = {} } = {}) {
      const client = await connectStdio(server, { revision, capabilities });
      clients.push(client);
      onTestFinished(() => client.close());
      return client;
    },
  };
}
