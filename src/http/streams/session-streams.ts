// The streams of one session: which of them takes a message, what a client that comes back gets, and what it has lost.
import type { Principal } from "../../protocol/model.ts";
import { isGranted } from "../../protocol/scopes.ts";
import { Callbacks } from "../../async/callbacks.ts";
import type { Stream } from "../../push/listener.ts";
import type { Connection } from "../../server/context/connection.ts";
import { encodeEvent, encodePriming } from "../../wire/sse.ts";
import type { Heartbeat, Tended } from "../edge/heartbeat.ts";
import { eventHeaders } from "../edge/replies.ts";
import type { EventSink, HttpResponder } from "../edge/request.ts";
import { EventStream, type StreamOwner, type StreamTimes } from "./event-stream.ts";
import { isPostEvent, type StreamKind, type StreamLog, type StreamLogs } from "./stream-log.ts";

/** How many GET streams one session may have, open or waiting for the client to come back; past it, one ends. */
const maxGetStreams = 8;

/** What the sessions of an endpoint share. */
export interface StreamHost {
  readonly logs: StreamLogs;
  readonly heartbeat: Heartbeat;
  readonly server: { readonly usesScopes: boolean };
  readonly settings: StreamTimes & {
    readonly retryMs: number;
    readonly limits: { readonly keepMs: number };
  };
}

/**
 * For the hub it is one stream, whose messages wait in the mailbox of the session's listener while nobody is connected. A message
 * goes to exactly one GET stream, is logged there, and is then written; it never moves to another.
 */
export class SessionStreams implements Stream, StreamOwner, Tended {
  place: number | undefined;
  readonly #host: StreamHost;
  readonly #connection: Connection;
  /** GET streams that are open or lost, least recently connected first. */
  #gets: EventStream[] = [];
  /** Streams of replies that are open or lost, by the id of their log; there are none most of the time. */
  #replies: Map<string, EventStream> | undefined;
  #drains: Callbacks | undefined;

  constructor(host: StreamHost, connection: Connection) {
    this.#host = host;
    this.#connection = connection;
  }

  // What routes ask for.

  /** Opens a GET stream for a client that names no event: it may have lost what was written to streams that were cut. */
  open(responder: HttpResponder, principal: Principal | undefined): void {
    const isLost = ({ state, log }: EventStream): boolean => state === "lost" && log?.hasUnconfirmed === true;
    if (this.#gets.some(isLost)) this.markGap();
    this.#openGet(responder, principal);
  }

  /**
   * Resumes the stream of an event: the client gets what it has missed, then what comes. A GET stream that is no longer kept is
   * replaced by a fresh one that begins with what to read again. False for a POST stream that is no longer kept.
   */
  resume(lastEventId: string, responder: HttpResponder, principal: Principal | undefined): boolean {
    const found = this.#host.logs.find(lastEventId, this.#connection.session);
    const missed = found?.log.after(found.sequence);
    // A log has what its reader was granted: for a token with less it is not kept.
    const mayRead = !this.#host.server.usesScopes || isGranted(found?.log.scopes, principal);
    if (found === undefined || missed === undefined || !mayRead) {
      if (isPostEvent(lastEventId)) return false;
      this.markGap();
      this.#openGet(responder, principal);
      return true;
    }
    const { log, sequence } = found;
    log.confirm(sequence);
    const sink = responder.stream(eventHeaders);
    // Clients only know the ids that this connection brings: one that is cut before the next event must have this one.
    if (this.primes) sink.write(encodePriming(lastEventId, this.retryMs));
    missed.forEach((text, at) => sink.write(encodeEvent(text, log.eventId(sequence + at + 1))));
    this.#goOn(log, sink, principal);
    return true;
  }

  /** The stream of the reply to a POST, which is opened when it is first written to. */
  reply(responder: HttpResponder, principal: Principal | undefined): EventStream {
    const stream = new EventStream("post", responder, this);
    stream.readWith(principal);
    return stream;
  }

  /** Pushes may have been lost: the next stream that is opened begins with what the client has to read again. */
  markGap(): void {
    // If that is lost too, then on a stream that has not confirmed it.
    for (const { log } of this.#gets) log?.confirm();
    this.#connection.listener?.markGap();
  }

  /** The session ends: nobody comes back for any of its streams. */
  close(): void {
    for (const stream of [...this.#gets, ...(this.#replies?.values() ?? [])]) this.#discard(stream);
  }

  /** How many GET streams are open. */
  get openGets(): number {
    return this.#gets.filter(isOpen).length;
  }

  /** Whether a client reads one of them. */
  get isRead(): boolean {
    return this.#gets.some(isOpen) || [...(this.#replies?.values() ?? [])].some(isOpen);
  }

  // What the hub asks for.

  get reachable(): boolean {
    return this.#gets.some(isOpen);
  }

  get congested(): boolean {
    return this.#choose()?.congested ?? false;
  }

  write(text: string): boolean {
    return this.#choose()?.write(text) ?? false;
  }

  /** While there is no stream, a message waits for the next one, whoever opens it. */
  forScopes(scopes: readonly string[]): Stream | undefined {
    return this.#choose(scopes) ?? (this.reachable ? undefined : this);
  }

  onDrain(callback: () => void): () => void {
    return (this.#drains ??= new Callbacks()).add(callback);
  }

  onLost(callback: () => void): () => void {
    return this.#choose()?.onLost(callback) ?? (() => {});
  }

  destroy(): void {
    for (const stream of this.#gets.filter(isOpen)) stream.destroy();
  }

  /** The one GET stream that takes a message: the newest that has room and whose reader has the scopes, else the newest. */
  #choose(scopes?: readonly string[]): EventStream | undefined {
    let newest: EventStream | undefined;
    let newestWithRoom: EventStream | undefined;
    for (const stream of this.#gets) {
      if (!isOpen(stream) || !isGranted(scopes, stream)) continue;
      newest = stream;
      if (!stream.congested) newestWithRoom = stream;
    }
    return newestWithRoom ?? newest;
  }

  // What its streams ask for, and tell.

  get primes(): boolean {
    return this.#connection.revision?.primesStreams === true;
  }

  get retryMs(): number {
    return this.#host.settings.retryMs;
  }

  openLog(kind: StreamKind): StreamLog {
    return this.#host.logs.open(kind, this.#connection);
  }

  changed(stream: EventStream): void {
    if (stream.kind === "get") this.#getChanged(stream);
    else this.#replyChanged(stream);
  }

  drained({ kind }: EventStream): void {
    if (kind === "get") this.#drains?.call();
  }

  #getChanged(stream: EventStream): void {
    if (stream.state === "lost") return;
    this.#gets = this.#gets.filter((other) => other !== stream);
    if (stream.state === "ended") return;
    this.#gets.push(stream);
    this.#host.heartbeat.add(this);
    if (this.#gets.length > maxGetStreams) this.#drop(this.#leastUseful());
    this.#drains?.call();
  }

  #replyChanged(stream: EventStream): void {
    const { state, log } = stream;
    if (log === undefined) return;
    if (state === "ended") this.#replies?.delete(log.id);
    else (this.#replies ??= new Map()).set(log.id, stream);
    if (this.#replies?.size === 0) this.#replies = undefined;
  }

  tend(now: number): boolean {
    const { settings } = this.#host;
    // What is looked at may end, and leave the list.
    for (const stream of this.#gets) {
      stream.tend(now, settings);
      if (stream.state !== "lost") continue;
      const isLate = stream.age(now) >= settings.resumeWindowMs;
      if (stream.age(now) >= settings.limits.keepMs) this.#drop(stream);
      // The client did not come back in time; where it can be reached on another stream, it is told what to read again.
      else if (isLate && this.reachable && stream.log?.hasUnconfirmed) this.#tellGap();
    }
    return this.#gets.length > 0;
  }

  #openGet(responder: HttpResponder, principal: Principal | undefined): void {
    const stream = new EventStream("get", responder, this);
    stream.readWith(principal);
    stream.open();
  }

  /** Goes on with the stream of a log, on a connection that has what the client had missed. */
  #goOn(log: StreamLog, sink: EventSink, principal: Principal | undefined): void {
    const stream = this.#replies?.get(log.id) ?? this.#gets.find((get) => get.log === log);
    if (stream !== undefined) {
      stream.readWith(principal);
      return stream.resume(sink);
    }
    sink.end();
    // It has the whole of a stream that has ended. A client that still comes back would do so for ever.
    if (!log.hasUnconfirmed) this.#host.logs.remove(log);
  }

  /** Nobody comes back to this GET stream any more: what was sent on it may be lost. */
  #drop(stream: EventStream): void {
    this.#discard(stream);
    if (stream.log?.hasUnconfirmed) this.#tellGap();
  }

  #discard(stream: EventStream): void {
    stream.end();
    if (stream.log !== undefined) this.#host.logs.remove(stream.log);
  }

  #tellGap(): void {
    this.markGap();
    this.#drains?.call();
  }

  /** The oldest stream that has lost its connection, else the oldest. */
  #leastUseful(): EventStream {
    const [oldest] = this.#gets;
    return this.#gets.find(({ state }) => state === "lost") ?? (oldest as EventStream);
  }
}

function isOpen({ state }: EventStream): boolean {
  return state === "open";
}
