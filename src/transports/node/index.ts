/**
 * Streamable HTTP on `node:http`: a complete server, or a handler to mount in Express, Fastify or plain Node.
 *
 * @module
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, isIPv6, Server as NetServer, type Socket } from "node:net";
import { Endpoint, type HttpStats } from "../http/endpoint.ts";
import { hostsFor } from "../http/guard/guard.ts";
import { type HttpOptions, knownHttpOptions } from "../http/options.ts";
import { either, flag, type Kind, type Known, listOf, port as portNumber } from "../../base/kinds.ts";
import { mountPlace, servePlace } from "../http/misnamed.ts";
import { checkOptions } from "../../base/options.ts";
import { refuseUnawaited } from "../../base/refused-names.ts";
import { outliveStderr } from "../../diagnostics/logger.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import { portOf, type Servable } from "../../server/calls/port.ts";
import { assertNodeHttp, NodeRequest } from "./edge.ts";
import { listen } from "./listen.ts";
import { NodeResponder, turnOf } from "./responder.ts";
import { closeOnSignals } from "./signals.ts";

export type { HttpStats } from "../http/endpoint.ts";
export type { HttpRequest } from "../http/edge/request.ts";
export type { CorsOptions } from "../http/guard/cors.ts";
export {
  defaultHttpLimits,
  type EndpointDashboard,
  type HttpLimits,
  type HttpOptions,
  type LegacySseOptions,
  type ServedEndpoint,
} from "../http/options.ts";
export {
  type CallerLimits,
  defaultCallerLimits,
  type RateLimitOptions,
} from "../http/rate-limits/options.ts";
export type { Site, SiteBody, SiteBodyLimits, SiteReply, SiteRequest } from "../http/site.ts";
export { nodeSite, type NodeSiteHandler } from "./site.ts";

/** Options of {@link serveHttp}; all are optional. */
export interface ServeHttpOptions extends HttpOptions {
  /** The port to listen on; 0 for any free port. @default {3000} */
  readonly port?: number | undefined;
  /** The address or addresses to listen on. @default {"127.0.0.1"} */
  readonly host?: string | readonly string[] | undefined;
  /** Whether to close the server and exit on SIGTERM and SIGINT, after running calls have finished. @default {true} */
  readonly handleSignals?: boolean | undefined;
}

const hostKind: Kind<string> = {
  is: (value) =>
    typeof value === "string" && /^[^\s/[\]]+$/.test(value) && (!value.includes(":") || isIPv6(value)),
  mustBe: 'an address such as "127.0.0.1" without a scheme or a port',
};
const hostsKind = listOf(hostKind, "a list of them");

const knownServeOptions: Known<ServeHttpOptions> = {
  ...knownHttpOptions,
  port: portNumber,
  host: either(hostKind, {
    ...hostsKind,
    is: (value) => hostsKind.is(value) && (value as readonly string[]).length > 0,
  }),
  handleSignals: flag,
};

/** A running HTTP server. */
export interface HttpServer {
  /** The URL of the endpoint. */
  readonly url: string;
  /** The port that the server listens on: the chosen one if you passed 0. */
  readonly port: number;
  /** Counts of what is open now. */
  stats(): HttpStats;
  /** Stops listening, lets running calls finish within `graceMs`, and closes every stream. */
  close(): Promise<void>;
}

/** A listening server, and its connections that have not sent a request. */
interface Listening {
  readonly http: Server;
  readonly silent: ReadonlySet<Socket>;
}

/** A handler for `node:http`. Its promise resolves when the request has been answered. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Resolves when this process has joined the cluster of `backplane`, or rejects; at once without a backplane. */
  readonly ready: Promise<void>;
  /** Counts of what is open now. */
  stats(): HttpStats;
  /** Refuses new requests, lets running calls finish within `graceMs`, and closes every stream. */
  close(): Promise<void>;
}

/**
 * Returns a handler to mount: in Express with `app.all("/mcp", handler)`, in Fastify after `reply.hijack()`, in plain Node as the
 * request listener. If other machines can reach it, list the hosts that clients use in `allowedHosts`.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { McpServer } from "halyard";
 * import { nodeHandler } from "halyard/node";
 *
 * const handler = nodeHandler(new McpServer({ name: "demo", version: "1.0.0" }));
 * const http = createServer(handler).listen(0, "127.0.0.1");
 * http.close();
 * await handler.close();
 * ```
 */
export function nodeHandler(server: Servable, options: HttpOptions = {}): NodeHandler {
  // Check the server first, because a framework may have been given this function instead of the handler that it returns.
  const port = portOf(server, "HTTP");
  checkOptions(mountPlace, options, knownHttpOptions);
  const handler = toHandler(new Endpoint(port, options, hostsFor([], options)));
  logRejection(port.logger, "Joining the cluster", handler.ready);
  return handler;
}

const taken =
  "Other code has sent the response before the MCP handler: in Fastify, call reply.hijack() first; in Express, do not respond before it";

function toHandler(endpoint: Endpoint): NodeHandler {
  let isWarned = false;
  const warnOfTaken = (): void => {
    if (!isWarned) endpoint.state.rateLimitedLog.warn(taken);
    isWarned = true;
  };
  const answer = (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A framework that mounts the handler under a prefix keeps the whole URL here.
    const { originalUrl = message.url ?? "/" } = message as { originalUrl?: string };
    const request = new NodeRequest(message, originalUrl, endpoint.settings.trustedProxies);
    const responder = new NodeResponder(response, request, endpoint.unsent);
    responder.onTaken = warnOfTaken;
    return endpoint.handle(request, responder);
  };
  const handler = (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    assertNodeHttp(message, response);
    const turn = turnOf(response);
    if (turn === undefined) return answer(message, response);
    return turn.then((isOpen) => (isOpen ? answer(message, response) : undefined));
  };
  const { ready } = endpoint;
  return Object.assign(handler, { ready, stats: () => endpoint.stats(), close: () => endpoint.close() });
}

/**
 * Serves `server` over HTTP.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { serveHttp } from "halyard/node";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const { url, close } = await serveHttp(server, { port: 0 });
 * console.log(`Serving on ${url}`);
 * await close();
 * ```
 */
export function serveHttp(server: Servable, options?: ServeHttpOptions): Promise<HttpServer>;
export function serveHttp(...given: Parameters<typeof serve>): Promise<HttpServer> {
  return refuseUnawaited(serve(...given), "serveHttp", ["url", "port", "stats", "close"]);
}

async function serve(
  server: Servable,
  options: ServeHttpOptions = {},
  ...more: readonly unknown[]
): Promise<HttpServer> {
  const driven = portOf(server, "HTTP");
  checkOptions(servePlace, options, knownServeOptions);
  if (more.length > 0) throw new TypeError("serveHttp(server, options) calls no function back: await it");
  const { port = 3000, host = "127.0.0.1" } = options;
  outliveStderr();
  const hosts = [host].flat();
  const names = hostsFor(hosts, options);
  const { dashboard } = options;
  const endpoint = new Endpoint(driven, (await dashboard?.serve?.(options)) ?? options, names);
  const handler = toHandler(endpoint);
  try {
    await endpoint.ready;
  } catch (error) {
    // Without this, the server would count as served, and a later one would not leave the cluster when it closes.
    await endpoint.close();
    throw error;
  }
  const listening: Listening[] = [];
  let actualPort = port;
  for (const address of hosts) {
    const silent = new Set<Socket>();
    const http = createServer(serverOptions, (request, response) => {
      silent.delete(request.socket);
      void handler(request, response);
    });
    http.on("connection", (socket) => silent.add(socket.once("close", () => silent.delete(socket))));
    try {
      await listen(http, actualPort, address);
    } catch (error) {
      for (const started of listening) started.http.close();
      await endpoint.close();
      throw error;
    }
    listening.push({ http, silent });
    actualPort = (http.address() as AddressInfo).port;
  }
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ignoreSignals?.();
    return (closing ??= closeAll(listening, endpoint));
  };
  const ignoreSignals = (options.handleSignals ?? true) ? closeOnSignals(close) : undefined;
  const name = hosts[0]?.includes(":") ? `[${hosts[0]}]` : hosts[0];
  const url = `http://${name}:${actualPort}${endpoint.settings.path}`;
  dashboard?.opened(url);
  return {
    url,
    port: actualPort,
    stats: handler.stats,
    close,
  };
}

/** Closes the endpoint, then waits until its responses have been sent. */
async function closeAll(listening: readonly Listening[], endpoint: Endpoint): Promise<void> {
  for (const { http } of listening) stopListening(http);
  // A proxy that has just connected is about to send a request, and would not retry a POST elsewhere if the connection closed.
  await untilOrAfter(firstRequestMs, () => listening.every(({ silent }) => silent.size === 0));
  await endpoint.close();
  await untilOrAfter(endpoint.settings.graceMs, () => endpoint.unsent.bytes === 0);
  for (const { http } of listening) {
    http.close();
    http.closeAllConnections();
  }
}

/**
 * Accepts no more connections. `http.close()` would also close those that are still sending a response. Bun has no other way to
 * stop, so there the server listens until the responses are sent, and refuses new requests.
 */
function stopListening(http: Server): void {
  if (http instanceof NetServer) NetServer.prototype.close.call(http);
}

/** How long a new connection may take to send its first request after the server began to close. */
const firstRequestMs = 100;

/** Resolves when `holds` returns true, or after this time. */
async function untilOrAfter(timeMs: number, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + timeMs;
  while (!holds() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Limits slow headers and bodies, and keeps idle connections longer than the 60 s that load balancers commonly do. */
const serverOptions: ServerOptions = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  // How often Node checks these timeouts; its default of 30 s would triple the shortest.
  connectionsCheckingInterval: 2000,
  // Without this, Node uses the first of two Host or Authorization headers, and a proxy may use the other.
  joinDuplicateHeaders: true,
};
