// The streams of one session: writes the entries of the session's log to the streams of this node.
import type { LogEntry } from "../../../cluster/engine/engine.ts";
import { logRejection } from "../../../base/logging/rate-limited-log.ts";
import type { Principal } from "../../../protocol/model.ts";
import { isGranted } from "../../../protocol/principal.ts";
import { Callbacks } from "../../../base/async/callbacks.ts";
import type { Stream } from "../../../server/push/listener.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { ServerPort } from "../../../server/calls/port.ts";
import type { RequestId } from "../../../base/wire/message.ts";
import type { Tended } from "../edge/heartbeat.ts";
import type { HttpResponder } from "../edge/request.ts";
import { Cursor, isPostEvent, readEventId } from "./cursor.ts";
import type { EventStream, StreamKind } from "./event-stream.ts";
import { GetStreams } from "./get-streams.ts";
import { ReplyStreams } from "./reply-streams.ts";
import { type EntryTaker, type PlacedEntry, SessionLog, type StreamParts } from "./session-log.ts";
import type { StreamHost } from "./host.ts";

/** Represents one stream to the hub: the active GET stream, on whichever node it is. */
export class SessionStreams implements Stream, StreamParts, EntryTaker, Tended {
  place: number | undefined;
  /** Pushes while no client is connected here are in the logs. */
  readonly recovers = true;
  readonly host: StreamHost;
  readonly connection: Connection;
  /** Created for the first stream, because most sessions have none most of the time. */
  #log: SessionLog | undefined;
  #gets: GetStreams | undefined;
  #replies: ReplyStreams | undefined;
  #drains: Callbacks | undefined;
  #losses: Callbacks | undefined;

  constructor(host: StreamHost, connection: Connection) {
    this.host = host;
    this.connection = connection;
  }

  get server(): ServerPort {
    return this.host.server;
  }

  get #allGets(): GetStreams {
    return (this.#gets ??= new GetStreams(this));
  }

  get #allReplies(): ReplyStreams {
    return (this.#replies ??= new ReplyStreams(this));
  }

  /** The log that the streams read. */
  get log(): SessionLog {
    return (this.#log ??= new SessionLog(this.host, this.connection, this));
  }

  soon(work: Promise<unknown>): void {
    logRejection(this.server.logger, "Writing to a session's log", work);
  }

  get isAwaited(): boolean {
    return this.#losses?.isEmpty === false;
  }

  giveUp(): void {
    this.#losses?.call();
  }

  nextDrained(): void {
    this.#drains?.call();
  }

  // Called by the routes.

  open(responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    return this.#allGets.connect(responder, principal);
  }

  async resume(
    lastEventId: string,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<boolean> {
    const cursor = readEventId(lastEventId);
    if (cursor?.kind === "post") return this.#allReplies.resume(cursor, responder, principal);
    if (isPostEvent(lastEventId)) return false;
    await this.#allGets.resume(cursor, responder, principal);
    return true;
  }

  reply(
    responder: HttpResponder,
    principal: Principal | undefined,
    readIds: () => readonly RequestId[],
  ): EventStream<Cursor> {
    return this.#allReplies.make(responder, principal, readIds());
  }

  /** Ends every stream here, because the session ends, or only leaves this process. */
  close(hasEnded: boolean): void {
    this.#gets?.close();
    this.#replies?.close();
    if (hasEnded) this.#losses?.finish();
  }

  get all(): EventStream<Cursor>[] {
    const { open = [], lost = [] } = this.#gets ?? {};
    return [...open, ...lost, ...(this.#replies?.streams ?? [])];
  }

  get openGets(): number {
    return this.#gets?.open.length ?? 0;
  }

  get isRead(): boolean {
    return this.openGets > 0 || this.#replies?.streams.some(({ state }) => state === "open") === true;
  }

  /** Whether the call of that POST stream runs here. */
  runs(stream: number): boolean {
    return this.#replies?.runs(stream) === true;
  }

  nodeLeft(node: string): void {
    this.#gets?.nodeLeft(node);
    this.#replies?.nodeLeft(node);
  }

  /**
   * Called when the engine is back: a node may have finished a call without being able to report it, and the session may be lost.
   */
  engineBack(): void {
    this.#replies?.checkAll();
    if (this.isRead) this.host.checkSession(this.connection);
  }

  // Called by the hub.

  get #active(): EventStream<Cursor> | undefined {
    return this.#gets?.active;
  }

  get reachable(): boolean {
    return this.#active !== undefined;
  }

  get congested(): boolean {
    return this.#active?.congested ?? false;
  }

  write(text: string, position?: string): boolean {
    return this.#gets?.write(text, position) ?? true;
  }

  async ask(text: string): Promise<void> {
    await this.log.append({ k: "push", m: text });
  }

  forScopes(scopes: readonly string[]): Stream | undefined {
    const active = this.#active;
    return active === undefined || isGranted(scopes, active) ? this : this.#gets?.withScopes(scopes);
  }

  onDrain(callback: () => void): () => void {
    return (this.#drains ??= new Callbacks()).add(callback);
  }

  /** A question is in the log, so the client gets it when it reconnects: within the resume window, while the session lasts. */
  onLost(callback: () => void): () => void {
    return (this.#losses ??= new Callbacks()).add(callback);
  }

  destroy(): void {
    this.#active?.destroy();
  }

  // Called by its streams.

  get primes(): boolean {
    return this.connection.revision?.primesStreams === true;
  }

  get retryMs(): number {
    return this.host.settings.retryMs;
  }

  /** Without other nodes, keeping a message costs no more than memory. */
  get keepsAll(): boolean {
    return this.server.cluster.isAlone;
  }

  openLog(kind: StreamKind): Cursor {
    return new Cursor(kind, this.primes);
  }

  keep(stream: EventStream<Cursor>, text: string, isLast: boolean): Promise<void> {
    return this.#allReplies.keep(stream, text, isLast);
  }

  changed(stream: EventStream<Cursor>): void {
    this.host.heartbeat.add(this);
    if (stream.kind === "post") this.#replies?.changed(stream);
    else if (stream.state !== "open") this.#gets?.closed(stream);
  }

  drained(stream: EventStream<Cursor>): void {
    if (stream.kind === "get") this.#gets?.drained(stream);
  }

  // Called by its log.

  take(entries: readonly PlacedEntry[]): void {
    // Handle these entries first, so that a node that was halted does not write messages from before its client resumed the
    // stream elsewhere.
    for (const { entry, at } of entries) {
      this.#allGets.moved(entry);
      this.#replies?.moved(entry, at);
    }
    for (const { entry, at } of entries) {
      this.#allGets.take(entry, at);
      this.#replies?.take(entry, at);
    }
  }

  gap(kept: LogEntry | undefined): void {
    this.#allGets.gap(kept);
    this.#replies?.gap(kept);
    this.host.checkSession(this.connection);
  }

  tend(now: number): boolean {
    const { settings } = this.host;
    // A call that runs here tends its own stream.
    const streams = [...(this.#gets?.open ?? []), ...(this.#replies?.resumed ?? [])];
    for (const stream of streams) stream.tend(now, settings);
    this.#gets?.tend(now, settings, settings.limits.keepMs);
    return streams.length > 0 || (this.#gets?.lost.length ?? 0) > 0;
  }
}
