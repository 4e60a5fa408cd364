// `serveHttp`: a complete server, which listens, and closes on signals.
import { createServer, type Server, type ServerOptions } from "node:http";
import { type AddressInfo, isIPv6, Server as NetServer, type Socket } from "node:net";
import { HalyardError } from "../../base/errors.ts";
import { either, flag, type Kind, type Known, listOf, port as portNumber, preset } from "../../base/kinds.ts";
import { outliveStderr } from "../../base/logging/logger.ts";
import { checkOptions, type Filled, withDefaults } from "../../base/options.ts";
import { refuseUnawaited } from "../../base/refused-names.ts";
import { portOf, type Servable } from "../../server/calls/port.ts";
import { Endpoint, type HttpStats } from "../http/endpoint.ts";
import { hostsFor } from "../http/guard.ts";
import { servePlace } from "../http/misnamed.ts";
import { type Completed, type HttpOptions, knownHttpOptions } from "../http/options.ts";
import { toHandler } from "./handler.ts";

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

const hostOrHosts = either(hostKind, {
  ...hostsKind,
  is: (value) => hostsKind.is(value) && (value as readonly string[]).length > 0,
});

type ServeSettings = Completed & Filled<Pick<ServeHttpOptions, "port" | "host" | "handleSignals">>;

const knownServeOptions: Known<ServeHttpOptions, ServeSettings> = {
  ...knownHttpOptions,
  port: preset(portNumber, 3000),
  host: preset(hostOrHosts, "127.0.0.1"),
  handleSignals: preset(flag, true),
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
  const { port, host, handleSignals } = withDefaults(options, knownServeOptions);
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
    forget?.();
    return (closing ??= closeAll(listening, endpoint));
  };
  const forget = handleSignals ? closeOnSignals(close) : undefined;
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

/** Resolves when the server listens. Rejects with the reason, and what to do. */
function listen(http: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause: NodeJS.ErrnoException) => {
      reject(new HalyardError("CANNOT_LISTEN", listenProblem(cause, port, host), { cause }));
    });
    http.listen(port, host, () => resolve());
  });
}

function listenProblem({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is in use: stop the other process, or pass another port`;
    case "EACCES":
      return `Port ${port} on ${host} needs rights that this process lacks: pass a port from 1024, such as 3000, and put a proxy in front`;
    case "EADDRNOTAVAIL":
      return `The host ${host} is not an address of this machine: pass "127.0.0.1", or "0.0.0.0" for all its addresses`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host ${host} cannot be resolved: pass an address of this machine, such as "127.0.0.1"`;
    default:
      return `Cannot listen on ${host}:${port}: ${message}`;
  }
}

const signals = ["SIGTERM", "SIGINT"] as const;
const closers = new Set<() => Promise<void>>();

/**
 * Calls `close` on a signal, then exits, unless the author has a handler for the signal too, which then has to exit. The returned
 * function undoes this.
 */
function closeOnSignals(close: () => Promise<void>): () => void {
  if (closers.size === 0) for (const signal of signals) process.on(signal, closeOnSignal);
  closers.add(close);
  return () => {
    if (closers.delete(close) && closers.size === 0) ignoreSignals();
  };
}

async function closeOnSignal(signal: NodeJS.Signals): Promise<void> {
  ignoreSignals();
  await Promise.allSettled([...closers].map((close) => close()));
  if (process.listenerCount(signal) === 0) process.exit();
}

function ignoreSignals(): void {
  for (const signal of signals) process.off(signal, closeOnSignal);
}
