// The options of the HTTP transport: their defaults, and the checks that throw at startup.
import type { ServerPort } from "../../server/calls/port.ts";
import { type Auth, type Authenticate, toAuth } from "../../auth/authenticate.ts";
import { ConfigurationError } from "../../base/errors.ts";
import {
  either,
  flag,
  hasMethods,
  isFunction,
  type Kind,
  type Known,
  limitsOf,
  listOf,
  matching,
  milliseconds,
  needed,
  off,
  options as optionsOf,
  pause,
  wholeNumber,
  withMethods,
} from "../../base/kinds.ts";
import { type Filled, givenOf } from "../../base/options.ts";
import { defaultSessionLimits, type SessionLimits } from "../../server/session/limits.ts";
import {
  knownRateLimits,
  type RateLimitOptions,
  type RateLimitSettings,
  resolveRateLimits,
} from "./rate-limits/options.ts";
import type { CorsOptions } from "./guard/cors.ts";
import { defaultListenLimits, type ListenLimits } from "./streams/listens.ts";
import { defaultStreamLogLimits, type StreamLogLimits } from "./streams/log-limits.ts";

/** The limits of the HTTP transport. */
export interface HttpLimits extends SessionLimits, StreamLogLimits, ListenLimits {
  /**
   * Addresses, and as many principals, that the rate limits count separately. Past it, further ones are counted as one.
   * @default {10000}
   */
  readonly maxCallers: number;
  /**
   * Bytes of responses and events that all slow clients together have not read yet; one connection counts for a quarter at
   * most. Past it, the caller with the most loses the connection that has read nothing for longest. @default {67108864}
   */
  readonly maxUnsentBytes: number;
}

/** The paths of the HTTP+SSE transport of 2024-11-05. */
export interface LegacySseOptions {
  /** @default {"/sse"} */
  readonly ssePath?: string | undefined;
  /** @default {"/messages"} */
  readonly messagePath?: string | undefined;
}

/** A dashboard: what `dashboard()` of `halyard/dashboard` returns. An endpoint calls it when it begins and ends to serve. */
export interface EndpointDashboard {
  /** Opens a port of its own, for `serveHttp`, and returns the options with which its page may call the endpoint. */
  serve(options: HttpOptions): Promise<HttpOptions>;
  /** Called with each endpoint that is made with it. */
  attach(endpoint: ServedEndpoint): void;
  /** Called when `serveHttp` listens at this URL. */
  opened(url: string): void;
  /** Called when the endpoint closes. */
  detach(endpoint: ServedEndpoint): Promise<void>;
}

/** The endpoint that a dashboard belongs to. */
export interface ServedEndpoint {
  readonly server: ServerPort;
  /** The path at which it serves MCP. */
  readonly path: string;
  /** How many proxies are in front of it. */
  readonly trustedProxies: number;
}

/** Options of the HTTP transport; all are optional. */
export interface HttpOptions {
  /** @default {"/mcp"} */
  readonly path?: string | undefined;
  /** The host names, with or without a port, that clients may use besides the loopback ones; `*` for any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The origins whose pages may send requests, besides those of `allowedHosts`; `*` for any. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Lets pages of other origins read responses. @default {no page of another origin} */
  readonly cors?: CorsOptions | undefined;
  /** Also serves the HTTP+SSE transport of 2024-11-05. @default {false} */
  readonly legacySse?: boolean | LegacySseOptions | undefined;
  /** Milliseconds between comments that keep an idle stream open. @default {15000} */
  readonly keepAliveMs?: number | undefined;
  /** Milliseconds after which an unanswered call gets an event stream, which keeps its connection open. @default {10000} */
  readonly streamAfterMs?: number | undefined;
  /** Milliseconds that a client should wait before it reconnects to a closed stream. @default {1000} */
  readonly retryMs?: number | undefined;
  /**
   * Milliseconds that a GET or listen stream may stay open. After it, the server closes the stream, and the client reconnects.
   * @default {never}
   */
  readonly maxStreamMs?: number | undefined;
  /**
   * Milliseconds that a client has to reconnect to a lost stream. After it, questions on the stream fail, and a client that
   * has another stream open gets a notification there for everything it may have missed. @default {30000}
   */
  readonly resumeWindowMs?: number | undefined;
  /** Milliseconds that running calls have to finish when the server closes. After it, the server closes their streams. @default {5000} */
  readonly graceMs?: number | undefined;
  /**
   * Milliseconds in which a client must read 32 KiB of what it is sent, while more waits. After it, the server disconnects the
   * client. @default {30000}
   */
  readonly stallMs?: number | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Rate limits for each caller; `false` for none. @default {principals, and with `trustProxy` addresses, within `defaultCallerLimits`} */
  readonly rateLimit?: RateLimitOptions | false | undefined;
  /**
   * Authenticates requests: `bearerAuth` of `halyard/auth`, or a function that returns a principal, a refusal, or undefined for
   * an anonymous caller, which a request with an `Authorization` header cannot be: it gets 401. Required if a definition of the server has `scopes`.
   */
  readonly auth?: Auth | Authenticate | undefined;
  /**
   * The number of proxies in front of the server. The client address is that many entries from the end of `X-Forwarded-For`, or of
   * `Forwarded`. `true` means 1. @default {0: these headers are ignored}
   */
  readonly trustProxy?: boolean | number | undefined;
  /**
   * Answers GET and HEAD at this path from memory, for load balancers and orchestrators: 200 `ok`, 200 `degraded` while the backplane
   * cannot be reached, 503 `closing`. Probes need no token and may use any `Host`. `true` means `/health`. @default {false}
   */
  readonly health?: boolean | string | undefined;
  /** Shows what happens on the endpoint: `dashboard()` of `halyard/dashboard`. @default {none} */
  readonly dashboard?: EndpointDashboard | undefined;
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

type Times =
  | "keepAliveMs"
  | "streamAfterMs"
  | "retryMs"
  | "maxStreamMs"
  | "resumeWindowMs"
  | "graceMs"
  | "stallMs";

const defaults: Filled<Pick<HttpOptions, "path" | Times>> = {
  path: "/mcp",
  keepAliveMs: 15_000,
  streamAfterMs: 10_000,
  retryMs: 1000,
  maxStreamMs: Number.POSITIVE_INFINITY,
  resumeWindowMs: 30_000,
  graceMs: 5000,
  stallMs: 30_000,
};
export const defaultLegacySse: Filled<LegacySseOptions> = { ssePath: "/sse", messagePath: "/messages" };
const defaultHealthPath = "/health";
const pathKind: Kind<string> = {
  is: (value) => typeof value === "string" && isPath(value) && !isPattern(value),
  mustBe: 'the path of a URL, such as "/mcp"',
  remedy: (value) =>
    isPattern(value) ? "patterns of routers do not work: make one handler for each path" : undefined,
};

function isPattern(value: unknown): boolean {
  return /\/[:[{]|\*/.test(String(value));
}

const knownLegacySse: Known<LegacySseOptions> = { ssePath: pathKind, messagePath: pathKind };

const host = matching(/^(?:\*|[^/\s*]+)$/, "");
const origin = matching(/^(?:\*|null|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/i, "");
const origins = listOf(
  origin,
  'a list of origins such as "https://app.example.com", without a path or a slash at the end, or "*"',
);
const knownCors: Known<CorsOptions> = { origins: needed(origins) };

export const knownHttpOptions: Known<HttpOptions> = {
  path: pathKind,
  allowedHosts: {
    ...listOf(host, 'a list of hosts such as "mcp.example.com", without a scheme or a path'),
    remedy: (value) => (String(value).includes("*") ? "name each host, without *" : undefined),
  },
  allowedOrigins: origins,
  cors: optionsOf(knownCors, '{ origins: ["https://app.example.com"] }'),
  legacySse: either(flag, optionsOf(knownLegacySse, '{ ssePath: "/sse" }')),
  keepAliveMs: milliseconds,
  streamAfterMs: pause,
  retryMs: pause,
  maxStreamMs: milliseconds,
  resumeWindowMs: pause,
  graceMs: pause,
  stallMs: milliseconds,
  limits: limitsOf(defaultHttpLimits),
  rateLimit: either(off, optionsOf(knownRateLimits, "{ perAddress: { perMinute: 600 } }")),
  auth: {
    is: (value) =>
      isFunction(value)
        ? !isMaker(value) && value.length < 2
        : hasMethods(value, "authenticate", "refuseScopes"),
    mustBe: "bearerAuth({ … }) of halyard/auth, or a function that returns the caller's principal",
    remedy: (value) => {
      if (isIssuer(value)) return "pass its member auth";
      const isOther = isFunction(value) && value.length > 1;
      return isOther ? `it gets the request alone, and not ${value.length} parameters` : undefined;
    },
    isSecret: true,
  },
  trustProxy: either(flag, { ...wholeNumber, mustBe: "the number of proxies" }),
  health: either(flag, { ...pathKind, mustBe: 'a path such as "/health"' }),
  dashboard: withMethods(
    'what dashboard() returns, which you import from "halyard/dashboard"',
    "serve",
    "attach",
    "opened",
    "detach",
  ),
};

/**
 * Whether the function creates an `Auth`, so that the author forgot to call it. As `authenticate` it would fail for each request.
 */
function isMaker({ name }: { readonly name: string }): boolean {
  return name === "bearerAuth" || name === "developmentIssuer";
}

/** Whether the value was returned by `developmentIssuer()`. */
function isIssuer(value: unknown): boolean {
  return hasMethods((Object(value) as { readonly auth?: unknown }).auth, "authenticate");
}

/** The options, completed with their defaults. */
export interface HttpSettings extends Filled<Pick<HttpOptions, "path" | Times>> {
  readonly allowedOrigins: readonly string[];
  readonly cors: CorsOptions | undefined;
  readonly legacySse: Filled<LegacySseOptions> | undefined;
  readonly limits: HttpLimits;
  readonly rateLimits: RateLimitSettings | undefined;
  readonly auth: Auth | undefined;
  readonly trustedProxies: number;
  /** The path of health checks, if there is one. */
  readonly health: string | undefined;
  readonly dashboard?: EndpointDashboard | undefined;
}

/** Completes the options, whose kinds have been checked, with their defaults. Throws for one that cannot work with others. */
export function resolveHttpOptions(options: HttpOptions): HttpSettings {
  const { cors, legacySse, auth, health } = options;
  const trustedProxies = Number(options.trustProxy ?? 0);
  const settings = {
    ...defaults,
    ...givenOf(options),
    allowedOrigins: [...(options.allowedOrigins ?? []), ...(cors?.origins ?? [])],
    cors,
    legacySse: legacySse
      ? { ...defaultLegacySse, ...givenOf(legacySse === true ? {} : legacySse) }
      : undefined,
    limits: { ...defaultHttpLimits, ...givenOf(options.limits) },
    rateLimits: resolveRateLimits(options.rateLimit, {
      principals: auth !== undefined,
      addresses: trustedProxies > 0,
    }),
    auth: auth === undefined ? undefined : toAuth(auth),
    trustedProxies,
    health: health === true ? defaultHealthPath : health || undefined,
  };
  checkPaths(settings);
  return settings;
}

/** Throws if two things are to be served at the same path, of which a client could reach only one. */
function checkPaths({ path, legacySse, health, auth }: HttpSettings): void {
  const taken = new Map<string, string>();
  for (const document of auth?.documents?.keys() ?? []) taken.set(document, "a metadata document of auth");
  const named = {
    path,
    "legacySse.ssePath": legacySse?.ssePath,
    "legacySse.messagePath": legacySse?.messagePath,
    health,
  };
  for (const [field, value] of Object.entries(named)) {
    if (value === undefined) continue;
    const other = taken.get(value);
    if (other !== undefined) fail(field, `is ${value}, where ${other} is served: choose another path`);
    taken.set(value, field);
  }
}

/** Whether a request can have this path: with one slash at the start, no query, nothing to encode and no dots to resolve. */
function isPath(text: string): boolean {
  const url = `http://localhost${text}`;
  return /^\/(?!\/)/.test(text) && URL.canParse(url) && new URL(url).pathname === text;
}

/** Throws if definitions require scopes and there is no `auth`; warns if the path of `resource` is not that of the endpoint. */
export function checkProtection({ auth, path, trustedProxies }: HttpSettings, server: ServerPort): void {
  if (server.usesScopes && auth === undefined)
    fail(
      "auth",
      "is missing: definitions of this server require scopes, so pass bearerAuth({ … }) of halyard/auth",
    );
  const { resource } = auth ?? {};
  if (resource === undefined || trustedProxies > 0 || new URL(resource).pathname === path) return;
  const remedy = "set trustProxy if a proxy in between changes the path, or correct resource or path";
  server.logger.warn(`The resource is ${resource}, but the endpoint is at ${path}: ${remedy}`);
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field }, problem);
}
