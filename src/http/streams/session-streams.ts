// The streams of one session: chooses which one gets a message, resumes them, and tracks lost messages.
import type { Principal } from "../../protocol/model.ts";
import { isGranted } from "../../protocol/scopes.ts";
import { Callbacks } from "../../async/callbacks.ts";
import type { Stream } from "../../push/listener.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import type { RequestId } from "../../wire/message.ts";
import type { Connection } from "../../server/context/connection.ts";
import { encodeEvent, encodePriming } from "../../wire/sse.ts";
import type { Heartbeat, Tended } from "../edge/heartbeat.ts";
import { eventHeaders } from "../edge/replies.ts";
import type { EventSink, HttpResponder } from "../edge/request.ts";
import { EventStream, type StreamOwner, type StreamTimes } from "./event-stream.ts";
import { isPostEvent, type StreamKind, type StreamLog, type StreamLogs } from "./stream-log.ts";
import type { Witnessed } from "./witness.ts";

type LoggedStream = EventStream<StreamLog>;

/** How many GET streams one session may have, open or lost; one more ends the least useful. */
const maxGetStreams = 8;

/** What the sessions of an endpoint share. */
export interface StreamHost extends Witnessed {
  readonly logs: StreamLogs;
  readonly heartbeat: Heartbeat;
  readonly server: ServerPort;
  /** Ends the session here if the engine has lost it. */
  checkSession(connection: Connection): void;
  readonly settings: StreamTimes & {
    readonly retryMs: number;
    readonly limits: { readonly keepMs: number; readonly idleMs: number };
  };
}

/** The streams of one session, on this node alone or in a cluster. */
export interface ClientStreams extends Stream {
  /** Its streams here, open or lost. */
  readonly all: readonly EventStream[];
  /** How many GET streams are open here. */
  readonly openGets: number;
  /** Whether a client is connected to a stream here. */
  readonly isRead: boolean;
  /** Opens a GET stream without `Last-Event-ID`. */
  open(responder: HttpResponder, principal: Principal | undefined): Promise<void> | void;
  /** Resumes the stream of `lastEventId`. Returns false if that is a POST stream that can no longer be resumed. */
  resume(
    lastEventId: string,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<boolean> | boolean;
  /** The stream of the reply to requests with these ids, which opens with its first event. Only a cluster needs the ids. */
  reply(
    responder: HttpResponder,
    principal: Principal | undefined,
    readIds: () => readonly RequestId[],
  ): EventStream;
  /** Called when the session was restored from its record. */
  revived(): void;
  /** Ends every stream, because the session ends. */
  close(): void;
  /** Whether the call of that POST stream runs here. */
  runs(stream: number): boolean;
  /** Called when another node of the cluster has left it. */
  nodeLeft(node: string): void;
  /** Called when the engine of the cluster works again. */
  engineBack(): void;
}

/**
 * The hub sees one stream. While no client is connected, messages wait in the mailbox of the session's listener. Each message goes
 * to exactly one GET stream, which logs and writes it; it never moves to another.
 */
export class SessionStreams implements ClientStreams, StreamOwner<StreamLog>, Tended {
  place: number | undefined;
  readonly #host: StreamHost;
  readonly #connection: Connection;
  /** GET streams, open or lost, least recently connected first. */
  #gets: LoggedStream[] = [];
  /** POST streams, open or lost, by the id of their log; usually none. */
  #replies: Map<string, LoggedStream> | undefined;
  #drains: Callbacks | undefined;

  constructor(host: StreamHost, connection: Connection) {
    this.#host = host;
    this.#connection = connection;
  }

  // For the routes.

  /**
   * Opens a GET stream without `Last-Event-ID`. The client may have missed messages on its earlier ones: a connection that looks open
   * may be dead.
   */
  open(responder: HttpResponder, principal: Principal | undefined): void {
    if (this.#gets.some(({ log }) => log?.hasUnconfirmed)) this.markGap();
    this.#openGet(responder, principal);
  }

  /**
   * Resumes the stream of `lastEventId`: the client gets the messages after that event, then new ones. If the log is gone, a GET
   * gets a new stream that begins with a notification for each topic, and a POST stream returns false.
   */
  resume(lastEventId: string, responder: HttpResponder, principal: Principal | undefined): boolean {
    const found = this.#host.logs.find(lastEventId, this.#connection.session);
    const missed = found?.log.after(found.sequence);
    // The log holds what its first reader's scopes allowed, so a token with fewer scopes must not read it.
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
    // A client knows only the ids of this connection, and it may be cut before the next event.
    if (this.primes) sink.write(encodePriming(lastEventId, this.retryMs));
    missed.forEach((text, at) => sink.write(encodeEvent(text, log.eventId(sequence + at + 1))));
    this.#continue(log, sink, principal);
    return true;
  }

  /** The stream of the reply to a POST, which opens with its first event. */
  reply(responder: HttpResponder, principal: Principal | undefined): LoggedStream {
    return this.#make("post", responder, principal);
  }

  #make(kind: StreamKind, responder: HttpResponder, principal: Principal | undefined): LoggedStream {
    const stream = new EventStream(kind, responder, { host: this.#host, connection: this.#connection }, this);
    stream.readWith(principal);
    return stream;
  }

  // A process on its own has no other nodes.

  runs(): boolean {
    return false;
  }

  nodeLeft(): void {}

  engineBack(): void {}

  /** This process does not know which earlier pushes arrived. */
  revived(): void {
    this.markGap();
  }

  /** Records that messages may be lost: the next open stream begins with a notification for each topic. */
  markGap(): void {
    // Those notifications cover everything that was sent so far.
    for (const { log } of this.#gets) log?.confirm();
    const { listener, session } = this.#connection;
    listener?.markGap();
    this.#host.server.observe?.({ type: "gap", session });
  }

  /** Ends every stream, because the session ends. */
  close(): void {
    for (const stream of this.all) this.#discard(stream);
  }

  /** How many GET streams are open. */
  get openGets(): number {
    return this.#gets.filter(isOpen).length;
  }

  /** Whether a client is connected to a stream. */
  get isRead(): boolean {
    return this.all.some(isOpen);
  }

  get all(): LoggedStream[] {
    return [...this.#gets, ...(this.#replies?.values() ?? [])];
  }

  // For the hub.

  get reachable(): boolean {
    return this.#gets.some(isOpen);
  }

  get congested(): boolean {
    return this.#choose()?.congested ?? false;
  }

  write(text: string): boolean {
    return this.#choose()?.write(text) ?? false;
  }

  /** While no stream is open, a message waits for the next one, whose scopes are then checked. */
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

  /** Chooses the GET stream for a message: of those whose reader has the scopes, the newest that has room, else the newest. */
  #choose(scopes?: readonly string[]): LoggedStream | undefined {
    let newest: LoggedStream | undefined;
    let newestWithRoom: LoggedStream | undefined;
    for (const stream of this.#gets) {
      if (!isOpen(stream) || !isGranted(scopes, stream)) continue;
      newest = stream;
      if (!stream.congested) newestWithRoom = stream;
    }
    return newestWithRoom ?? newest;
  }

  // For its streams.

  get primes(): boolean {
    return this.#connection.revision?.primesStreams === true;
  }

  get retryMs(): number {
    return this.#host.settings.retryMs;
  }

  openLog(kind: StreamKind): StreamLog {
    return this.#host.logs.open(kind, this.#connection);
  }

  changed(stream: LoggedStream): void {
    if (stream.kind === "get") this.#getChanged(stream);
    else this.#replyChanged(stream);
  }

  drained({ kind }: LoggedStream): void {
    if (kind === "get") this.#drains?.call();
  }

  #getChanged(stream: LoggedStream): void {
    if (stream.state === "lost") return;
    this.#gets = this.#gets.filter((other) => other !== stream);
    if (stream.state === "ended") return;
    this.#gets.push(stream);
    this.#host.heartbeat.add(this);
    if (this.#gets.length > maxGetStreams) this.#drop(this.#leastUseful());
    this.#drains?.call();
  }

  #replyChanged(stream: LoggedStream): void {
    const { state, log } = stream;
    if (log === undefined) return;
    if (state === "ended") this.#replies?.delete(log.id);
    else (this.#replies ??= new Map()).set(log.id, stream);
    if (this.#replies?.size === 0) this.#replies = undefined;
  }

  tend(now: number): boolean {
    const { settings } = this.#host;
    // `#drop` replaces `#gets`, so this loop keeps its list.
    for (const stream of this.#gets) {
      stream.tend(now, settings);
      if (stream.state !== "lost") continue;
      const isLate = stream.age(now) >= settings.resumeWindowMs;
      if (stream.age(now) >= settings.limits.keepMs) this.#drop(stream);
      // The client did not reconnect in time; if another of its streams is open, send the notifications there.
      else if (isLate && this.reachable && stream.log?.hasUnconfirmed) this.#sendGap();
    }
    return this.#gets.length > 0;
  }

  #openGet(responder: HttpResponder, principal: Principal | undefined): void {
    this.#make("get", responder, principal).open();
  }

  /** Continues the stream of a log on a connection on which the missed messages have been written. */
  #continue(log: StreamLog, sink: EventSink, principal: Principal | undefined): void {
    const stream = this.#replies?.get(log.id) ?? this.#gets.find((get) => get.log === log);
    if (stream !== undefined) {
      stream.readWith(principal);
      return stream.resume(sink);
    }
    sink.end();
    // The client has the complete stream. It would reconnect forever if the log were kept.
    if (!log.hasUnconfirmed) this.#host.logs.remove(log);
  }

  /** Drops a GET stream that the client has not resumed; messages on it may be lost. */
  #drop(stream: LoggedStream): void {
    this.#discard(stream);
    if (stream.log?.hasUnconfirmed) this.#sendGap();
  }

  #discard(stream: LoggedStream): void {
    stream.end();
    if (stream.log !== undefined) this.#host.logs.remove(stream.log);
  }

  #sendGap(): void {
    this.markGap();
    this.#drains?.call();
  }

  /** The oldest lost stream, else the oldest. */
  #leastUseful(): LoggedStream {
    const [oldest] = this.#gets;
    return this.#gets.find(({ state }) => state === "lost") ?? (oldest as LoggedStream);
  }
}

function isOpen({ state }: LoggedStream): boolean {
  return state === "open";
}
