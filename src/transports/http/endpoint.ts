// The MCP endpoint, the same behind every edge: guards, authenticates and routes requests, and shuts down.
import { type Auth, isAuthRefusal, unrecognised } from "../../auth/authenticate.ts";
import { ignoreRejection } from "../../base/async/promises.ts";
import { within } from "../../base/async/timers.ts";
import { clip } from "../../base/errors.ts";
import { assertPrincipal, principalKey } from "../../protocol/principal.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import { addressKey } from "../../base/addresses.ts";
import { corsHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import {
  answerDocument,
  answerHealth,
  allowedMethods,
  answerDelete,
  answerGet,
  refuseMethod,
} from "./routes.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";
import { RequestGuard } from "./guard.ts";
import { HttpExchange, sessionHeader } from "./exchange.ts";
import { LegacySse } from "./legacy-sse.ts";
import type { HttpOptions, ServedEndpoint } from "./options.ts";
import { checkProtection, defaultLegacySse, type HttpSettings, resolveHttpOptions } from "./settings.ts";
import { addEndpoint, endpointsOf } from "./open-endpoints.ts";
import { answerPost } from "./post.ts";
import { refuseAuth } from "./permission.ts";
import { type Callers, CountedRequest, RateLimits } from "./rate-limits.ts";
import { refuseWith, refuseClosing, refuseTooMany } from "./edge/replies.ts";
import { HttpState } from "./state.ts";
import type { Unsent } from "./edge/unsent.ts";

/** Counts of what is open now. */
export interface HttpStats {
  readonly sessions: number;
  /** Open GET, listen and HTTP+SSE streams. */
  readonly streams: number;
  /** Open listen requests. */
  readonly subscriptions: number;
  readonly inFlight: number;
  /** Estimated bytes of the messages that this server is reading or answering, over all its transports. */
  readonly inFlightBytes: number;
  /** Bytes of replies and events that slow clients have not read yet. */
  readonly unsentBytes: number;
  /** Logs from which streams can be resumed, one for each session, and what they hold. */
  readonly replayStreams: number;
  readonly replayBytes: number;
  /** Addresses and principals that the rate limits count. */
  readonly callers: number;
  readonly timers: number;
}

/** So many open endpoints of a server mean that the author creates one for each request. */
const tooManyEndpoints = 11;

export class Endpoint implements ServedEndpoint {
  /** The server that it serves. */
  readonly server: ServerPort;
  readonly settings: HttpSettings;
  readonly unsent: Unsent;
  readonly state: HttpState;
  readonly #guard: RequestGuard;
  readonly #rateLimits: RateLimits | undefined;
  readonly legacySse: LegacySse | undefined;
  /** Resolves when this node has joined the cluster; at once without one. */
  readonly ready: Promise<void>;
  readonly #remove: () => void;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(server: ServerPort, options: HttpOptions, hosts: readonly string[]) {
    this.server = server;
    this.settings = resolveHttpOptions(options);
    checkProtection(this.settings, server);
    const { legacySse, allowedOrigins, rateLimits, limits } = this.settings;
    this.ready = ignoreRejection(server.cluster.join());
    this.state = new HttpState(server, this.settings, this.ready);
    this.unsent = this.state.unsent;
    this.#guard = new RequestGuard({ allowedHosts: hosts, allowedOrigins });
    this.#rateLimits = rateLimits && new RateLimits(rateLimits, limits.maxCallers);
    this.legacySse = legacySse && new LegacySse(this.state, legacySse);
    this.#remove = addEndpoint(server, this);
    warnOfMany(server);
    try {
      this.settings.dashboard?.attach(this);
    } catch (error) {
      // The node has begun to join its cluster.
      void ignoreRejection(this.close());
      throw error;
    }
  }

  /** Responds to one request. */
  async handle(request: HttpRequest, responder: HttpResponder): Promise<void> {
    const exchange = new HttpExchange(this.state, request, responder);
    if (this.state.server.observe !== undefined) responder.refusals = exchange;
    const isProbe = request.path === this.settings.health;
    if (exchange.isLate && !isProbe && !this.#mayAnswer(request)) return refuseClosing(responder);
    const refusal = isProbe ? this.#guard.checkOrigin(request) : this.#guard.check(request);
    if (refusal !== undefined) {
      this.state.rateLimitedLog.warn(refusal);
      return refuseWith(responder, 403, refusal);
    }
    this.#inFlight++;
    const counted = this.#rateLimits && new CountedRequest(this.#rateLimits);
    try {
      const { cors } = this.settings;
      if (cors !== undefined) responder.corsHeaders = corsHeaders(cors, request);
      exchange.counted = counted;
      await this.#route(exchange);
    } catch (error) {
      this.state.refuseFailed(responder, error);
    } finally {
      counted?.release();
      if (--this.#inFlight === 0) this.#onIdle?.();
    }
  }

  /** Refuses new requests, lets running calls finish within `graceMs`, and closes every stream. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** The path at which it serves MCP. */
  get path(): string {
    return this.settings.path;
  }

  /** How many proxies are in front of it. */
  get trustedProxies(): number {
    return this.settings.trustedProxies;
  }

  async #close(): Promise<void> {
    this.#remove();
    this.state.closing = true;
    const listensEnded = this.state.listens.endAll();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
    });
    const { graceMs } = this.settings;
    const answered = Promise.all([idle, listensEnded]);
    await Promise.all([within(graceMs, answered), this.legacySse?.close(graceMs)]);
    await this.state.close();
    this.unsent.keepWatching();
    await this.settings.dashboard?.detach(this);
    await this.state.server.cluster.leave();
  }

  stats(): HttpStats {
    const { server, sessions, listens, heartbeat, unsent } = this.state;
    const getStreams = sessions.values().reduce((sum, session) => sum + session.streams.openGets, 0);
    // Over HTTP+SSE, each stream is a session.
    const sseStreams = this.legacySse?.size ?? 0;
    return {
      sessions: sessions.size + sseStreams,
      streams: getStreams + listens.size + sseStreams,
      subscriptions: listens.size,
      inFlight: this.#inFlight,
      inFlightBytes: server.loads.total,
      unsentBytes: unsent.bytes,
      replayStreams: server.cluster.logBudget.logs,
      replayBytes: server.cluster.logBudget.bytes,
      callers: this.#rateLimits?.size ?? 0,
      timers: heartbeat.running ? 1 : 0,
    };
  }

  // Not async, like the functions it calls: a call whose handler is synchronous must not wait for a microtask.
  #route(exchange: HttpExchange): Promise<void> | void {
    const { request, responder } = exchange;
    request.caller = addressKey(request.address ?? "");
    if (this.#refuseTooMany(exchange, this.#rateLimits?.addresses)) return;
    const { auth, health } = this.settings;
    if (request.path === health) return answerHealth(exchange);
    const document = auth?.documents?.get(request.path);
    if (document !== undefined) return answerDocument(exchange, document);
    if (isPreflight(request) && responder.corsHeaders === undefined) this.#warnOfCors(request);
    if (request.method === "OPTIONS" && this.settings.cors) {
      return responder.reply(204, preflightHeaders(request, allowedMethods(this.state)));
    }
    return auth === undefined ? this.#answer(exchange) : this.#authenticate(auth, exchange);
  }

  async #authenticate(auth: Auth, exchange: HttpExchange): Promise<void> {
    const principal = await auth.authenticate(exchange.request);
    if (isAuthRefusal(principal)) return refuseAuth(exchange, principal);
    if (principal === undefined && exchange.request.header("authorization") !== undefined)
      return refuseAuth(exchange, unrecognised);
    assertPrincipal(principal, "The value that auth returns", "a refusal { status, message }");
    exchange.principal = principal;
    if (principal !== undefined) {
      exchange.request.caller = principalKey(principal);
      if (this.#refuseTooMany(exchange, this.#rateLimits?.principals)) return;
    }
    await this.#answer(exchange);
  }

  #answer(exchange: HttpExchange): Promise<void> | void {
    const { request, responder } = exchange;
    const { path } = this.settings;
    if (request.path !== path) {
      if (this.legacySse?.isAt(request.path)) return this.legacySse.handle(exchange);
      const isOldClient = request.method === "GET" && request.path === defaultLegacySse.ssePath;
      const why =
        isOldClient && this.legacySse === undefined
          ? `Not found: the MCP endpoint is at ${path}. Clients of HTTP+SSE need legacySse: true`
          : notFound(clip(request.path), this.settings);
      return refuseWith(responder, 404, why);
    }
    switch (request.method) {
      case "POST":
        return answerPost(exchange);
      case "GET":
        return answerGet(exchange);
      case "DELETE":
        return answerDelete(exchange);
      default:
        return refuseMethod(exchange);
    }
  }

  /** Counts a request for its caller, refuses it if it exceeds a rate limit, and returns whether it did. */
  #refuseTooMany({ counted, request, responder }: HttpExchange, callers: Callers | undefined): boolean {
    if (counted === undefined || callers === undefined) return false;
    counted.count(callers, request.caller);
    if (!counted.isRefused(() => this.#sessionOf(request))) return false;
    refuseTooMany(responder, counted.retryAfter);
    return true;
  }

  /** Logs why CORS refuses a page, because the browser hides the reason from the page. */
  #warnOfCors(request: HttpRequest): void {
    const origin = clip(request.header("origin") ?? "another origin");
    this.state.rateLimitedLog.warn(`A page of ${origin} may not call: add its origin to cors.origins`);
  }

  /** Identifies the session by its unguessable id, before authentication. */
  #sessionOf(request: HttpRequest): object | undefined {
    if (request.method !== "POST") return undefined;
    if (request.path !== this.settings.path) return this.legacySse?.clientOf(request);
    return this.state.sessions.peek(request.header(sessionHeader) ?? "");
  }

  /** Whether a POST may bring the answer to a question of a running call, which a closing server still accepts. */
  #mayAnswer(request: HttpRequest): boolean {
    const isOfSession = request.method === "POST" && request.header(sessionHeader) !== undefined;
    return isOfSession || this.legacySse?.isMessage(request) === true;
  }
}

/** Warns of handlers that are created for each request: a session is known to only one of them. */
function warnOfMany(server: ServerPort): void {
  const { size } = endpointsOf(server);
  if (size === tooManyEndpoints)
    server.logger.warn(`This server has ${size} open HTTP handlers: ${onceForAll}`);
}

const onceForAll = "call fetchHandler() or nodeHandler() once, and not for each request";

/** Names the paths that are served, and the option that moves them to the requested path. */
function notFound(requested: string, { path, health, dashboard }: HttpSettings): string {
  if (dashboard !== undefined && requested.includes("dashboard"))
    return `Not found: the MCP endpoint is at ${path}, and the dashboard at the address that the server prints when it starts`;
  if (health === undefined)
    return `Not found: the MCP endpoint is at ${path}. If you mount it at ${requested}, pass path: "${requested}"`;
  const remedy = `To serve one of them at ${requested}, pass path: "${requested}" or health: "${requested}"`;
  return `Not found: the MCP endpoint is at ${path}, and health checks are at ${health}. ${remedy}`;
}
