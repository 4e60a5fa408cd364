// One POST being answered, as the server sees it. What a short call never looks at is not made for it.
import type { Load } from "../limits/loads.ts";
import type { Principal } from "../protocol/model.ts";
import { isPast } from "../protocol/principal.ts";
import type { Connection, Exchange } from "../server/context/connection.ts";
import { EventStream } from "./streams/event-stream.ts";
import type { EventSink, HttpRequest, HttpResponder } from "./edge/request.ts";
import type { Tended } from "./edge/heartbeat.ts";
import type { Post } from "./parsed-post.ts";
import { eventHeaders } from "./edge/replies.ts";
import type { HttpSession } from "./session.ts";
import type { HttpState } from "./state.ts";

/** While its answer is waited for it is looked after: if that takes long, a stream keeps whoever is in between from cutting it. */
export class PostExchange implements Exchange, Tended {
  readonly connection: Connection;
  readonly era: "modern" | undefined;
  readonly principal: Principal | undefined;
  readonly address: string | undefined;
  readonly load: Load;
  place: number | undefined;
  /** Where there is one, its replies can be resumed. */
  readonly session: HttpSession | undefined;
  readonly #state: HttpState;
  readonly #request: HttpRequest;
  readonly #responder: HttpResponder;
  readonly #hasStream: boolean;
  #stream: EventStream | undefined;
  #headers: Exchange["headers"];
  #streamAt = 0;

  /** With `hasStream`, events may be sent before the answer, or with it. */
  constructor(
    state: HttpState,
    post: Post,
    connection: Connection,
    hasStream: boolean,
    session?: HttpSession,
    era?: "modern",
  ) {
    this.connection = connection;
    this.era = era;
    this.principal = post.principal;
    // A socket that has been closed no longer knows it.
    this.address = post.request.address;
    this.load = post.load;
    this.#state = state;
    this.#request = post.request;
    this.#responder = post.responder;
    this.session = session;
    this.#hasStream = hasStream;
  }

  get headers(): Exchange["headers"] {
    return (this.#headers ??= this.#state.headersOf(this.#request));
  }

  get stream(): EventStream | undefined {
    return this.#hasStream ? (this.#stream ??= this.#makeStream()) : undefined;
  }

  /** The stream, if it has been opened: the answer goes there. */
  get openStream(): EventStream | undefined {
    return this.#stream?.opened ? this.#stream : undefined;
  }

  /** Waits for an answer that is not there at once, then sends it. Not a suspended function: it may wait for days. */
  sendLater<T>(answering: Promise<T>, send: (answer: T) => Promise<void> | void): Promise<void> {
    const { heartbeat, settings } = this.#state;
    this.#streamAt = performance.now() + settings.streamAfterMs;
    if (this.#hasStream) heartbeat.add(this);
    this.session?.beginCall(this);
    return answering.then(
      (answer) => {
        this.#stopWaiting();
        return send(answer);
      },
      (error: unknown) => {
        this.#stopWaiting();
        throw error;
      },
    );
  }

  #stopWaiting(): void {
    this.#state.heartbeat.delete(this);
    this.session?.endCall(this);
  }

  /** Whether the client waits for the answer on the connection that it asked on; that of a stream is the stream's to know. */
  get isAwaited(): boolean {
    return !this.#stream?.opened && !this.#responder.gone;
  }

  tend(now: number): boolean {
    const { stream } = this;
    if (stream === undefined) return false;
    const { keepAliveMs, resumeWindowMs } = this.#state.settings;
    const { opened, lostAt } = stream;
    if (!opened && now >= this.#streamAt) stream.open();
    if (stream.opened) stream.keepAlive(now, keepAliveMs);
    // The call goes on: where the client can come back for its answer, it needs a fresh token for that.
    if (isPast(stream.expiresAt)) stream.pause();
    if (lostAt !== undefined && now - lostAt >= resumeWindowMs) stream.giveUp();
    return true;
  }

  /** The stream of the reply. In a session it is logged: a client that loses it comes back for the rest. */
  #makeStream(): EventStream {
    const state = this.#state;
    const { session } = this;
    const open = (): EventSink => this.#responder.stream(eventHeaders);
    if (session === undefined) return new EventStream({ open });
    const reply = new EventStream({
      open,
      resumable: () => state.resumable("post", session, this.principal),
      primes: session.connection.revision?.primesStreams,
      onOpened: (stream) => {
        if (stream.log !== undefined) session.streams.set(stream.log.id, stream);
      },
    });
    reply.expiresAt = this.principal?.expiresAt;
    return reply;
  }
}
