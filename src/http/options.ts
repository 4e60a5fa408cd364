// The options of the HTTP transport: their defaults, and the checks that throw at startup.
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

/** The limits of the HTTP transport. */
export interface HttpLimits extends SessionLimits, StreamLogLimits, ListenLimits {
  /** Addresses, and principals, that the rate limits count separately. @default {10000} */
  readonly maxCallers: number;
  /** Bytes of replies and events that all slow clients together have not read yet. @default {67108864} */
  readonly maxUnsentBytes: number;
}

/** The paths of the HTTP+SSE transport of 2024-11-05. */
export interface LegacySseOptions {
  /** @default {"/sse"} */
  readonly ssePath?: string;
  /** @default {"/messages"} */
  readonly messagePath?: string;
}

/** Options of the HTTP transport; all are optional. */
export interface HttpOptions {
  /** @default {"/mcp"} */
  readonly path?: string;
  /** The host names, with or without a port, that clients may use besides the loopback ones; `*` for any. */
  readonly allowedHosts?: readonly string[];
  /** The origins whose pages may send requests, besides those of `allowedHosts`; `*` for any. */
  readonly allowedOrigins?: readonly string[];
  /** Lets pages of other origins read responses. @default {no page of another origin} */
  readonly cors?: CorsOptions;
  /** Also serves the HTTP+SSE transport of 2024-11-05. @default {false} */
  readonly legacySse?: boolean | LegacySseOptions;
  /** Milliseconds between comments that keep an idle stream open. @default {15000} */
  readonly keepAliveMs?: number;
  /** Milliseconds after which an unanswered call gets an event stream, which keeps its connection open. @default {10000} */
  readonly streamAfterMs?: number;
  /** Milliseconds that a client should wait before it reconnects to a closed stream. @default {1000} */
  readonly retryMs?: number;
  /** Milliseconds after which the server closes a GET or listen stream; the client then reconnects. @default {never} */
  readonly maxStreamMs?: number;
  /**
   * Milliseconds that a client has to reconnect to a lost stream. After that, questions on the stream fail, and a client that
   * has another stream open gets a notification there for everything it may have missed. @default {30000}
   */
  readonly resumeWindowMs?: number;
  /** Milliseconds that running calls have to finish when the server closes. @default {5000} */
  readonly graceMs?: number;
  /** Milliseconds after which the server disconnects a client that does not read what it is sent. @default {30000} */
  readonly stallMs?: number;
  readonly limits?: Partial<HttpLimits>;
  /** Rate limits for each caller; `false` for none. @default {principals, and with `trustProxy` addresses, within `defaultCallerLimits`} */
  readonly rateLimit?: RateLimitOptions | false;
  readonly sessionStore?: SessionStore;
  /**
   * Authenticates requests: `bearerAuth` of `halyard/auth`, or a function that returns a principal, a refusal, or undefined for
   * an anonymous caller. Required if a definition of the server has `scopes`.
   */
  readonly auth?: Auth | Authenticate;
  /**
   * The number of proxies in front of the server. The client address is that many entries from the end of `X-Forwarded-For`, or of
   * `Forwarded`. `true` means 1. @default {0: these headers are ignored}
   */
  readonly trustProxy?: boolean | number;
}

/**
 * The limits of the HTTP transport that {@link HttpOptions.limits} does not set.
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

/** The options, completed with their defaults. */
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

/** Completes the options with their defaults. Throws for an invalid option. */
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
  if (!Array.isArray(names)) fail(field, `must be an array of entries ${example}`);
  for (const name of names as readonly unknown[]) {
    if (typeof name !== "string" || !pattern.test(name))
      fail(field, `has ${String(name)}: use an entry ${example}`);
  }
}

const needsOfSeveral = {
  keys: "one key for request state: call server.secureRequestState({ keys: [secret] }) first, with the same secret in each process",
  singleUse:
    "to know which request states were used: pass server.secureRequestState({ singleUse }) a store that they share",
};

/** If processes share sessions, a client may send its next round to another process, which must be able to open its request state. */
export function checkSharedState(options: HttpOptions, server: ServerPort): void {
  const { sessionStore } = options;
  const { mode, unsharedRequestState: unshared } = server;
  const isAlone = sessionStore === undefined || sessionStore instanceof MemorySessionStore;
  if (isAlone || mode === "stateful" || unshared === undefined) return;
  fail("sessionStore", `is for several processes, which need ${needsOfSeveral[unshared]}`);
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
