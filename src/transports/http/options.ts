// The options of the HTTP transport: what each is, its kind and its default.
import type { Auth, Authenticate } from "../../auth/authenticate.ts";
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
  preset,
  wholeNumber,
  withMethods,
} from "../../base/kinds.ts";
import type { Filled } from "../../base/options.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import type { CorsOptions } from "./cors.ts";
import { defaultHttpLimits, type HttpLimits } from "./limits.ts";
import { knownRateLimits, type RateLimitOptions } from "./rate-limit-options.ts";

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

type Times =
  | "keepAliveMs"
  | "streamAfterMs"
  | "retryMs"
  | "maxStreamMs"
  | "resumeWindowMs"
  | "graceMs"
  | "stallMs";

/** The options that have a default, with a value. */
export type Completed = Filled<Pick<HttpOptions, "path" | Times>> & { readonly limits: HttpLimits };

const pathKind: Kind<string> = {
  is: (value) => typeof value === "string" && isPath(value) && !isPattern(value),
  mustBe: 'the path of a URL, such as "/mcp"',
  remedy: (value) =>
    isPattern(value) ? "patterns of routers do not work: make one handler for each path" : undefined,
};

function isPattern(value: unknown): boolean {
  return /\/[:[{]|\*/.test(String(value));
}

export const knownLegacySse: Known<LegacySseOptions, Filled<LegacySseOptions>> = {
  ssePath: preset(pathKind, "/sse"),
  messagePath: preset(pathKind, "/messages"),
};

const host = matching(/^(?:\*|[^/\s*]+)$/, "");
const origin = matching(/^(?:\*|null|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/i, "");
const origins = listOf(
  origin,
  'a list of origins such as "https://app.example.com", without a path or a slash at the end, or "*"',
);
const knownCors: Known<CorsOptions> = { origins: needed(origins) };

export const knownHttpOptions: Known<HttpOptions, Completed> = {
  path: preset(pathKind, "/mcp"),
  allowedHosts: {
    ...listOf(host, 'a list of hosts such as "mcp.example.com", without a scheme or a path'),
    remedy: (value) => (String(value).includes("*") ? "name each host, without *" : undefined),
  },
  allowedOrigins: origins,
  cors: optionsOf(knownCors, '{ origins: ["https://app.example.com"] }'),
  legacySse: either(flag, optionsOf(knownLegacySse, '{ ssePath: "/sse" }')),
  keepAliveMs: preset(milliseconds, 15_000),
  streamAfterMs: preset(pause, 10_000),
  retryMs: preset(pause, 1000),
  maxStreamMs: preset(milliseconds, Number.POSITIVE_INFINITY),
  resumeWindowMs: preset(pause, 30_000),
  graceMs: preset(pause, 5000),
  stallMs: preset(milliseconds, 30_000),
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

/** Whether a request can have this path: with one slash at the start, no query, nothing to encode and no dots to resolve. */
function isPath(text: string): boolean {
  const url = `http://localhost${text}`;
  return /^\/(?!\/)/.test(text) && URL.canParse(url) && new URL(url).pathname === text;
}
