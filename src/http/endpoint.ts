// The MCP endpoint: the guard, the routes, and the end, whatever edge a request came in by.
import { within } from "../pipe/within.ts";
import type { Principal } from "../protocol/model.ts";
import type { Servable } from "../server/server.ts";
import { preflightHeaders, withCors } from "./cors.ts";
import type { HttpRequest, HttpResponder } from "./exchange.ts";
import { Guard } from "./guard.ts";
import { sessionHeader } from "./legacy-post.ts";
import { LegacySse } from "./legacy-sse.ts";
import { checkSharedState, type HttpOptions, type HttpSettings, resolveHttpOptions } from "./options.ts";
import { answerPost } from "./post.ts";
import { refuse, refuseClosing } from "./replies.ts";
import { allowedMethods, answerDelete, answerGet, refuseMethod } from "./session-routes.ts";
import { HttpState } from "./state.ts";

/** What is open at this moment. */
export interface HttpStats {
  readonly sessions: number;
  /** Open GET, listen and HTTP+SSE streams. */
  readonly streams: number;
  /** Open listen requests. */
  readonly subscriptions: number;
  readonly inFlight: number;
  readonly replayStreams: number;
  readonly replayBytes: number;
  readonly timers: number;
}

export class Endpoint {
  readonly settings: HttpSettings;
  readonly #state: HttpState;
  readonly #guard: Guard;
  readonly #legacySse: LegacySse | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  #onIdle: () => void = () => {};

  constructor(server: Servable, options: HttpOptions, hosts: readonly string[]) {
    checkSharedState(options, server);
    this.settings = resolveHttpOptions(options);
    const { legacySse, allowedOrigins } = this.settings;
    this.#state = new HttpState(server, this.settings);
    this.#guard = new Guard({ allowedHosts: hosts, allowedOrigins });
    this.#legacySse = legacySse && new LegacySse(this.#state, legacySse);
  }

  /** Answers one request. */
  async handle(request: HttpRequest, responder: HttpResponder): Promise<void> {
    if (this.#state.closing && !this.#mayAnswer(request)) return refuseClosing(responder);
    const refusal = this.#guard.check(request);
    if (refusal !== undefined) {
      this.#state.server.logger.warn(refusal.reason);
      return refuse(responder, refusal.status, refusal.reason);
    }
    this.#inFlight++;
    try {
      const { cors } = this.settings;
      await this.#route(request, cors ? withCors(cors, request, responder) : responder);
    } catch (error) {
      this.#state.server.logger.error("A request could not be answered", { error });
      refuse(responder, 500, "Internal error");
    } finally {
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
    for (const connection of listens.keys()) for (const end of connection.subscriptions.values()) end();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
    });
    const { graceMs } = this.settings;
    const answered = Promise.all([idle, ...listens.values()]).then(() => {});
    await Promise.all([within(graceMs, answered), this.#legacySse?.close(graceMs)]);
    this.#state.sessions.closeAll();
    this.#state.heartbeat.stop();
  }

  stats(): HttpStats {
    const { sessions, listens, logs, heartbeat } = this.#state;
    const getStreams = sessions.values().reduce((sum, session) => sum + session.getStreams, 0);
    // Over HTTP+SSE a stream is a session.
    const sseStreams = this.#legacySse?.size ?? 0;
    return {
      sessions: sessions.size + sseStreams,
      streams: getStreams + listens.size + sseStreams,
      subscriptions: listens.size,
      inFlight: this.#inFlight,
      replayStreams: logs.streams,
      replayBytes: logs.bytes,
      timers: heartbeat.running ? 1 : 0,
    };
  }

  async #route(request: HttpRequest, responder: HttpResponder): Promise<void> {
    if (request.method === "OPTIONS" && this.settings.cors) {
      return responder.reply(204, preflightHeaders(request, allowedMethods(this.#state)));
    }
    const { authenticate } = this.settings;
    const principal = authenticate && (await authenticate(request));
    if (request.path === this.settings.path) return this.#answer(request, responder, principal);
    if (await this.#legacySse?.handle(request, responder, principal)) return;
    refuse(responder, 404, "There is nothing here");
  }

  #answer(request: HttpRequest, responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    switch (request.method) {
      case "POST":
        return answerPost(this.#state, request, responder, principal);
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
