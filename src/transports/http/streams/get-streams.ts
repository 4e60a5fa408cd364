// The GET streams of one session that this node holds: each message of the session's log goes to the one that is active there.
import type { LogEntry } from "../../../cluster/engine/engine.ts";
import { sequenceOf } from "../../../cluster/engine/log-entries.ts";
import { peerOf } from "../../../server/diagnostics/events.ts";
import type { Principal } from "../../../protocol/model.ts";
import { isGranted } from "../../../protocol/principal.ts";
import type { Letter } from "../../../server/push/mailbox.ts";
import { readSessionEntry, type Replaced, type SessionEntry } from "../../../server/push/session-entries.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { HttpResponder } from "../edge/request.ts";
import { eventHeaders } from "../edge/replies.ts";
import { EventStream } from "./event-stream.ts";
import type { StreamTimes } from "./host.ts";
import { BackupMessages } from "./backup-messages.ts";
import { Cursor, type StreamCursor, unknownPosition } from "./cursor.ts";
import {
  type Active,
  activeBy,
  countsAfter,
  endsActive,
  hasActive,
  holderOf,
  isWholeLog,
  type KeptMessage,
  messageOf,
  missedAfterGap,
  type MissedOnGet,
  missedOnOpen,
  missedOnResume,
  movesAway,
} from "./missed.ts";
import type { StreamParts, SessionLog } from "./session-log.ts";

type GetStream = EventStream<Cursor>;
type GetEntry = Extract<SessionEntry, { k: "get" }>;
type LostEntry = Extract<SessionEntry, { k: "lost" }>;

/**
 * How many GET streams one session may have open on one node. One more ends the oldest. The dashboard shows as many lost ones.
 */
const maxGetStreams = 8;

/** Changes whose streams are remembered. */
const maxTold = 1000;

const noStreams: readonly GetStream[] = [];

export class GetStreams {
  readonly #parts: StreamParts;
  /** Open streams, least recently connected first. */
  #open: GetStream[] = [];
  /** Streams whose clients have disconnected and may resume them, for the dashboard. */
  #away: readonly GetStream[] = noStreams;
  #active: Active | undefined;
  /** Streams whose clients may have missed messages until they resume them, and when they were left. */
  #abandoned: Map<number, number> | undefined;
  /** Which stream got a change, by the number of the change; only while there are several streams. */
  #told: Map<number, number> | undefined;
  /** The number of the first message that the active stream got, if another node has it. */
  #firstElsewhere = Number.POSITIVE_INFINITY;
  /** The entry that ended the last stream, while none is active. */
  #lostEntry: LostEntry | undefined;
  /**
   * Messages that an open stream repeats if it becomes active: those of the lost active one, and those that arrived while none
   * was active.
   */
  #backup: BackupMessages | undefined;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get #connection(): Connection {
    return this.#parts.connection;
  }

  get #log(): SessionLog {
    return this.#parts.log;
  }

  /** The stream that gets messages, if this node holds it. */
  get active(): GetStream | undefined {
    const { stream, node } = this.#active ?? {};
    return node === this.#log.node ? this.#open.find(({ log }) => log?.start === stream) : undefined;
  }

  get open(): readonly GetStream[] {
    return this.#open;
  }

  get lost(): readonly GetStream[] {
    return this.#away;
  }

  /** The newest stream here whose reader has the scopes. */
  withScopes(scopes: readonly string[] | undefined): GetStream | undefined {
    return this.#open.findLast((stream) => isGranted(scopes, stream));
  }

  /** Opens a stream without `Last-Event-ID`. It begins with the messages that waited for it. */
  connect(responder: HttpResponder, principal: Principal | undefined): Promise<void> {
    return this.#log.inTurn(async () => {
      const own = await this.#enter({});
      const entries = await this.#entries(1);
      const missed = missedOnOpen(entries, own, this.#connection.changes, (at) => this.#haveChanged(at));
      this.#begin(own.sequence, own, entries, missed, responder, principal);
    });
  }

  /** Resumes the stream of the cursor. If some of the missed messages are gone, it begins with a notification for each topic. */
  resume(
    cursor: Extract<StreamCursor, { kind: "get" }> | undefined,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<void> {
    return this.#log.inTurn(async () => {
      const from = cursor ? sequenceOf(cursor.at) : 1;
      const own = await this.#enter(cursor ? { s: cursor.start, has: from, c: cursor.changes } : {});
      const entries = await this.#entries(from);
      const number = cursor?.start ?? own.sequence;
      const resumed = cursor && missedOnResume(entries, own, cursor);
      const missed =
        resumed ?? missedAfterGap(isWholeLog(entries, from) ? entries : await this.#entries(1), own);
      const holder = holderOf(entries, number, own.sequence);
      if (holder !== undefined && holder !== this.#log.node) {
        this.#parts.server.observe?.({ type: "handover", from: holder, ...peerOf(this.#connection) });
      }
      this.#begin(number, own, entries, missed, responder, principal);
    });
  }

  take(entry: SessionEntry, at: LogEntry): void {
    if (entry.k === "get") this.#activated(entry, at);
    else if (entry.k === "lost") this.#lost(entry);
    else if (entry.k === "push") this.#pushed(messageOf(at, entry));
  }

  /** Ends a stream whose client has resumed it on another node. */
  moved(entry: SessionEntry): void {
    if (!movesAway(entry, this.#log.node)) return;
    for (const own of this.#open.filter(({ log }) => log?.start === entry.s)) this.#drop(own, "moved");
  }

  /** Writes a change. Only the node of the active stream does so, so that the session gets it once. */
  write(text: string, position: string | undefined): boolean {
    const stream = this.active;
    if (stream === undefined) return true;
    if (position !== undefined) this.#noteTold(stream.log?.start, position);
    this.#writeChange(stream, text, position);
    return !stream.congested;
  }

  #writeChange(stream: GetStream, text: string, position: string | undefined): void {
    const cursor = stream.log;
    if (cursor === undefined) return;
    if (position !== undefined) {
      cursor.changes = position;
      cursor.changesAfterGap = undefined;
    }
    cursor.hasSent = true;
    cursor.hasTold = true;
    stream.send(text, cursor.nextId());
  }

  /** Ends every stream, because the session ends here. Those whose clients are away need no more looking after. */
  close(): void {
    for (const stream of this.#open) stream.end();
    this.#away = noStreams;
  }

  /** Called when a stream of this node is no longer connected. */
  closed(stream: GetStream): void {
    if (!this.#open.includes(stream)) return;
    const wasActive = this.active === stream;
    this.#open = this.#open.filter((other) => other !== stream);
    if (stream.state === "lost") this.#away = [...this.#away, stream].slice(-maxGetStreams);
    const { start, changes = "", hasSent, hasTold, writtenTo = 0 } = stream.log ?? {};
    if (hasSent && start !== undefined) (this.#abandoned ??= new Map()).set(start, performance.now());
    if (wasActive && start !== undefined) {
      this.#connection.listener?.forget();
      // Until this entry is in the log, messages belong to a stream without a reader.
      this.#parts.soon(
        this.#log.appendAtLast({
          k: "lost",
          s: start,
          n: this.#log.node,
          c: changes,
          to: writtenTo,
          ...(hasTold && { told: true }),
        }),
      );
    }
    this.#log.leave();
  }

  /** Called when the reader of a stream has caught up. */
  drained(stream: GetStream): void {
    for (const { text, id, sequence } of stream.log?.takeBacklog() ?? []) {
      this.#write(stream, text, id, sequence);
    }
    if (stream === this.active) this.#parts.nextDrained();
  }

  /**
   * Another node has left: if its stream was active, one of this node becomes active. The client resumes the other stream
   * elsewhere, or gets notifications.
   */
  nodeLeft(node: string): void {
    const newest = this.#open.at(-1);
    const active = this.#active;
    if (active?.node === node && newest !== undefined) this.#takeOver(newest, [active.stream, node]);
  }

  /**
   * Called when entries were lost: notifies the client, and logs the active stream again, so that nodes that read the log later
   * find it.
   */
  gap(kept: LogEntry | undefined): void {
    for (const { log } of this.#open) log?.rewind(kept);
    const { active } = this;
    // This gap comes before the entries that follow, so it is written to the stream that has been active so far.
    if (this.#open.length > 0) this.#tellGap();
    this.#active = undefined;
    this.#lostEntry = undefined;
    this.#backup?.clear();
    if (this.#open.length === 0) return;
    // After the entries that the log still has.
    queueMicrotask(() => {
      const newest = this.#open.at(-1);
      if (active !== undefined && this.#open.includes(active)) this.#takeOver(active);
      else if (newest !== undefined && this.#active === undefined) this.#takeOver(newest, []);
    });
  }

  /** If a client does not resume a stream in time, writes notifications for what it may have missed to another of its streams. */
  tend(now: number, { resumeWindowMs }: StreamTimes, keepMs: number): void {
    const isLate = this.#away.some((stream) => stream.age(now) >= resumeWindowMs);
    this.#away = this.#away.filter((stream) => stream.age(now) < keepMs);
    if (isLate && this.#open.length === 0) this.#parts.soon(this.#giveUp());
    const isLeft = [...(this.#abandoned?.values() ?? [])].some((since) => now - since >= resumeWindowMs);
    if (isLeft && this.active !== undefined) this.#tellGap();
  }

  /** Fails the questions if the client has not reconnected in time, here or on another node. */
  async #giveUp(): Promise<void> {
    if (this.#parts.isAwaited && !hasActive(await this.#log.read(1))) this.#parts.giveUp();
  }

  #enter(which: Pick<GetEntry, "s" | "has" | "c">): Promise<LogEntry> {
    return this.#log.enter({ k: "get", ...which, n: this.#log.node });
  }

  /** Whether changes after that position were meant for the client, or that is unknown. */
  #haveChanged(position: string): boolean {
    const { listener } = this.#connection;
    return !listener || this.#parts.server.changes.since(position, listener, "everything")?.length !== 0;
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

  /**
   * Writes the missed messages synchronously, so that no change is lost meanwhile. Then the entry `own` and those after it
   * decide.
   */
  #begin(
    number: number,
    own: LogEntry,
    entries: readonly LogEntry[],
    missed: MissedOnGet,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): void {
    const { changes } = this.#parts.server;
    const { listener } = this.#connection;
    const later = entries.filter(({ sequence }) => sequence >= own.sequence);
    this.#log.pass(entries.slice(0, entries.length - later.length));
    const isTold = (position: string): boolean => this.#isToldElsewhere(number, position);
    const since =
      missed.changes && listener ? changes.since(missed.changes, listener, principal, isTold) : undefined;
    const cursor = Object.assign(new Cursor("get", true), {
      start: number,
      at: missed.at,
      changes: since === undefined ? unknownPosition : since.length > 0 ? missed.changes : changes.position,
      writtenTo: own.sequence,
    });
    for (const old of this.#open.filter(({ log }) => log?.start === number)) this.#drop(old);
    // After a gap the dashboard shows it as a new stream.
    const away = since ? this.#away.find(({ log }) => log?.start === number) : undefined;
    this.#away = this.#away.filter(({ log }) => log?.start !== number);
    const stream = away ?? new EventStream("get", responder, this.#parts, this.#parts, cursor);
    stream.readWith(principal);
    // Not `push`, which would reserve room for 16 more.
    this.#open = [...this.#open, stream];
    this.#active = { stream: number, node: this.#log.node, since: own.sequence };
    if (away === undefined) stream.open(number === own.sequence ? "opened" : "resumed");
    else {
      stream.resume(responder.stream(eventHeaders), cursor);
      stream.prime();
    }
    // A client that has resumed it on another node meanwhile gets everything there.
    const isMoved = later.some(({ text }) => this.#isMoved(text, number));
    if (!isMoved) this.#replay(stream, since, missed.messages);
    this.#log.pass(later);
    this.#log.start(entries.at(-1) ?? own);
    if (this.#open.length > maxGetStreams) this.#makeRoom();
    this.#parts.nextDrained();
  }

  #isMoved(text: string, number: number): boolean {
    const entry = readSessionEntry(text);
    return entry !== undefined && movesAway(entry, this.#log.node) && entry.s === number;
  }

  #replay(stream: GetStream, since: readonly Letter[] | undefined, messages: readonly KeptMessage[]): void {
    if (since === undefined) this.#tellGap();
    else this.#writeChanges(stream, since);
    for (const message of messages) this.#send(stream, message, true);
  }

  /** Writes all changes up to now. */
  #writeChanges(stream: GetStream, letters: readonly Letter[]): void {
    const { position: newest } = this.#parts.server.changes;
    const last = letters.at(-1);
    for (const letter of letters) {
      this.#noteTold(stream.log?.start, letter.position ?? newest);
      // With the last one the client has all changes, also those that were merged with an earlier one.
      this.#writeChange(stream, letter.text, letter === last ? newest : letter.position);
    }
    if (stream.log) stream.log.changes = newest;
  }

  /** Whether a change was written to another stream of the session than this one. */
  #isToldElsewhere(number: number, position: string): boolean {
    const stream = this.#told?.get(sequenceOf(position));
    return stream !== undefined && stream !== number;
  }

  /** Notes which of several streams a change was written to. */
  #noteTold(stream: number | undefined, position: string): void {
    if (stream === undefined || this.#open.length + this.#away.length < 2) return;
    this.#told ??= new Map();
    this.#told.set(sequenceOf(position), stream);
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= maxTold) break;
      this.#told.delete(oldest);
    }
  }

  /**
   * Ends the oldest stream. Its client cannot resume it, so another of its streams gets notifications for what it may have
   * missed.
   */
  #makeRoom(): void {
    const [oldest] = this.#open;
    oldest?.end();
    const isTold = this.active?.log?.changesAfterGap !== undefined;
    if (oldest?.log?.hasSent && !isTold) this.#tellGap();
  }

  /** Forgets a stream whose client has another connection for it. */
  #drop(stream: GetStream, reason?: "moved"): void {
    this.#open = this.#open.filter((other) => other !== stream);
    stream.end(reason);
    this.#log.leave();
  }

  /** Notifies a client that may have missed messages: writes a notification for each topic to its active stream. */
  #tellGap(): void {
    const { session } = this.#connection;
    const cursor = this.active?.log;
    const { position } = this.#parts.server.changes;
    if (cursor !== undefined) {
      Object.assign(cursor, { changes: unknownPosition, changesAfterGap: position });
    }
    this.#abandoned = undefined;
    this.#parts.server.observe?.({ type: "gap", session });
    this.#connection.listener?.markGap();
    this.#parts.nextDrained();
  }

  #activated(entry: GetEntry, at: LogEntry): void {
    if (!countsAfter(this.#active, entry)) return;
    const active = activeBy(entry, at);
    const lost = this.#lostEntry;
    const waiting = this.#active === undefined ? this.#takeBackup(0) : [];
    this.#active = active;
    this.#lostEntry = undefined;
    this.#backup?.clear();
    this.#firstElsewhere = Number.POSITIVE_INFINITY;
    // The client gets the missed messages on the stream that it has resumed, or notifications on a new one.
    if (entry.s === undefined) this.#abandoned = undefined;
    else this.#abandoned?.delete(active.stream);
    const own = this.active;
    if (own === undefined) return;
    if (entry.over) this.#tellOverlooked(own, lost);
    if (waiting === undefined) this.#tellGap();
    for (const message of waiting ?? []) this.#send(own, message);
    this.#parts.nextDrained();
  }

  /** For a stream that becomes active: writes the changes that were not written to the lost one, or notifications about a gap. */
  #tellOverlooked(stream: GetStream, lost: LostEntry | undefined): void {
    const { listener } = this.#connection;
    const { changes } = this.#parts.server;
    const since = lost && listener && changes.since(lost.c, listener, stream);
    if (since === undefined) return this.#tellGap();
    this.#writeChanges(stream, since);
  }

  #lost(entry: LostEntry): void {
    const { s, n, to, told } = entry;
    if (!endsActive(this.#active, entry)) return;
    const unwritten = this.#takeBackup(to);
    this.#active = undefined;
    this.#lostEntry = entry;
    const isElsewhere = n !== this.#log.node;
    if (isElsewhere && (told || this.#firstElsewhere <= to)) {
      (this.#abandoned ??= new Map()).set(s, performance.now());
    }
    const newest = this.#open.at(-1);
    if (newest === undefined) return;
    if (unwritten === undefined) this.#connection.listener?.markGap();
    for (const message of unwritten ?? []) this.#keepBackup(message);
    this.#takeOver(newest, []);
  }

  /** Logs that messages belong to an open stream; with `over`, only if that one is still active. */
  #takeOver(stream: GetStream, over?: Replaced): void {
    const { start } = stream.log ?? {};
    if (start === undefined) return;
    this.#parts.soon(this.#log.append({ k: "get", s: start, n: this.#log.node, ...(over && { over }) }));
  }

  #pushed(message: KeptMessage): void {
    const stream = this.active;
    if (stream === undefined) this.#firstElsewhere = Math.min(this.#firstElsewhere, message.sequence);
    if (this.#open.some((other) => other !== stream)) this.#keepBackup(message);
    if (stream !== undefined) this.#send(stream, message);
  }

  #keepBackup(message: KeptMessage): void {
    this.#backup ??= new BackupMessages(this.#parts.server.limits.maxQueueBytes);
    this.#backup.add(message);
  }

  #takeBackup(sequence: number): readonly KeptMessage[] | undefined {
    return this.#backup === undefined ? [] : this.#backup.takeAfter(sequence);
  }

  #send(stream: GetStream, { text, position, sequence, scopes }: KeptMessage, isReplayed = false): void {
    const cursor = stream.log;
    if (cursor === undefined || sequence <= sequenceOf(cursor.at)) return;
    cursor.at = position;
    // Without an id: by the log it belongs to the active stream, whose reader may not have it.
    if (!isGranted(scopes, stream)) return void this.withScopes(scopes)?.send(text, undefined);
    const isBehind = stream.congested || cursor.isBehind;
    // The notifications about a gap come first, and are written as soon as the reader has room.
    if (!isBehind && cursor.changesAfterGap !== undefined) {
      cursor.changes = cursor.changesAfterGap;
      cursor.changesAfterGap = undefined;
    }
    cursor.hasSent = true;
    const id = cursor.nextId();
    if (!isBehind) return this.#write(stream, text, id, sequence);
    // The client resumes, and gets the rest from the log. What is replayed must not cut it off again: the log limits that.
    const waiting = cursor.putAside({ text, id, sequence }, isReplayed);
    if (waiting > this.#parts.server.limits.maxQueueBytes) stream.destroy();
  }

  #write(stream: GetStream, text: string, id: string | undefined, sequence: number): void {
    stream.send(text, id);
    const cursor = stream.log;
    if (cursor !== undefined) cursor.writtenTo = Math.max(cursor.writtenTo, sequence);
  }
}
