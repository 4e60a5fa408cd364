// The GET streams of one session that this node holds: each message of the session's log goes to the one that is active there.
import type { LogEntry } from "../../backplane/engine.ts";
import { sequenceOf } from "../../backplane/position.ts";
import { Callbacks } from "../../async/callbacks.ts";
import { pauseInBackground } from "../../async/timers.ts";
import { peerOf } from "../../diagnostics/events.ts";
import type { Principal } from "../../protocol/model.ts";
import { logMessage } from "../../protocol/notifications.ts";
import { isGranted } from "../../protocol/scopes.ts";
import { takes } from "../../push/hub.ts";
import type { SessionEntry } from "../../push/session-log.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { HttpResponder } from "../edge/request.ts";
import { EventStream, type StreamTimes } from "./event-stream.ts";
import { SharedCursor, unknownPosition } from "./shared-cursor.ts";
import {
  holderOf,
  isActive,
  isWholeLog,
  type KeptMessage,
  messageOf,
  missedAfterGap,
  type MissedOnGet,
  missedOnOpen,
  missedOnResume,
  type StreamCursor,
} from "./shared-log.ts";
import type { SharedParts, SharedSessionLog } from "./shared-session-log.ts";

type GetStream = EventStream<SharedCursor>;

/** How many GET streams one session may have on one node; one more ends the oldest. */
const maxGetStreams = 8;

/** Milliseconds between attempts to say that a stream is lost while the engine fails: the first, and the longest. */
const [firstPauseMs, longestPauseMs] = [1000, 10_000];

/** Messages that wait here while no stream is active; with more, the client is told to read everything again. */
const maxWaiting = 1000;

export class SharedGets {
  readonly #parts: SharedParts;
  readonly #connection: Connection;
  readonly #log: SharedSessionLog;
  /** Open streams, least recently connected first. */
  #open: GetStream[] = [];
  #active: { readonly stream: number; readonly node: string } | undefined;
  /** A stream whose client may have missed messages, until it resumes it. */
  #abandoned: { readonly stream: number; readonly since: number } | undefined;
  /** How many messages the active stream got, if another node has it. */
  #sentElsewhere = 0;
  /** Messages since no stream is active, for an open one that becomes it. */
  #waiting: KeptMessage[] = [];
  /** Messages that the active stream's reader was too slow for, and their size. */
  #backlog: { readonly text: string; readonly id: string | undefined; readonly sequence: number }[] = [];
  #backlogBytes = 0;
  readonly drains: Callbacks = new Callbacks();

  constructor(parts: SharedParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#log = parts.log;
  }

  /** The stream that gets messages, if this node holds it. */
  get active(): GetStream | undefined {
    const { stream, node } = this.#active ?? {};
    return node === this.#log.node ? this.#open.find(({ log }) => log?.start === stream) : undefined;
  }

  get open(): readonly GetStream[] {
    return this.#open;
  }

  /** Opens a stream without `Last-Event-ID`. It begins with the messages that waited for it. */
  connect(responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    return this.#log.inTurn(async () => {
      const own = await this.#enter(undefined);
      const entries = await this.#entries(1);
      const { cluster } = this.#parts;
      const created = this.#connection.changes;
      const missed = missedOnOpen(entries, own, created, (node) => !cluster.hears(node));
      this.#begin(own.sequence, own, entries, missed, responder, principal);
    });
  }

  /** Resumes the stream of the cursor. If some of what it has missed is gone, it begins with a notification for each topic. */
  resume(
    cursor: Extract<StreamCursor, { kind: "get" }> | undefined,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<void> {
    return this.#log.inTurn(async () => {
      const own = await this.#enter(cursor?.start);
      const at = cursor ? sequenceOf(cursor.at) : 0;
      const entries = await this.#entries(at);
      const number = cursor?.start ?? own.sequence;
      const missed =
        (cursor && missedOnResume(entries, cursor)) ??
        missedAfterGap(isWholeLog(entries, at) ? entries : await this.#entries(1), own, number);
      const from = holderOf(entries, number, own.sequence);
      if (from !== this.#log.node) {
        this.#parts.server.observe?.({ type: "handover", from, ...peerOf(this.#connection) });
      }
      this.#begin(number, own, entries, missed, responder, principal);
    });
  }

  take(entry: SessionEntry, at: LogEntry): void {
    if (entry.k === "get") this.#activated(entry.s ?? at.sequence, entry.n);
    else if (entry.k === "lost") this.#lost(entry);
    else if (entry.k === "push") this.#pushed(entry, at);
  }

  /** Writes a change. Only the active stream's node does, so that the session gets it once. */
  write(text: string, position: string | undefined): boolean {
    const stream = this.active;
    const cursor = stream?.log;
    if (stream === undefined || cursor === undefined) return true;
    if (position !== undefined) {
      cursor.changes = position;
      cursor.changesAfterGap = undefined;
    }
    cursor.hasSent = true;
    stream.send(text, cursor.eventId());
    return !stream.congested;
  }

  /** Called when a stream of this node is no longer connected. */
  closed(stream: GetStream): void {
    if (!this.#open.includes(stream)) return;
    const wasActive = this.active === stream;
    this.#open = this.#open.filter((other) => other !== stream);
    const { start, changes, hasSent, writtenTo = 0 } = stream.log ?? {};
    if (hasSent && start !== undefined) this.#abandoned = { stream: start, since: performance.now() };
    if (wasActive && start !== undefined) {
      this.#backlog = [];
      this.#backlogBytes = 0;
      this.#connection.listener?.forget();
      this.#parts.soon(
        this.#sayLost({ k: "lost", s: start, n: this.#log.node, c: changes ?? "", to: writtenTo }),
      );
    }
    this.#log.leave();
  }

  /** Called when the reader of a stream has caught up. */
  drained(stream: GetStream): void {
    if (stream !== this.active) return;
    for (const { text, id, sequence } of this.#backlog.splice(0)) {
      this.#backlogBytes -= text.length;
      this.#write(stream, text, id, sequence);
    }
    this.drains.call();
  }

  /** Another node is gone: if its stream was active, one of this node takes over. The client resumes the other elsewhere, or is told. */
  nodeLeft(node: string): void {
    const newest = this.#open.at(-1);
    if (this.#active?.node !== node || newest === undefined) return;
    this.#active = undefined;
    this.#connection.listener?.markGap();
    this.#activate(newest);
  }

  /** Entries were lost: the client is told, and nodes that read the log later find the active stream there again. */
  gap(kept: LogEntry | undefined): void {
    for (const { log } of this.#open) log?.rewind(kept);
    const { active } = this;
    if (active !== undefined) this.#activate(active);
    if (this.#open.length > 0) this.#tellGap();
  }

  /** If a client does not come back to a stream in time, another of its streams says what it may have missed. */
  tend(now: number, { resumeWindowMs }: StreamTimes): void {
    const { since = Number.POSITIVE_INFINITY } = this.#abandoned ?? {};
    if (now - since >= resumeWindowMs && this.active !== undefined) this.#tellGap();
  }

  #enter(s: number | undefined): Promise<LogEntry> {
    const c = this.#parts.changes?.position;
    return this.#log.enter({
      k: "get",
      ...(s !== undefined && { s }),
      n: this.#log.node,
      ...(c !== undefined && { c }),
    });
  }

  /** The entries from that number on. If they cannot be read, the stream does not open. */
  async #entries(from: number): Promise<readonly LogEntry[]> {
    try {
      return await this.#log.read(from);
    } catch (error) {
      this.#log.leave();
      throw error;
    }
  }

  /** Writes what the stream has missed, without a pause in which a change could be lost. */
  #begin(
    number: number,
    own: LogEntry,
    entries: readonly LogEntry[],
    missed: MissedOnGet,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): void {
    const { changes, owner } = this.#parts;
    const { listener } = this.#connection;
    const since = missed.changes && listener && changes.since(missed.changes, listener);
    const told = since ? missed.changes : unknownPosition;
    const cursor = Object.assign(new SharedCursor("get", true), {
      start: number,
      at: missed.at,
      changes: told,
      writtenTo: own.sequence,
    });
    for (const old of this.#open.filter(({ log }) => log?.start === number)) this.#drop(old);
    const stream = new EventStream("get", responder, this.#parts, owner, cursor);
    stream.readWith(principal);
    this.#open.push(stream);
    this.#active = { stream: number, node: this.#log.node };
    stream.open(number === own.sequence ? "opened" : "resumed");
    if (since) for (const { text, position } of since) this.write(text, position);
    else this.#tellGap();
    for (const message of missed.messages) this.#send(stream, message);
    this.#log.start(entries.at(-1) ?? own);
    if (this.#open.length > maxGetStreams) this.#makeRoom();
    this.drains.call();
  }

  /** Ends the oldest stream. Its client cannot resume it, so that another of its streams says what it may have missed. */
  #makeRoom(): void {
    const [oldest] = this.#open;
    oldest?.end();
    if (oldest?.log?.hasSent) this.#tellGap();
  }

  /** Forgets a stream whose client has another connection for it. */
  #drop(stream: GetStream): void {
    this.#open = this.#open.filter((other) => other !== stream);
    stream.end();
    this.#log.leave();
  }

  /** The client may have missed messages: its stream begins with a notification for each topic. */
  #tellGap(): void {
    const { session } = this.#connection;
    const cursor = this.active?.log;
    if (cursor !== undefined) {
      cursor.changes = unknownPosition;
      cursor.changesAfterGap = this.#parts.changes.position;
    }
    this.#abandoned = undefined;
    this.#parts.server.observe?.({ type: "gap", session });
    this.#connection.listener?.markGap();
    this.drains.call();
  }

  #activated(stream: number, node: string): void {
    const own = this.#open.find(({ log }) => log?.start === stream);
    const waiting = this.#waiting;
    this.#active = { stream, node };
    this.#waiting = [];
    this.#sentElsewhere = 0;
    if (this.#abandoned?.stream === stream) this.#abandoned = undefined;
    // The client has resumed it elsewhere.
    if (node !== this.#log.node) return own?.end("moved");
    for (const message of waiting) if (own !== undefined) this.#send(own, message);
    this.drains.call();
  }

  #lost({ s, n, c }: Extract<SessionEntry, { k: "lost" }>): void {
    if (!isActive(this.#active, s, n)) return;
    this.#active = undefined;
    if (this.#sentElsewhere > 0) this.#abandoned = { stream: s, since: performance.now() };
    const newest = this.#open.at(-1);
    if (newest === undefined) return;
    const { listener } = this.#connection;
    const since = listener && this.#parts.changes.since(c, listener);
    // On another stream of the client, the changes that it was not told of on the lost one.
    for (const { text } of since ?? []) newest.send(text, newest.log?.eventId());
    if (since === undefined) this.#connection.listener?.markGap();
    this.#activate(newest);
  }

  /** Until the log says so, messages belong to a stream that nobody reads. */
  async #sayLost(entry: SessionEntry): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return void (await this.#log.append(entry));
      } catch {
        // The others know that the streams of a node that has left are lost.
        if (!this.#parts.cluster.hasJoined) return;
        await pauseInBackground(pauseMs);
      }
    }
  }

  #activate(stream: GetStream): void {
    const { start } = stream.log ?? {};
    if (start !== undefined) this.#parts.soon(this.#log.append({ k: "get", s: start, n: this.#log.node }));
  }

  #pushed(entry: Extract<SessionEntry, { k: "push" }>, at: LogEntry): void {
    const message = messageOf(at, entry);
    const stream = this.active;
    if (stream !== undefined) return this.#send(stream, message);
    this.#sentElsewhere++;
    if (this.#active !== undefined || this.#open.length === 0) return;
    if (this.#waiting.push(message) > maxWaiting) {
      this.#waiting = [];
      this.#tellGap();
    }
  }

  #send(stream: GetStream, { text, position, sequence, scopes }: KeptMessage): void {
    const cursor = stream.log;
    if (cursor === undefined || sequence <= sequenceOf(cursor.at)) return;
    cursor.at = position;
    if (!isGranted(scopes, stream) || !this.#isWanted(text)) return;
    const isBehind = stream.congested || this.#backlog.length > 0;
    // The notifications about a gap come first, and are written as soon as the reader takes them.
    if (!isBehind && cursor.changesAfterGap !== undefined) {
      cursor.changes = cursor.changesAfterGap;
      cursor.changesAfterGap = undefined;
    }
    cursor.hasSent = true;
    const id = cursor.eventId();
    if (!isBehind) return this.#write(stream, text, id, sequence);
    this.#backlog.push({ text, id, sequence });
    this.#backlogBytes += text.length;
    // The client resumes, and gets the rest from the log.
    if (this.#backlogBytes > this.#parts.server.limits.maxQueueBytes) stream.destroy();
  }

  #write(stream: GetStream, text: string, id: string | undefined, sequence: number): void {
    stream.send(text, id);
    const cursor = stream.log;
    if (cursor !== undefined) cursor.writtenTo = Math.max(cursor.writtenTo, sequence);
  }

  /** Whether the client wants log messages of that level. */
  #isWanted(text: string): boolean {
    if (!text.includes(logMessage)) return true;
    const { method, params } = JSON.parse(text) as { method: string; params?: { level?: unknown } };
    return takes(this.#connection, method, params ?? {});
  }
}
