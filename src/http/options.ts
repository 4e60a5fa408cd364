// The options of the HTTP transport, their defaults, and the mistakes that are found when it is made.
import type { ServerPort } from "../server/port.ts";
import { type Auth, type Authenticate, toAuth } from "../auth/authenticate.ts";
import { ConfigurationError } from "../errors.ts";
import { givenOf, type Known } from "../options.ts";
import { defaultSessionLimits, type SessionLimits } from "../session/sessions.ts";
import { MemorySessionStore, type SessionStore } from "../session/store.ts";
import {
  knownRateLimits,
  type RateLimitOptions,
  type RateLimitSettings,
  resolveRateLimits,
} from "./rate-limits/options.ts";
import type { CorsOptions } from "./guard/cors.ts";
import { defaultListenLimits, type ListenLimits } from "./streams/listens.ts";
import { defaultStreamLogLimits, type StreamLogLimits } from "./streams/stream-log.ts";

/** What the HTTP transport may hold at most, and for how long. */
export interface HttpLimits extends SessionLimits, StreamLogLimits, ListenLimits {
  /** Callers of each kind that the rate limits count apart. @default {10000} */
  readonly maxCallers: number;
  /** Bytes of replies and events that slow readers have not taken, all together. @default {67108864} */
  readonly maxUnsentBytes: number;
}

/** Where the HTTP+SSE transport of 2024-11-05 is served. */
export interface LegacySseOptions {
  /** @default {"/sse"} */
  readonly ssePath?: string;
  /** @default {"/messages"} */
  readonly messagePath?: string;
}

/** How Streamable HTTP is served; everything has a default. */
export interface HttpOptions {
  /** @default {"/mcp"} */
  readonly path?: string;
  /** The names, with or without port, under which clients may reach the server beside the loopback ones; `*` for any. */
  readonly allowedHosts?: readonly string[];
  /** The origins whose pages may call; those of allowed hosts may. */
  readonly allowedOrigins?: readonly string[];
  /** @default {no page of another origin} */
  readonly cors?: CorsOptions;
  /** Offers the HTTP+SSE transport of 2024-11-05 beside. @default {false} */
  readonly legacySse?: boolean | LegacySseOptions;
  /** Milliseconds between comments that keep an idle stream open. @default {15000} */
  readonly keepAliveMs?: number;
  /** Milliseconds after which a call that has not been answered gets a stream, to keep its connection open. @default {10000} */
  readonly streamAfterMs?: number;
  /** Milliseconds after which a client should come back to a stream that was closed. @default {1000} */
  readonly retryMs?: number;
  /** Milliseconds after which a GET or listen stream is closed in good order. @default {never} */
  readonly maxStreamMs?: number;
  /**
   * Milliseconds that a client has to come back to a stream it lost. Then a question on it fails, and where the client has
   * another stream open it is told there what to read again. @default {30000}
   */
  readonly resumeWindowMs?: number;
  /** Milliseconds that running calls get to finish when the server is closed. @default {5000} */
  readonly graceMs?: number;
  /** Milliseconds after which a client that takes nothing of what is written to it is disconnected. @default {30000} */
  readonly stallMs?: number;
  readonly limits?: Partial<HttpLimits>;
  /** How often callers may ask; `false` for as often as they like. @default {principals, and with `trustProxy` addresses, within `defaultCallerLimits`} */
  readonly rateLimit?: RateLimitOptions | false;
  readonly sessionStore?: SessionStore;
  /**
   * Who is calling: `bearerAuth` of `halyard/auth`, or a function that answers a principal, a refusal, or undefined for
   * nobody in particular. Without it, a server whose definitions name scopes does not start.
   */
  readonly auth?: Auth | Authenticate;
  /**
   * How many proxies stand before the server: so many entries at the end of X-Forwarded-For, or of Forwarded, are believed,
   * and the outermost is the address of the client. `true` is 1. @default {0: the headers are not looked at}
   */
  readonly trustProxy?: boolean | number;
}

/**
 * What the HTTP transport holds at most, unless {@link HttpOptions.limits} says otherwise.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { defaultHttpLimits, nodeHandler } from "halyard/node";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const handler = nodeHandler(server, { limits: { maxSessions: defaultHttpLimits.maxSessions / 10 } });
 * await handler.close();
 * ```
 */
export const defaultHttpLimits: HttpLimits = {
  ...defaultSessionLimits,
  ...defaultStreamLogLimits,
  ...defaultListenLimits,
  maxCallers: 10_000,
  maxUnsentBytes: 64 * 1024 * 1024,
};

const knownCors: Known<CorsOptions> = { origins: true };
const knownLegacySse: Known<LegacySseOptions> = { ssePath: true, messagePath: true };

export const knownHttpOptions: Known<HttpOptions> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  cors: knownCors,
  legacySse: knownLegacySse,
  keepAliveMs: true,
  streamAfterMs: true,
  retryMs: true,
  maxStreamMs: true,
  resumeWindowMs: true,
  stallMs: true,
  graceMs: true,
  limits: defaultHttpLimits,
  rateLimit: knownRateLimits,
  sessionStore: true,
  auth: true,
  trustProxy: true,
};

/** The options with every default filled in. */
export interface HttpSettings {
  readonly path: string;
  readonly allowedOrigins: readonly string[];
  readonly cors: CorsOptions | undefined;
  readonly legacySse: { readonly ssePath: string; readonly messagePath: string } | undefined;
  readonly keepAliveMs: number;
  readonly streamAfterMs: number;
  readonly retryMs: number;
  readonly maxStreamMs: number;
  readonly resumeWindowMs: number;
  readonly graceMs: number;
  readonly stallMs: number;
  readonly limits: HttpLimits;
  readonly rateLimits: RateLimitSettings | undefined;
  readonly sessionStore: SessionStore;
  readonly auth: Auth | undefined;
  readonly trustedProxies: number;
}

/** Fills in the defaults. Throws for an option that cannot work. */
export function resolveHttpOptions(options: HttpOptions): HttpSettings {
  const { path = "/mcp" } = options;
  const limits = givenOf(options.limits);
  if (!path.startsWith("/")) fail("path", "must begin with a slash");
  for (const [name, limit] of Object.entries(limits)) {
    if (!(limit > 0)) fail(`limits.${name}`, "must be more than 0");
  }
  checkNames("allowedHosts", options.allowedHosts, /^[^/\s]+$/, 'such as "mcp.example.com"');
  checkNames("allowedOrigins", options.allowedOrigins, origin, 'such as "https://app.example.com"');
  checkNames("cors.origins", options.cors?.origins, origin, 'such as "https://app.example.com", or "*"');
  return {
    path,
    allowedOrigins: [...(options.allowedOrigins ?? []), ...(options.cors?.origins ?? [])],
    cors: options.cors,
    legacySse: resolveLegacySse(options.legacySse),
    keepAliveMs: options.keepAliveMs ?? 15_000,
    streamAfterMs: options.streamAfterMs ?? 10_000,
    retryMs: options.retryMs ?? 1000,
    maxStreamMs: options.maxStreamMs ?? Number.POSITIVE_INFINITY,
    resumeWindowMs: options.resumeWindowMs ?? 30_000,
    graceMs: options.graceMs ?? 5000,
    stallMs: options.stallMs ?? 30_000,
    limits: { ...defaultHttpLimits, ...limits },
    rateLimits: resolveRateLimits(options.rateLimit, {
      principals: options.auth !== undefined,
      addresses: countProxies(options.trustProxy) > 0,
    }),
    sessionStore: options.sessionStore ?? new MemorySessionStore(),
    auth: options.auth === undefined ? undefined : toAuth(options.auth),
    trustedProxies: countProxies(options.trustProxy),
  };
}

const origin = /^(?:\*|null|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/i;

function checkNames(field: string, names: unknown, pattern: RegExp, example: string): void {
  if (names === undefined) return;
  if (!Array.isArray(names)) fail(field, `must be a list, ${example}`);
  for (const name of names as readonly unknown[]) {
    if (typeof name !== "string" || !pattern.test(name))
      fail(field, `has ${String(name)}: write it ${example}`);
  }
}

const needsOfSeveral = {
  keys: "one key for request state: call server.secureRequestState({ keys: [secret] }) first, with the same secret in each process",
  singleUse:
    "to know which request states are used: give server.secureRequestState({ singleUse }) a store that they share",
};

/** A store that processes share means that a client's next round may reach another of them, who must be able to open it. */
export function checkSharedState(options: HttpOptions, server: ServerPort): void {
  const { sessionStore } = options;
  const { mode, unsharedRequestState: unshared } = server;
  const isAlone = sessionStore === undefined || sessionStore instanceof MemorySessionStore;
  if (isAlone || mode === "stateful" || unshared === undefined) return;
  fail("sessionStore", `is for several processes, and these need ${needsOfSeveral[unshared]}`);
}

function countProxies(trustProxy: boolean | number = 0): number {
  const count = Number(trustProxy);
  if (!Number.isSafeInteger(count) || count < 0)
    fail("trustProxy", "must be true, false or the number of proxies");
  return count;
}

function resolveLegacySse(option: HttpOptions["legacySse"]): HttpSettings["legacySse"] {
  if (option === undefined || option === false) return undefined;
  const { ssePath = "/sse", messagePath = "/messages" } = option === true ? {} : option;
  return { ssePath, messagePath };
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field }, problem);
}
