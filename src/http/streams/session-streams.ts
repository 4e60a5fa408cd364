// The streams of one session: this node writes what the session's log gives to the streams that it holds.
import type { LogEntry } from "../../backplane/engine.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Principal } from "../../protocol/model.ts";
import { isGranted } from "../../protocol/scopes.ts";
import { Callbacks } from "../../async/callbacks.ts";
import type { Stream } from "../../push/listener.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import { logKeptMs } from "../../session/limits.ts";
import type { RequestId } from "../../wire/message.ts";
import type { Heartbeat, Tended } from "../edge/heartbeat.ts";
import type { HttpResponder } from "../edge/request.ts";
import { Cursor, isPostEvent, readEventId } from "./cursor.ts";
import type { EventStream, StreamKind, StreamOwner, StreamTimes } from "./event-stream.ts";
import { GetStreams } from "./get-streams.ts";
import { ReplyStreams } from "./reply-streams.ts";
import { type EntryTaker, type PlacedEntry, SessionLog } from "./session-log.ts";
import type { Witnessed } from "./witness.ts";

/** What the sessions of an endpoint share. */
export interface StreamHost extends Witnessed {
  readonly heartbeat: Heartbeat;
  readonly server: ServerPort;
  /** Ends the session here if the engine has lost it. */
  checkSession(connection: Connection): void;
  readonly settings: StreamTimes & {
    readonly retryMs: number;
    readonly limits: { readonly keepMs: number; readonly idleMs: number; readonly maxStreamBytes: number };
  };
}

/** The streams here, and the log that they read. */
interface Open {
  readonly log: SessionLog;
  readonly gets: GetStreams;
  readonly replies: ReplyStreams;
}

/** The hub sees one stream: that of the GET stream which is active, on whatever node. */
export class SessionStreams implements Stream, StreamOwner<Cursor>, EntryTaker, Tended {
  place: number | undefined;
  /** What is pushed while no client is connected here is in the logs. */
  readonly recovers = true;
  readonly #host: StreamHost;
  readonly #connection: Connection;
  /** Made for the first stream: most sessions have none most of the time. */
  #open: Open | undefined;
  #drains: Callbacks | undefined;
  #ends: Callbacks | undefined;

  constructor(host: StreamHost, connection: Connection) {
    this.#host = host;
    this.#connection = connection;
  }

  get #opened(): Open {
    return (this.#open ??= this.#make());
  }

  #make(): Open {
    const connection = this.#connection;
    const host = this.#host;
    const { server, settings } = host;
    const { logger, cluster, changes } = server;
    const { session = "", caller } = connection;
    const { limits } = settings;
    const keepMs = logKeptMs(limits);
    const missing = (): void => host.checkSession(connection);
    const kept = { keepMs, maxBytes: limits.maxStreamBytes };
    const log = new SessionLog({ cluster, logger, session, caller, kept, missing }, this);
    const soon = (work: Promise<unknown>): void => logRejection(logger, "Writing to a session's log", work);
    const drained = (): void => this.#drains?.call();
    const parts = { cluster, server, host, changes, connection, log, owner: this, soon, drained };
    return { log, gets: new GetStreams(parts), replies: new ReplyStreams(parts) };
  }

  // For the routes.

  open(responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    return this.#opened.gets.connect(responder, principal);
  }

  async resume(
    lastEventId: string,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<boolean> {
    const cursor = readEventId(lastEventId);
    if (cursor?.kind === "post") return this.#opened.replies.resume(cursor, responder, principal);
    if (isPostEvent(lastEventId)) return false;
    await this.#opened.gets.resume(cursor, responder, principal);
    return true;
  }

  reply(
    responder: HttpResponder,
    principal: Principal | undefined,
    readIds: () => readonly RequestId[],
  ): EventStream<Cursor> {
    return this.#opened.replies.make(responder, principal, readIds());
  }

  /** Ends every stream here, because the session ends, or only leaves this process. */
  close(hasEnded: boolean): void {
    for (const stream of this.#open?.gets.open ?? []) stream.end();
    this.#open?.replies.close();
    if (hasEnded) this.#ends?.finish();
  }

  get all(): EventStream<Cursor>[] {
    return this.#open ? [...this.#open.gets.open, ...this.#open.replies.streams] : [];
  }

  get openGets(): number {
    return this.#open?.gets.open.length ?? 0;
  }

  get isRead(): boolean {
    return this.openGets > 0 || this.#open?.replies.streams.some(({ state }) => state === "open") === true;
  }

  /** Whether the call of that POST stream runs here. */
  runs(stream: number): boolean {
    return this.#open?.replies.runs(stream) === true;
  }

  nodeLeft(node: string): void {
    this.#open?.gets.nodeLeft(node);
    this.#open?.replies.nodeLeft(node);
  }

  /** The engine is back: a node may have finished a call without being able to say so, and the session may be lost. */
  engineBack(): void {
    this.#open?.replies.checkAll();
    if (this.isRead) this.#host.checkSession(this.#connection);
  }

  // For the hub.

  get #active(): EventStream<Cursor> | undefined {
    return this.#open?.gets.active;
  }

  get reachable(): boolean {
    return this.#active !== undefined;
  }

  get congested(): boolean {
    return this.#active?.congested ?? false;
  }

  write(text: string, position?: string): boolean {
    return this.#open?.gets.write(text, position) ?? true;
  }

  async ask(text: string): Promise<void> {
    await this.#opened.log.append({ k: "push", m: text });
  }

  forScopes(scopes: readonly string[]): Stream | undefined {
    const active = this.#active;
    return active === undefined || isGranted(scopes, active) ? this : undefined;
  }

  onDrain(callback: () => void): () => void {
    return (this.#drains ??= new Callbacks()).add(callback);
  }

  /** A question is in the log, and the client gets it when it connects, until the question times out or the session ends. */
  onLost(callback: () => void): () => void {
    return (this.#ends ??= new Callbacks()).add(callback);
  }

  destroy(): void {
    this.#active?.destroy();
  }

  // For its streams.

  get primes(): boolean {
    return this.#connection.revision?.primesStreams === true;
  }

  get retryMs(): number {
    return this.#host.settings.retryMs;
  }

  /** Without other nodes, keeping a message costs no more than memory. */
  get keepsAll(): boolean {
    return this.#host.server.cluster.isAlone;
  }

  openLog(kind: StreamKind): Cursor {
    return new Cursor(kind, this.primes);
  }

  keep(stream: EventStream<Cursor>, text: string, isLast: boolean): Promise<void> {
    return this.#opened.replies.keep(stream, text, isLast);
  }

  changed(stream: EventStream<Cursor>): void {
    this.#host.heartbeat.add(this);
    if (stream.kind === "post") this.#opened.replies.changed(stream);
    else if (stream.state !== "open") this.#opened.gets.closed(stream);
  }

  drained(stream: EventStream<Cursor>): void {
    if (stream.kind === "get") this.#opened.gets.drained(stream);
  }

  // For its log.

  take(entries: readonly PlacedEntry[]): void {
    // First, so that a node that was halted does not write what came before its client resumed the stream elsewhere.
    const { gets, replies } = this.#opened;
    for (const { entry, at } of entries) {
      gets.moved(entry);
      replies.moved(entry, at);
    }
    for (const { entry, at } of entries) {
      gets.take(entry, at);
      replies.take(entry, at);
    }
  }

  gap(kept: LogEntry | undefined): void {
    this.#opened.gets.gap(kept);
    this.#opened.replies.gap(kept);
    this.#host.checkSession(this.#connection);
  }

  tend(now: number): boolean {
    const { settings } = this.#host;
    const { gets, replies } = this.#opened;
    // A call that runs here tends its own stream.
    const streams = [...gets.open, ...replies.resumed];
    for (const stream of streams) stream.tend(now, settings);
    gets.tend(now, settings);
    return streams.length > 0;
  }
}
