// The MCP endpoint: the guard, the routes, and the end, whatever edge a request came in by.
import { type Auth, isRefusal } from "../auth/authenticate.ts";
import { ConfigurationError } from "../errors.ts";
import { within } from "../async/timers.ts";
import type { Principal } from "../protocol/model.ts";
import { assertPrincipal, principalKey } from "../protocol/principal.ts";
import type { ServerPort } from "../server/port.ts";
import { addressKey } from "../limits/address-key.ts";
import { preflightHeaders, withCors } from "./guard/cors.ts";
import { answerDocument } from "./documents.ts";
import type { HttpRequest, HttpResponder } from "./edge/request.ts";
import { Guard } from "./guard/guard.ts";
import { sessionHeader } from "./legacy-post.ts";
import { LegacySse } from "./legacy-sse.ts";
import { checkSharedState, type HttpOptions, type HttpSettings, resolveHttpOptions } from "./options.ts";
import { answerPost } from "./post.ts";
import { refuseAuth } from "./permission.ts";
import { RateLimits, Visit } from "./rate-limits/rate-limits.ts";
import { RefusalWatch } from "./edge/refusals.ts";
import { refuse, refuseClosing, refuseHurried } from "./edge/replies.ts";
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
    const { observe } = this.#state.server;
    if (observe !== undefined) responder.refusals = new RefusalWatch(observe);
    if (this.#state.closing) {
      if (!this.#mayAnswer(request)) return refuseClosing(responder);
      this.#state.markLate(request);
    }
    const refusal = this.#guard.check(request);
    if (refusal !== undefined) {
      this.#state.rateLimitedLog.warn(refusal.reason);
      return refuse(responder, refusal.status, refusal.reason);
    }
    this.#inFlight++;
    const visit = this.#rateLimits && new Visit(this.#rateLimits);
    try {
      const { cors } = this.settings;
      await this.#route(request, cors ? withCors(cors, request, responder) : responder, visit);
    } catch (error) {
      this.#state.refuseFailed(responder, error);
    } finally {
      visit?.leave();
      if (--this.#inFlight === 0) this.#onIdle();
    }
  }

  /** Stops taking requests, lets running calls finish within the grace period, and closes every stream in good order. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#state.closing = true;
    const { listens } = this.#state;
    for (const { connection } of listens) connection.endSubscriptions();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
    });
    const { graceMs } = this.settings;
    const answered = Promise.all([idle, ...[...listens].map(({ ended }) => ended)]).then(() => {});
    await Promise.all([within(graceMs, answered), this.#legacySse?.close(graceMs)]);
    this.#state.sessions.closeAll();
    this.#state.heartbeat.stop();
    this.#state.unsent.goOn();
  }

  stats(): HttpStats {
    const { server, sessions, listens, logs, heartbeat, unsent } = this.#state;
    const getStreams = sessions.values().reduce((sum, session) => sum + session.getStreams, 0);
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

  // Not async, like what comes after it: a call that is let in at once does not wait its turn at each door.
  #route(request: HttpRequest, responder: HttpResponder, visit: Visit | undefined): Promise<void> | void {
    visit?.arrive(request.address);
    if (visit?.isRefused(() => this.#sessionOf(request))) return refuseHurried(responder, visit.retryAfter);
    const { auth } = this.settings;
    const document = auth?.documents?.get(request.path);
    if (document !== undefined) return answerDocument(this.#state, document, request, responder);
    if (request.method === "OPTIONS" && this.settings.cors) {
      return responder.reply(204, preflightHeaders(request, allowedMethods(this.#state)));
    }
    if (auth === undefined) return this.#enter(request, responder, undefined, visit);
    return this.#authenticate(auth, request, responder, visit);
  }

  async #authenticate(
    auth: Auth,
    request: HttpRequest,
    responder: HttpResponder,
    visit: Visit | undefined,
  ): Promise<void> {
    const principal = await auth.authenticate(request);
    if (isRefusal(principal)) return refuseAuth(this.#state, responder, principal);
    assertPrincipal(principal, "What auth returned");
    await this.#enter(request, responder, principal, visit);
  }

  #enter(
    request: HttpRequest,
    responder: HttpResponder,
    principal: Principal | undefined,
    visit: Visit | undefined,
  ): Promise<void> | void {
    request.caller = principal === undefined ? addressKey(request.address ?? "") : principalKey(principal);
    if (responder.refusals !== undefined) responder.refusals.principal = principal;
    visit?.identify(principal);
    if (visit?.isRefused(() => this.#sessionOf(request))) return refuseHurried(responder, visit.retryAfter);
    if (request.path === this.settings.path) return this.#answer(request, responder, principal, visit);
    if (this.#legacySse?.isAt(request.path)) {
      return this.#legacySse.handle(request, responder, principal, visit);
    }
    refuse(responder, 404, "There is nothing here");
  }

  /** Whose client sends this, by an id that nobody can guess: known before it is asked who is calling. */
  #sessionOf(request: HttpRequest): object | undefined {
    if (request.method !== "POST") return undefined;
    if (request.path !== this.settings.path) return this.#legacySse?.clientOf(request);
    return this.#state.sessions.peek(request.header(sessionHeader) ?? "");
  }

  #answer(
    request: HttpRequest,
    responder: HttpResponder,
    principal: Principal | undefined,
    visit: Visit | undefined,
  ): Promise<void> {
    switch (request.method) {
      case "POST":
        return answerPost(this.#state, request, responder, principal, visit);
      case "GET":
        return answerGet(this.#state, request, responder, principal);
      case "DELETE":
        return answerDelete(this.#state, request, responder, principal);
      default:
        return Promise.resolve(refuseMethod(this.#state, responder));
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
