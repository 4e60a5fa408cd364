// The MCP endpoint: the guard, the routes, and the end, whatever edge a request came in by.
import { type Auth, isAuthRefusal } from "../auth/authenticate.ts";
import { ConfigurationError } from "../errors.ts";
import { within } from "../async/timers.ts";
import { assertPrincipal, principalKey } from "../protocol/principal.ts";
import type { ServerPort } from "../server/port.ts";
import { addressKey } from "../limits/address-key.ts";
import { preflightHeaders, withCors } from "./guard/cors.ts";
import { answerDocument } from "./documents.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";
import { Guard } from "./guard/guard.ts";
import { HttpExchange, sessionHeader } from "./exchange.ts";
import { LegacySse } from "./legacy-sse.ts";
import { checkSharedState, type HttpOptions, type HttpSettings, resolveHttpOptions } from "./options.ts";
import { answerPost } from "./post.ts";
import { refuseAuth } from "./permission.ts";
import { CountedRequest, RateLimits } from "./rate-limits/rate-limits.ts";
import { refuse, refuseClosing, refuseTooMany } from "./edge/replies.ts";
import { allowedMethods, answerDelete, answerGet, refuseMethod } from "./session-routes.ts";
import { HttpState } from "./state.ts";
import type { Unsent } from "./edge/unsent.ts";

/** What is open at this moment. */
export interface HttpStats {
  readonly sessions: number;
  /** Open GET, listen and HTTP+SSE streams. */
  readonly streams: number;
  /** Open listen requests. */
  readonly subscriptions: number;
  readonly inFlight: number;
  /** What the messages weigh that are being read or answered, on this server over whichever transport: bytes, by estimate. */
  readonly inFlightBytes: number;
  /** Bytes of replies and events that slow readers have not taken. */
  readonly unsentBytes: number;
  readonly replayStreams: number;
  readonly replayBytes: number;
  /** Callers that the rate limits count, by address and by principal. */
  readonly callers: number;
  readonly timers: number;
}

export class Endpoint {
  readonly settings: HttpSettings;
  readonly #state: HttpState;
  readonly #guard: Guard;
  readonly #rateLimits: RateLimits | undefined;
  readonly #legacySse: LegacySse | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  #onIdle: () => void = () => {};

  constructor(server: ServerPort, options: HttpOptions, hosts: readonly string[]) {
    checkSharedState(options, server);
    this.settings = resolveHttpOptions(options);
    checkProtection(server, this.settings);
    const { legacySse, allowedOrigins, rateLimits, limits } = this.settings;
    this.#state = new HttpState(server, this.settings);
    this.#guard = new Guard({ allowedHosts: hosts, allowedOrigins });
    this.#rateLimits = rateLimits && new RateLimits(rateLimits, limits.maxCallers);
    this.#legacySse = legacySse && new LegacySse(this.#state, legacySse);
  }

  /** What slow readers have not taken. */
  get unsent(): Unsent {
    return this.#state.unsent;
  }

  /** Answers one request. */
  async handle(request: HttpRequest, responder: HttpResponder): Promise<void> {
    const exchange = new HttpExchange(this.#state, request, responder);
    if (this.#state.server.observe !== undefined) responder.refusals = exchange;
    if (exchange.isLate && !this.#mayAnswer(request)) return refuseClosing(responder);
    const refusal = this.#guard.check(request);
    if (refusal !== undefined) {
      this.#state.rateLimitedLog.warn(refusal.reason);
      return refuse(responder, refusal.status, refusal.reason);
    }
    this.#inFlight++;
    const counted = this.#rateLimits && new CountedRequest(this.#rateLimits);
    try {
      const { cors } = this.settings;
      if (cors !== undefined) exchange.responder = withCors(cors, request, responder);
      exchange.counted = counted;
      await this.#route(exchange);
    } catch (error) {
      this.#state.refuseFailed(responder, error);
    } finally {
      counted?.release();
      if (--this.#inFlight === 0) this.#onIdle();
    }
  }

  /** Stops taking requests, lets running calls finish within the grace period, and closes every stream in good order. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#state.closing = true;
    const listensEnded = this.#state.listens.endAll();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
    });
    const { graceMs } = this.settings;
    const answered = Promise.all([idle, listensEnded]);
    await Promise.all([within(graceMs, answered), this.#legacySse?.close(graceMs)]);
    this.#state.sessions.closeAll();
    this.#state.heartbeat.stop();
    this.#state.unsent.goOn();
  }

  stats(): HttpStats {
    const { server, sessions, listens, logs, heartbeat, unsent } = this.#state;
    const getStreams = sessions.values().reduce((sum, session) => sum + session.streams.openGets, 0);
    // Over HTTP+SSE a stream is a session.
    const sseStreams = this.#legacySse?.size ?? 0;
    return {
      sessions: sessions.size + sseStreams,
      streams: getStreams + listens.size + sseStreams,
      subscriptions: listens.size,
      inFlight: this.#inFlight,
      inFlightBytes: server.loads.total,
      unsentBytes: unsent.bytes,
      replayStreams: logs.streams,
      replayBytes: logs.bytes,
      callers: this.#rateLimits?.size ?? 0,
      timers: heartbeat.running ? 1 : 0,
    };
  }

  // Not async, like what comes after it: a call that need not wait for anything waits for no turn of the loop either.
  #route(exchange: HttpExchange): Promise<void> | void {
    const { request, responder, counted } = exchange;
    counted?.countAddress(request.address);
    if (this.#refuseTooMany(exchange)) return;
    const { auth } = this.settings;
    const document = auth?.documents?.get(request.path);
    if (document !== undefined) return answerDocument(exchange, document);
    if (request.method === "OPTIONS" && this.settings.cors) {
      return responder.reply(204, preflightHeaders(request, allowedMethods(this.#state)));
    }
    return auth === undefined ? this.#enter(exchange) : this.#authenticate(auth, exchange);
  }

  async #authenticate(auth: Auth, exchange: HttpExchange): Promise<void> {
    const principal = await auth.authenticate(exchange.request);
    if (isAuthRefusal(principal)) return refuseAuth(exchange, principal);
    assertPrincipal(principal, "What auth returned");
    exchange.principal = principal;
    await this.#enter(exchange);
  }

  #enter(exchange: HttpExchange): Promise<void> | void {
    const { request, responder, principal, counted } = exchange;
    request.caller = principal === undefined ? addressKey(request.address ?? "") : principalKey(principal);
    counted?.countPrincipal(principal);
    if (this.#refuseTooMany(exchange)) return;
    if (request.path === this.settings.path) return this.#answer(exchange);
    if (this.#legacySse?.isAt(request.path)) return this.#legacySse.handle(exchange);
    refuse(responder, 404, "There is nothing here");
  }

  /** Refuses a request that is past a rate limit. True when it did. */
  #refuseTooMany({ counted, request, responder }: HttpExchange): boolean {
    if (!counted?.isRefused(() => this.#sessionOf(request))) return false;
    refuseTooMany(responder, counted.retryAfter);
    return true;
  }

  /** Identifies the session by its unguessable id, before authentication. */
  #sessionOf(request: HttpRequest): object | undefined {
    if (request.method !== "POST") return undefined;
    if (request.path !== this.settings.path) return this.#legacySse?.clientOf(request);
    return this.#state.sessions.peek(request.header(sessionHeader) ?? "");
  }

  #answer(exchange: HttpExchange): Promise<void> | void {
    switch (exchange.request.method) {
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

  /** A call that still runs may be waiting for its client's answer, which comes in a POST of its own. */
  #mayAnswer(request: HttpRequest): boolean {
    const isOfSession = request.method === "POST" && request.header(sessionHeader) !== undefined;
    return isOfSession || this.#legacySse?.isMessage(request) === true;
  }
}

/** A definition with scopes is never open to everybody, and what clients are told of the endpoint leads to it. */
function checkProtection(server: ServerPort, { auth, path, trustedProxies }: HttpSettings): void {
  if (server.usesScopes && auth === undefined) {
    const problem =
      "is missing: definitions of this server name scopes, so say who is calling (halyard/auth)";
    throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field: "auth" }, problem);
  }
  const { resource } = auth ?? {};
  if (resource === undefined || trustedProxies > 0 || new URL(resource).pathname === path) return;
  const remedy = "set trustProxy if a proxy in between changes the path, or correct resource or path";
  server.logger.warn(`The resource is ${resource}, but the endpoint is at ${path}: ${remedy}`);
}
