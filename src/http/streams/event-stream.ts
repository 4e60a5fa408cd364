// One stream of events to a client: opened when it is needed; in a session logged, so that it can be resumed.
import type { Principal } from "../../protocol/model.ts";
import { isPast } from "../../protocol/principal.ts";
import { Callbacks } from "../../async/callbacks.ts";
import type { Stream } from "../../push/listener.ts";
import { encodeEvent, encodePriming, encodeRetry, keepAliveComment } from "../../wire/sse.ts";
import { eventHeaders } from "../edge/replies.ts";
import type { EventSink, HttpResponder } from "../edge/request.ts";
import type { StreamKind, StreamLog } from "./stream-log.ts";

/**
 * - `idle`: nothing has been written, and the response has not begun
 * - `open`: a client is connected
 * - `lost`: the connection has gone, and the client may come back to resume it
 * - `ended`: nothing more comes; what was sent may still be kept in its log
 */
export type StreamState = "idle" | "open" | "lost" | "ended";

/** The streams of the session that a stream belongs to: they make its log, and hear what becomes of it. */
export interface StreamOwner {
  /** Whether a stream begins with an event that only has an id, so that a client can resume before it has received anything. */
  readonly primes: boolean;
  readonly retryMs: number;
  openLog(kind: StreamKind): StreamLog;
  /** The stream has entered another state. */
  changed(stream: EventStream): void;
  /** Its reader has caught up. */
  drained(stream: EventStream): void;
}

/** How long streams last. */
export interface StreamTimes {
  readonly keepAliveMs: number;
  readonly maxStreamMs: number;
  readonly resumeWindowMs: number;
}

export class EventStream implements Stream {
  readonly kind: StreamKind;
  /** Until it is opened: a stream that has lost its connection must not keep what belongs to that. */
  #responder: HttpResponder | undefined;
  readonly #owner: StreamOwner | undefined;
  #state: StreamState = "idle";
  /** When it entered its state. */
  #since = 0;
  /** The connection, while it is open. */
  #sink: EventSink | undefined;
  #log: StreamLog | undefined;
  #drains: Callbacks | undefined;
  #losses: Callbacks | undefined;
  /** Whether anything was written since it was last looked at; a mark, since to look at the clock with each write would cost more. */
  #isFresh = true;
  #silentSince = 0;
  /** Whether its connection says when the reader has caught up. */
  #heedsDrain = false;
  /** What the token of its reader was granted. */
  scopes: readonly string[] | undefined;
  /** When its reader has to come back with a fresh token. */
  #expiresAt: number | undefined;

  /** The stream of a response; one with an owner can be resumed. */
  constructor(kind: StreamKind, responder: HttpResponder, owner?: StreamOwner) {
    this.kind = kind;
    this.#responder = responder;
    this.#owner = owner;
  }

  get state(): StreamState {
    return this.#state;
  }

  get log(): StreamLog | undefined {
    return this.#log;
  }

  get congested(): boolean {
    return this.#sink?.congested ?? false;
  }

  /** How long it has been in its state. */
  age(now: number): number {
    return now - this.#since;
  }

  /** The bearer of this token reads it from now on. */
  readWith(principal: Principal | undefined): void {
    this.#expiresAt = principal?.expiresAt;
    this.scopes = principal?.scopes;
    if (this.#log !== undefined) this.#log.scopes = this.scopes;
  }

  /** Starts the response, if that has not happened. */
  open(): void {
    const owner = this.#owner;
    const responder = this.#responder;
    if (this.#state !== "idle" || responder === undefined) return;
    this.#responder = undefined;
    if (owner !== undefined) {
      this.#log = owner.openLog(this.kind);
      this.#log.scopes = this.scopes;
    }
    this.#connect(responder.stream(eventHeaders));
    if (owner?.primes && this.#log) this.#put(encodePriming(this.#log.eventId(), owner.retryMs));
    owner?.changed(this);
  }

  /** Logs a message, then writes it: the log is what decides that a message belongs to this stream. */
  write(text: string): boolean {
    if (this.#state === "ended") return true;
    this.open();
    const id = this.#log?.append(text);
    return this.#put(encodeEvent(text, id));
  }

  onDrain(callback: () => void): () => void {
    return (this.#drains ??= new Callbacks()).add(callback);
  }

  /** Calls back when nobody can be reached on this stream any more. */
  onLost(callback: () => void): () => void {
    if (!this.#isUnreachable) return (this.#losses ??= new Callbacks()).add(callback);
    queueMicrotask(callback);
    return () => {};
  }

  /** The last message: the stream ends after it. */
  finish(text: string): void {
    this.write(text);
    this.end();
  }

  /** Nothing more comes on this stream. */
  end(): void {
    if (this.#state === "ended") return;
    this.#sink?.end();
    this.#enter("ended");
  }

  destroy(): void {
    this.#sink?.destroy();
    this.#lose();
  }

  /**
   * Closes the connection but not the stream: the client comes back and resumes. Only where it begins with an event to resume
   * from: a client that has received none would take the close for the end.
   */
  pause(): void {
    if (this.#state === "ended" || !this.#owner?.primes) return;
    this.open();
    this.#release();
  }

  /** The client did not come back in time to be asked anything; what it has missed may still be kept for it. */
  giveUp(): void {
    this.#losses?.call();
    this.#losses?.clear();
  }

  /** The client has come back, on a connection that has what it had missed: from now on it gets what comes. */
  resume(sink: EventSink): void {
    this.#sink?.end();
    this.#connect(sink);
    this.#drains?.call();
    this.#owner?.changed(this);
  }

  /** Called about once a second: keeps the connection open, and ends what has lasted long enough. */
  tend(now: number, { keepAliveMs, maxStreamMs, resumeWindowMs }: StreamTimes): void {
    const isExpired = isPast(this.#expiresAt);
    // The stream goes on: only its connection has had its time, or needs a fresh token.
    if (this.kind === "post" && isExpired) this.pause();
    if (this.#state === "lost" && this.age(now) >= resumeWindowMs) this.giveUp();
    if (this.#state !== "open") return;
    const isOver = this.kind === "get" && (isExpired || this.age(now) >= maxStreamMs);
    if (isOver) this.#release();
    else this.#keepAlive(now, keepAliveMs);
  }

  /** Whether the client can neither be reached nor come back. */
  get #isUnreachable(): boolean {
    return this.#state === "ended" || (this.#state === "lost" && this.#log?.isKept !== true);
  }

  #put(text: string): boolean {
    this.#isFresh = true;
    const sink = this.#sink;
    if (sink === undefined || sink.write(text)) return true;
    this.#heedDrain(sink);
    return false;
  }

  #keepAlive(now: number, keepAliveMs: number): void {
    this.#sink?.watch();
    if (this.#isFresh) this.#silentSince = now;
    if (now - this.#silentSince >= keepAliveMs) {
      this.#put(keepAliveComment);
      this.#silentSince = now;
    }
    this.#isFresh = false;
  }

  #release(): void {
    if (this.#owner === undefined || this.#sink === undefined) return;
    this.#sink.write(encodeRetry(this.#owner.retryMs));
    this.#sink.end();
    this.#lose();
  }

  #connect(sink: EventSink): void {
    this.#sink = sink;
    this.#state = "open";
    this.#since = performance.now();
    this.#isFresh = true;
    this.#heedsDrain = false;
    if (sink.congested) this.#heedDrain(sink);
    // The stream may have been resumed on another connection before this one was seen to close.
    sink.onClose(() => {
      if (this.#sink === sink) this.#lose();
    });
  }

  /** Most readers are never behind, and cost nothing here. */
  #heedDrain(sink: EventSink): void {
    if (this.#heedsDrain) return;
    this.#heedsDrain = true;
    sink.onDrain(() => {
      if (this.#sink === sink) this.#drained();
    });
  }

  #drained(): void {
    this.#drains?.call();
    this.#owner?.drained(this);
  }

  /** The connection has gone. A stream that can be resumed waits for the client. */
  #lose(): void {
    if (this.#sink === undefined) return;
    this.#enter(this.#log === undefined ? "ended" : "lost");
  }

  #enter(state: "lost" | "ended"): void {
    this.#sink = undefined;
    this.#state = state;
    this.#since = performance.now();
    if (state === "ended") {
      if (this.#log !== undefined) this.#log.finishedAt = this.#since;
      this.#drains?.clear();
    }
    if (this.#isUnreachable) this.giveUp();
    this.#owner?.changed(this);
  }
}
