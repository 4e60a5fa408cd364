// The streams of one session in a cluster: this node writes what the session's log gives to the streams that it holds.
import type { JoinedCluster } from "../../backplane/joined-cluster.ts";
import type { LogEntry } from "../../backplane/engine.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Principal } from "../../protocol/model.ts";
import { isGranted } from "../../protocol/scopes.ts";
import type { ChangeLog } from "../../push/changes.ts";
import type { Stream } from "../../push/listener.ts";
import type { Connection } from "../../server/context/connection.ts";
import { logKeptMs } from "../../session/sessions.ts";
import type { RequestId } from "../../wire/message.ts";
import type { Tended } from "../edge/heartbeat.ts";
import type { HttpResponder } from "../edge/request.ts";
import type { EventStream, StreamOwner } from "./event-stream.ts";
import type { ClientStreams, StreamHost } from "./session-streams.ts";
import { SharedCursor } from "./shared-cursor.ts";
import { SharedGets } from "./shared-gets.ts";
import { readEventId } from "./shared-log.ts";
import { SharedReplies } from "./shared-replies.ts";
import { type EntryTaker, type PlacedEntry, SharedSessionLog } from "./shared-session-log.ts";
import { isPostEvent, type StreamKind } from "./stream-log.ts";

export class SharedStreams implements ClientStreams, Stream, StreamOwner<SharedCursor>, EntryTaker, Tended {
  place: number | undefined;
  /** What is pushed while no client is connected here is in the logs. */
  readonly recovers = true;
  readonly #host: StreamHost;
  readonly #connection: Connection;
  readonly #log: SharedSessionLog;
  readonly #gets: SharedGets;
  readonly #replies: SharedReplies;

  constructor(host: StreamHost, cluster: JoinedCluster, changes: ChangeLog, connection: Connection) {
    const { server, settings } = host;
    const { logger } = server;
    const { session = "", caller } = connection;
    this.#host = host;
    this.#connection = connection;
    const keepMs = logKeptMs(settings.limits);
    const missing = (): void => host.checkSession(connection);
    this.#log = new SharedSessionLog({ cluster, logger, session, caller, keepMs, missing }, this);
    const soon = (work: Promise<unknown>): void => logRejection(logger, "Writing to a session's log", work);
    const parts = { cluster, server, host, changes, connection, log: this.#log, owner: this, soon };
    this.#gets = new SharedGets(parts);
    this.#replies = new SharedReplies(parts);
  }

  // For the routes.

  open(responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    return this.#gets.connect(responder, principal);
  }

  async resume(
    lastEventId: string,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<boolean> {
    const cursor = readEventId(lastEventId);
    if (cursor?.kind === "post") return this.#replies.resume(cursor, responder, principal);
    if (isPostEvent(lastEventId)) return false;
    await this.#gets.resume(cursor, responder, principal);
    return true;
  }

  reply(
    responder: HttpResponder,
    principal: Principal | undefined,
    readIds: () => readonly RequestId[],
  ): EventStream<SharedCursor> {
    return this.#replies.make(responder, principal, readIds());
  }

  /** What happened before is in the log. */
  revived(): void {}

  close(): void {
    for (const stream of this.#gets.open) stream.end();
    this.#replies.close();
  }

  get all(): EventStream<SharedCursor>[] {
    return [...this.#gets.open, ...this.#replies.streams];
  }

  get openGets(): number {
    return this.#gets.open.length;
  }

  get isRead(): boolean {
    return this.openGets > 0 || this.#replies.streams.some(({ state }) => state === "open");
  }

  /** Whether the call of that POST stream runs here. */
  runs(stream: number): boolean {
    return this.#replies.runs(stream);
  }

  nodeLeft(node: string): void {
    this.#gets.nodeLeft(node);
    this.#replies.nodeLeft(node);
  }

  /** The engine is back: a node may have finished a call without being able to say so, and the session may be lost. */
  engineBack(): void {
    this.#replies.checkAll();
    if (this.isRead) this.#host.checkSession(this.#connection);
  }

  // For the hub.

  get reachable(): boolean {
    return this.#gets.active !== undefined;
  }

  get congested(): boolean {
    return this.#gets.active?.congested ?? false;
  }

  write(text: string, position?: string): boolean {
    return this.#gets.write(text, position);
  }

  async ask(text: string): Promise<void> {
    await this.#log.append({ k: "push", m: text });
  }

  forScopes(scopes: readonly string[]): Stream | undefined {
    const { active } = this.#gets;
    return active === undefined || isGranted(scopes, active) ? this : undefined;
  }

  onDrain(callback: () => void): () => void {
    return this.#gets.drains.add(callback);
  }

  /** A question is in the log, and the client gets it when it connects, until the question times out. */
  onLost(): () => void {
    return () => {};
  }

  destroy(): void {
    this.#gets.active?.destroy();
  }

  // For its streams.

  get primes(): boolean {
    return this.#connection.revision?.primesStreams === true;
  }

  get retryMs(): number {
    return this.#host.settings.retryMs;
  }

  openLog(kind: StreamKind): SharedCursor {
    return new SharedCursor(kind, this.primes);
  }

  keep(stream: EventStream<SharedCursor>, text: string, isLast: boolean): Promise<void> {
    return this.#replies.keep(stream, text, isLast);
  }

  changed(stream: EventStream<SharedCursor>): void {
    this.#host.heartbeat.add(this);
    if (stream.kind === "post") this.#replies.changed(stream);
    else if (stream.state !== "open") this.#gets.closed(stream);
  }

  drained(stream: EventStream<SharedCursor>): void {
    if (stream.kind === "get") this.#gets.drained(stream);
  }

  // For its log.

  take(entries: readonly PlacedEntry[]): void {
    // First, so that a node that was halted does not write what came before its client resumed the stream elsewhere.
    for (const { entry, at } of entries) {
      this.#gets.moved(entry);
      this.#replies.moved(entry, at);
    }
    for (const { entry, at } of entries) {
      this.#gets.take(entry, at);
      this.#replies.take(entry, at);
    }
  }

  gap(kept: LogEntry | undefined): void {
    this.#gets.gap(kept);
    this.#replies.gap(kept);
    this.#host.checkSession(this.#connection);
  }

  tend(now: number): boolean {
    const { settings } = this.#host;
    // A call that runs here tends its own stream.
    const streams = [...this.#gets.open, ...this.#replies.resumed];
    for (const stream of streams) stream.tend(now, settings);
    this.#gets.tend(now, settings);
    return streams.length > 0;
  }
}
