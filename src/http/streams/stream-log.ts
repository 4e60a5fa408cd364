// What was sent on streams that can be resumed: bounded per stream, in all, and in streams.
import { Holdings } from "../../limits/holdings.ts";
import { Shares } from "../../limits/shares.ts";
import { randomId } from "../../protocol/random-id.ts";

/** The limits of a {@link ReplayLogs}. */
export interface ReplayLimits {
  /** Bytes that one stream keeps. */
  readonly maxStreamBytes: number;
  /** Bytes that all streams keep together. */
  readonly maxTotalBytes: number;
  /** Streams that are kept. */
  readonly maxStreams: number;
  /** Milliseconds that a stream is kept after its last message. */
  readonly keepMs: number;
}

/** GET streams go on for ever; a POST stream ends with the response. */
export type StreamKind = "get" | "post";

/** What one stream has sent. */
export class StreamLog {
  readonly id: string;
  readonly kind: StreamKind;
  /** The session it belongs to; for anybody else it does not exist. */
  readonly session: string;
  /** Who it is counted for. */
  readonly caller: string;
  readonly entries: { readonly sequence: number; readonly text: string }[] = [];
  /** What the token was granted that the stream was opened with. */
  scopes: readonly string[] | undefined;
  bytes = 0;
  sequence = 0;
  /** When its last message was sent. */
  finishedAt: number | undefined;
  #settledTo = 0;

  constructor(kind: StreamKind, session: string, caller: string) {
    this.id = `${kind === "get" ? "g" : "p"}${randomId()}`;
    this.kind = kind;
    this.session = session;
    this.caller = caller;
  }

  /** The id of the event with that sequence number. */
  eventId(sequence: number = this.sequence): string {
    return `${this.id}.${sequence}`;
  }

  /** Whether nothing is owed to the client: whatever was sent, it has shown that it has it, or it has been told to read again. */
  get isSettled(): boolean {
    return this.#settledTo >= this.sequence;
  }

  /** Nothing is owed up to that event. That it was written proves nothing: only coming back after it does. */
  settle(sequence: number = this.sequence): void {
    this.#settledTo = Math.max(this.#settledTo, sequence);
  }

  /** What came after `sequence`; undefined when some of it is no longer kept. */
  after(sequence: number): readonly { readonly sequence: number; readonly text: string }[] | undefined {
    const oldest = this.sequence - this.entries.length;
    if (sequence < oldest || sequence > this.sequence) return undefined;
    return this.entries.slice(sequence - oldest);
  }
}

/** The logs of all streams. Where there are too many, the caller with the most loses the one that it used least recently. */
export class ReplayLogs {
  readonly #limits: ReplayLimits;
  readonly #logs = new Map<string, StreamLog>();
  readonly #held: Holdings<StreamLog>;
  readonly #bytes: Shares;

  constructor(limits: ReplayLimits) {
    this.#limits = limits;
    this.#held = new Holdings(limits.maxStreams);
    this.#bytes = new Shares(limits.maxTotalBytes);
  }

  get streams(): number {
    return this.#logs.size;
  }

  get bytes(): number {
    return this.#bytes.total;
  }

  /** Whether the log is still kept. */
  has(log: StreamLog): boolean {
    return this.#logs.get(log.id) === log;
  }

  open(kind: StreamKind, session: string, caller: string): StreamLog {
    const log = new StreamLog(kind, session, caller);
    this.#logs.set(log.id, log);
    this.#held.add(caller, log);
    this.#trim();
    return log;
  }

  /** Keeps a message and returns the id of its event. */
  append(log: StreamLog, text: string): string {
    log.sequence++;
    if (!this.has(log)) return log.eventId();
    log.entries.push({ sequence: log.sequence, text });
    this.#count(log, text.length);
    while (log.bytes > this.#limits.maxStreamBytes) this.#dropOldest(log);
    this.#held.add(log.caller, log, 0);
    this.#trim();
    return log.eventId();
  }

  /** The stream that an event id of that session belongs to, and the place of the event in it. */
  find(eventId: string, session: string): { readonly log: StreamLog; readonly sequence: number } | undefined {
    const [, id = "", sequence] = /^([gp][\w-]{22})\.(\d{1,15})$/.exec(eventId) ?? [];
    const log = this.#logs.get(id);
    return log?.session === session ? { log, sequence: Number(sequence) } : undefined;
  }

  remove(log: StreamLog): void {
    if (!this.#logs.delete(log.id)) return;
    this.#held.delete(log.caller, log);
    this.#bytes.count(log.caller, -log.bytes);
  }

  /** Forgets everything of a session. */
  removeSession(session: string): void {
    for (const log of this.#logs.values()) if (log.session === session) this.remove(log);
  }

  /** Forgets the streams whose last message was sent long ago. */
  sweep(now: number): void {
    for (const log of this.#logs.values()) {
      if (log.finishedAt !== undefined && now - log.finishedAt > this.#limits.keepMs) this.remove(log);
    }
  }

  #dropOldest(log: StreamLog): void {
    const dropped = log.entries.shift();
    if (dropped === undefined) return;
    this.#count(log, -dropped.text.length);
  }

  #count(log: StreamLog, bytes: number): void {
    log.bytes += bytes;
    this.#bytes.count(log.caller, bytes);
  }

  #trim(): void {
    for (const shares of [this.#held.shares, this.#bytes]) {
      while (shares.total > shares.max) {
        const oldest = this.#held.oldestOf(shares.greediest() ?? "");
        if (oldest === undefined) return;
        this.remove(oldest);
      }
    }
  }
}

/** Whether an event id is of a kind of stream, if it is one of ours at all. */
export function isPostEvent(eventId: string): boolean {
  return eventId.startsWith("p");
}
