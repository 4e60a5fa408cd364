// One event stream to a client: it opens with its first event, and in a session a log makes it resumable.
import { peerOf, type StreamEnd, type StreamEvent } from "../../../server/diagnostics/events.ts";
import type { Principal } from "../../../protocol/model.ts";
import { isPast } from "../../../protocol/principal.ts";
import { Callbacks } from "../../../base/async/callbacks.ts";
import { ignoreRejection } from "../../../base/async/promises.ts";
import type { Stream } from "../../../server/push/listener.ts";
import type { Connection } from "../../../server/context/connection.ts";
import { encodeEvent, encodePriming, encodeRetry, keepAliveComment } from "../../../base/wire/sse.ts";
import { eventHeaders } from "../edge/replies.ts";
import type { EventSink, HttpResponder } from "../edge/request.ts";
import type { StreamEvents, StreamTimes } from "./host.ts";

/** How many events may wait for the log to open. Beyond this, the stream continues without ids to resume from. */
const maxEarly = 1000;

/**
 * - `idle`: the response has not begun
 * - `open`: a client is connected
 * - `lost`: the connection is closed, and the client may resume the stream
 * - `ended`: nothing more is sent; its log may still be kept
 */
export type StreamState = "idle" | "open" | "lost" | "ended";

/** A GET stream has no end; a POST stream ends with the response. */
export type StreamKind = "get" | "post";

/** Makes a stream resumable: provides the ids of its events. */
export interface EventLog {
  /** Whether messages are kept, so that a client that reconnects gets what it has missed. */
  readonly isKept: boolean;
  /** The scopes of the token that reads the stream. */
  scopes: readonly string[] | undefined;
  /** When the stream ended. */
  finishedAt: number | undefined;
  /** Characters of messages that wait for a slow reader. */
  readonly waiting: number;
  /** The id from which a client resumes after all messages so far; undefined if there is none yet. */
  eventId(): string | undefined;
  /** The id for the event that begins a connection. */
  primingId(): string | undefined;
  /** Adds a message, and returns the id of its event; undefined if it is not kept. */
  append(text: string): string | undefined;
}

/** The session's streams, which open the log of each stream and are called when its state changes. */
export interface StreamOwner<Log extends EventLog> {
  /** Whether a stream begins with an event that only has an id, from which a client can resume before any message. */
  readonly primes: boolean;
  readonly retryMs: number;
  openLog(kind: StreamKind): Log;
  /** Called when the stream enters another state. */
  changed(stream: EventStream<Log>): void;
  /** Called when its reader has caught up. */
  drained(stream: EventStream<Log>): void;
  /** Whether {@link StreamOwner.keep} takes every message of a POST stream, and not only questions and the response. */
  readonly keepsAll: boolean;
  /**
   * Keeps a message of a POST stream where every node can read it, then has it written. Resolves when that is done, after the stream
   * has ended if it was the last.
   */
  keep(stream: EventStream<Log>, text: string, isLast: boolean): Promise<void>;
}

/** The reader of a stream, and the callbacks about it. */
export interface StreamReader {
  readonly host: StreamEvents;
  readonly connection: Connection;
}

export class EventStream<Log extends EventLog = EventLog> implements Stream {
  readonly kind: StreamKind | "listen";
  readonly #host: StreamEvents;
  readonly #connection: Connection;
  /** Set until the stream opens: a lost stream must not keep the objects of its old connection in memory. */
  #responder: HttpResponder | undefined;
  readonly #owner: StreamOwner<Log> | undefined;
  #state: StreamState = "idle";
  /** When it entered its state. */
  #since = 0;
  /** The connection, while it is open. */
  #sink: EventSink | undefined;
  #log: Log | undefined;
  #drains: Callbacks | undefined;
  #losses: Callbacks | undefined;
  /** Whether anything was written since the last `tend`; cheaper than reading the clock at each write. */
  #isFresh = true;
  #silentSince = 0;
  /** Whether `onDrain` of the connection is set. */
  #watchesDrain = false;
  /** The scopes of its reader's token. */
  scopes: readonly string[] | undefined;
  /** Events that wait until the log has the stream, so that the first can have an id to resume from. */
  #early: (() => void)[] | undefined;
  /** Whether its client has resumed it on another node. */
  isElsewhere = false;
  /** Why its connection closes. */
  #reason: StreamEnd = "cut";
  /** When its reader's token expires. */
  #expiresAt: number | undefined;

  /** Characters written so far. */
  bytes = 0;

  /** A stream with an `owner` can be resumed. Its log is opened with it, unless you pass one. */
  constructor(
    kind: StreamKind | "listen",
    responder: HttpResponder,
    { host, connection }: StreamReader,
    owner?: StreamOwner<Log>,
    log?: Log,
  ) {
    this.kind = kind;
    this.#host = host;
    this.#connection = connection;
    this.#responder = responder;
    this.#owner = owner;
    this.#log = log;
  }

  get state(): StreamState {
    return this.#state;
  }

  get log(): Log | undefined {
    return this.#log;
  }

  get congested(): boolean {
    return this.#sink?.congested ?? false;
  }

  /** Bytes that the client has not read. */
  get backlog(): number {
    return (this.#sink?.unsent ?? 0) + (this.#log?.waiting ?? 0);
  }

  /** How long it has been in its state, in milliseconds. */
  age(now: number): number {
    return now - this.#since;
  }

  /** Sets the principal that reads the stream. */
  readWith(principal: Principal | undefined): void {
    this.#expiresAt = principal?.expiresAt;
    this.scopes = principal?.scopes;
    if (this.#log !== undefined) this.#log.scopes = this.scopes;
  }

  /** Starts the response if it has not started. `resumed`: the client had the stream on another connection. */
  open(state: "opened" | "resumed" = "opened"): void {
    const owner = this.#owner;
    const responder = this.#responder;
    if (this.#state !== "idle" || responder === undefined) return;
    this.#responder = undefined;
    if (owner !== undefined) {
      this.#log ??= owner.openLog(this.kind as StreamKind);
      this.#log.scopes = this.scopes;
    }
    this.#connect(responder.stream(eventHeaders), state);
    if (owner !== undefined && this.#log?.eventId() === undefined) this.#early = [];
    else this.prime();
    owner?.changed(this);
  }

  /** Writes the event from which a client can resume before any message, if its revision has one and there is an id for it. */
  prime(): void {
    const early = this.#early;
    this.#early = undefined;
    const id = this.#owner?.primes ? this.#log?.primingId() : undefined;
    if (id !== undefined) this.#put(encodePriming(id, this.#owner?.retryMs ?? 0));
    for (const write of early ?? []) write();
  }

  /** Writes a message that is logged already. */
  send(text: string, id: string | undefined): boolean {
    this.#connection.follower?.wrote(text, this, id);
    return this.#put(encodeEvent(text, id));
  }

  /** Logs a message, then writes it; a client that was cut off in between gets it from the log. */
  write(text: string): boolean {
    if (this.#state === "ended") return true;
    if (this.kind === "post" && this.#owner?.keepsAll) {
      ignoreRejection(this.#owner.keep(this, text, false));
      return !this.congested;
    }
    this.open();
    if (this.#early !== undefined) return this.#wait(() => this.#write(text));
    return this.#write(text);
  }

  #write(text: string): boolean {
    return this.send(text, this.#log?.append(text));
  }

  onDrain(callback: () => void): () => void {
    return (this.#drains ??= new Callbacks()).add(callback);
  }

  /** Calls back when the client can no longer be reached on this stream. */
  onLost(callback: () => void): () => void {
    if (!this.#isUnreachable) return (this.#losses ??= new Callbacks()).add(callback);
    queueMicrotask(callback);
    return () => {};
  }

  /** Writes a question, which must reach the client also after it has reconnected. */
  ask(text: string): Promise<void> | void {
    if (this.#owner !== undefined && this.#state !== "ended") return this.#owner.keep(this, text, false);
    this.write(text);
  }

  /** Writes the last message and ends the stream. */
  finish(text: string): Promise<void> | void {
    if (this.#owner !== undefined && this.#state !== "ended") return this.#owner.keep(this, text, true);
    this.write(text);
    this.end();
  }

  /** Closes the connection, because the client has resumed the stream on another node. */
  leave(): void {
    this.isElsewhere = true;
    this.#reason = "moved";
    this.#sink?.end();
    this.#lose();
  }

  /** Ends the stream. */
  end(reason: StreamEnd = "ended"): void {
    if (this.#state === "ended") return;
    this.#reason = reason;
    this.#sink?.end();
    this.#enter("ended");
  }

  destroy(): void {
    this.#reason = "slow";
    this.#sink?.destroy();
    this.#lose();
  }

  /**
   * Closes the connection but not the stream, so that the client reconnects and resumes. Does nothing without a priming event: a
   * client that has no event id would take the close for the end.
   */
  pause(): void {
    if (this.#state === "ended" || !this.#owner?.primes) return;
    this.open();
    if (this.#early !== undefined) return void this.#wait(() => this.pause());
    if (this.#log?.eventId() !== undefined) this.#release();
  }

  /** Fails the questions that wait for the client, because it did not reconnect in time. The log stays. */
  giveUp(): void {
    this.#losses?.call();
    this.#losses?.clear();
  }

  /** Continues on a new connection, at the place of `log` if it has another one. */
  resume(sink: EventSink, log: Log | undefined = this.#log): void {
    this.#sink?.end();
    this.#log = log;
    this.isElsewhere = false;
    this.#connect(sink, "resumed");
    this.#drains?.call();
    this.#owner?.changed(this);
  }

  /**
   * Called about once a second: keeps the connection alive, and closes it when `maxStreamMs` is over or the token has expired.
   */
  tend(now: number, { keepAliveMs, maxStreamMs, resumeWindowMs }: StreamTimes): void {
    const isExpired = isPast(this.#expiresAt);
    // Only the connection closes: the client resumes the stream with a fresh token.
    if (this.kind === "post" && isExpired) this.pause();
    const isAlone = this.#state === "lost" && !this.isElsewhere;
    if (isAlone && this.age(now) >= resumeWindowMs) this.giveUp();
    if (this.#state !== "open") return;
    const isOver = this.kind === "get" && (isExpired || this.age(now) >= maxStreamMs);
    if (isOver) this.#release();
    else this.#keepAlive(now, keepAliveMs);
  }

  /** Whether the client is disconnected and cannot resume. */
  get #isUnreachable(): boolean {
    return this.#state === "ended" || (this.#state === "lost" && this.#log?.isKept !== true);
  }

  #wait(write: () => void): true {
    if (this.#early !== undefined && this.#early.push(write) >= maxEarly) this.prime();
    return true;
  }

  #put(text: string): boolean {
    this.#isFresh = true;
    if (this.#early !== undefined) return this.#wait(() => this.#put(text));
    this.bytes += text.length;
    const sink = this.#sink;
    if (sink === undefined || sink.write(text)) return true;
    this.#watchDrain(sink);
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
    this.#reason = "paused";
    this.#sink.end();
    this.#lose();
  }

  #connect(sink: EventSink, state: StreamEvent["state"]): void {
    if (this.#sink === undefined) this.#host.openStreams++;
    this.#sink = sink;
    this.#reason = "cut";
    this.#state = "open";
    this.#since = performance.now();
    this.#isFresh = true;
    this.#watchesDrain = false;
    this.#tell(state);
    if (sink.congested) this.#watchDrain(sink);
    // The stream may have been resumed on another connection before this one reported its close.
    sink.onClose(() => {
      if (this.#sink !== sink) return;
      if (sink.isDestroyed) this.#reason = "slow";
      this.#lose();
    });
  }

  /** Called when the reader is first behind, so that most streams need no callback. */
  #watchDrain(sink: EventSink): void {
    if (this.#watchesDrain) return;
    this.#watchesDrain = true;
    sink.onDrain(() => {
      if (this.#sink === sink) this.#drained();
    });
  }

  #drained(): void {
    this.#drains?.call();
    this.#owner?.drained(this);
  }

  /** The connection is closed: a stream with a log is lost, any other has ended. */
  #lose(): void {
    if (this.#sink !== undefined) this.#enter(this.#log === undefined ? "ended" : "lost");
  }

  #enter(state: "lost" | "ended"): void {
    if (this.#sink !== undefined) {
      this.#host.openStreams--;
      this.#tell("closed", this.#reason);
    }
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

  #tell(state: StreamEvent["state"], reason?: StreamEnd): void {
    const { server } = this.#host;
    const { follower } = this.#connection;
    if (server.observe === undefined && follower === undefined) return;
    const { kind, bytes, backlog } = this;
    const durationMs = reason && this.age(performance.now());
    const peer = peerOf(this.#connection);
    const event = { type: "stream", state, kind, reason, bytes, backlog, durationMs, ...peer } as const;
    server.observe?.(event);
    follower?.changed(event, this);
  }
}
