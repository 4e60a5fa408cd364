// One legacy session over HTTP: its connection, its streams, and which of them a push goes to.
import { findRevision } from "../protocol/revisions/index.ts";
import type { Principal } from "../protocol/model.ts";
import { identityOf } from "../protocol/principal.ts";
import { resourceUpdated } from "../protocol/notifications.ts";
import { randomId } from "../protocol/random-id.ts";
import { isGranted } from "../protocol/scopes.ts";
import { Callbacks } from "../async/callbacks.ts";
import type { Stream } from "../push/listener.ts";
import { topicOf } from "../push/topic.ts";
import { Connection } from "../server/context/connection.ts";
import type { Detach } from "../server/calls/attach.ts";
import type { SessionEnd } from "../server/calls/notifications.ts";
import type { ServerPort } from "../server/port.ts";
import type { LiveSession } from "../session/sessions.ts";
import type { SessionRecord } from "../session/store.ts";
import type { EventStream } from "./streams/event-stream.ts";

/** How many GET streams one session may have, open or waiting for the client to come back; past it, one ends. */
const maxGetStreams = 8;

/** A call that has not been answered yet. */
interface UnansweredCall {
  /** Whether its client waits for the answer. */
  readonly isAwaited: boolean;
}

export class HttpSession implements LiveSession {
  readonly connection: Connection;
  /** Streams that have not ended, by the id of their log: a client that lost one comes back for it. */
  readonly streams: Map<string, EventStream> = new Map();
  /** Its GET streams that have not ended, least recently connected first. */
  readonly #gets = new Set<EventStream>();
  readonly #outlet = new Outlet();
  /** Its calls that have not been answered; there are none most of the time. */
  #unanswered: Set<UnansweredCall> | undefined;
  readonly #detach: Detach;
  /** What a store has been told of it that may change. */
  #told: readonly unknown[];

  constructor(server: ServerPort, connection: Connection, subscriptions: readonly string[] = []) {
    this.connection = connection;
    this.#detach = server.attach(connection, this.#outlet, {
      overflow: "gap",
      held: true,
      maxQueueBytes: 256 * 1024,
      subscriptions,
    });
    this.#told = changing(connection);
  }

  /** What it may do is said by each of its requests; the session only keeps whose it is. */
  static mint(principal: Principal | undefined, caller: string): Connection {
    const session = randomId(32);
    return new Connection({ transport: "http", session, principal: identityOf(principal), caller });
  }

  /** A session that another process has begun, or that this one had let go of. */
  static revive(server: ServerPort, record: SessionRecord, caller: string): HttpSession {
    const { id, principal } = record;
    const connection = new Connection({ transport: "http", session: id, principal, caller });
    connection.revision = findRevision(record.revision);
    connection.clientInfo = record.clientInfo;
    connection.clientCapabilities = record.clientCapabilities;
    connection.logLevel = record.logLevel;
    connection.initialized = record.initialized;
    const session = new HttpSession(server, connection, record.subscriptions);
    // What was pushed to it before, and whether that arrived, is not known here.
    session.makeGood();
    return session;
  }

  get id(): string {
    return this.connection.session ?? "";
  }

  get principal(): Principal | undefined {
    return this.connection.principal;
  }

  get caller(): string {
    return this.connection.caller;
  }

  get busy(): boolean {
    return this.connection.inFlight.size > 0 || this.#isRead;
  }

  get connected(): boolean {
    if (this.#isRead) return true;
    for (const call of this.#unanswered ?? []) if (call.isAwaited) return true;
    return false;
  }

  /** Whether a client reads one of its streams. */
  get #isRead(): boolean {
    for (const stream of this.streams.values()) if (stream.live) return true;
    return false;
  }

  /** A call that is not answered at once. */
  beginCall(call: UnansweredCall): void {
    (this.#unanswered ??= new Set()).add(call);
  }

  endCall(call: UnansweredCall): void {
    this.#unanswered?.delete(call);
    if (this.#unanswered?.size === 0) this.#unanswered = undefined;
  }

  /** How many GET streams are open. */
  get getStreams(): number {
    return this.#outlet.size;
  }

  /** The URIs of the resources that the client has subscribed to. */
  get subscriptions(): string[] {
    const prefix = topicOf(resourceUpdated, "");
    const topics = [...(this.connection.listener?.topics ?? [])].filter((topic) => topic.startsWith(prefix));
    return topics.map((topic) => topic.slice(prefix.length));
  }

  /** Whether there is something that a store should be told. */
  get hasChanged(): boolean {
    return changing(this.connection).some((value, at) => value !== this.#told[at]);
  }

  record(): SessionRecord {
    this.#told = changing(this.connection);
    const { revision, clientInfo, clientCapabilities, logLevel, initialized } = this.connection;
    const date = revision?.date ?? "";
    return {
      id: this.id,
      principal: this.principal,
      revision: date,
      clientInfo,
      clientCapabilities,
      logLevel,
      initialized,
      subscriptions: this.subscriptions,
    };
  }

  /** A GET stream that takes pushes from now on. */
  addGetStream(stream: EventStream): void {
    this.#gets.delete(stream);
    this.#gets.add(stream);
    this.#outlet.add(stream);
    if (stream.log !== undefined) this.streams.set(stream.log.id, stream);
    if (this.#gets.size > maxGetStreams) this.dropGetStream(this.#leastUseful());
    this.connection.listener?.release();
  }

  /** Whether the stream is open, or may still be resumed. */
  hasGetStream(stream: EventStream): boolean {
    return this.#gets.has(stream);
  }

  /** Nobody comes back to this stream any more. */
  dropGetStream(stream: EventStream): void {
    this.#gets.delete(stream);
    if (stream.log !== undefined) this.streams.delete(stream.log.id);
    stream.discard();
    if (owes(stream)) this.#sayReadAgain();
  }

  /** The client did not come back to a stream in time. Where it can be reached on another, it is told what to read again. */
  giveUpGetStream(stream: EventStream): void {
    stream.giveUp();
    if (this.#outlet.size > 0 && owes(stream)) this.#sayReadAgain();
  }

  /**
   * The client has come without the id of an event, so that it may have lost what was written to streams that were cut. What
   * they have sent stays theirs, for a client that comes back to them after all; the next stream says what to read again.
   */
  settleLost(): void {
    if ([...this.#gets].some((stream) => !stream.live && owes(stream))) this.makeGood();
  }

  /** A stream has lost its connection, or has ended. */
  streamGone(stream: EventStream): void {
    this.#outlet.delete(stream);
    if (this.#outlet.size === 0) this.connection.listener?.hold();
  }

  /** Pushes have been lost: the stream that is opened next begins with what the client has to read again. */
  makeGood(): void {
    this.connection.listener?.hold();
    this.#sayReadAgain();
  }

  close(reason?: SessionEnd): void {
    void this.#detach(reason);
    this.connection.inFlight.cancelAll("The session has ended");
    for (const stream of this.streams.values()) stream.discard();
    this.streams.clear();
    this.#gets.clear();
  }

  /** Whatever was sent until now is made good by it. If it is lost in its turn, then on a stream that owes it. */
  #sayReadAgain(): void {
    for (const { log } of this.#gets) log?.settle();
    this.connection.listener?.makeGood();
  }

  /** The oldest stream that has lost its connection, else the oldest. */
  #leastUseful(): EventStream {
    const [oldest] = this.#gets;
    for (const stream of this.#gets) if (!stream.live) return stream;
    return oldest as EventStream;
  }
}

/** Whether something was sent on the stream that the client may have lost, and has not been told of. */
function owes({ log }: EventStream): boolean {
  return log?.isSettled === false;
}

/** What of a session changes while it lives. */
function changing({ initialized, logLevel, listener }: Connection): readonly unknown[] {
  return [initialized, logLevel, listener?.topicChanges];
}

/** The GET streams of a session as one: each message goes to exactly one of them, the newest that has room. */
class Outlet implements Stream {
  /** With the way to stop hearing of each. */
  readonly #streams = new Map<EventStream, () => void>();
  readonly #drains = new Callbacks();

  get size(): number {
    return this.#streams.size;
  }

  get congested(): boolean {
    return this.#pick()?.congested ?? false;
  }

  add(stream: EventStream): void {
    this.delete(stream);
    this.#streams.set(
      stream,
      stream.onDrain(() => this.#drains.call()),
    );
  }

  delete(stream: EventStream): void {
    this.#streams.get(stream)?.();
    this.#streams.delete(stream);
  }

  write(text: string): boolean {
    return this.#pick()?.write(text) ?? false;
  }

  /** While there is no stream, what waits is for the next to show. */
  forScopes(scopes: readonly string[]): Stream | undefined {
    return this.size === 0 ? this : this.#pick(scopes);
  }

  onDrain(callback: () => void): () => void {
    return this.#drains.add(callback);
  }

  onLost(callback: () => void): () => void {
    return this.#pick()?.onLost(callback) ?? (() => {});
  }

  destroy(): void {
    for (const stream of this.#streams.keys()) stream.destroy();
  }

  #pick(scopes?: readonly string[]): EventStream | undefined {
    let newest: EventStream | undefined;
    let newestWithRoom: EventStream | undefined;
    for (const stream of this.#streams.keys()) {
      if (!isGranted(scopes, stream)) continue;
      newest = stream;
      if (!stream.congested) newestWithRoom = stream;
    }
    return newestWithRoom ?? newest;
  }
}
