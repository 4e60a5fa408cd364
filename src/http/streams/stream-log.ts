// What the streams of sessions have sent, kept so that a client that lost one gets what it missed; bounded in every way.
import { Holdings } from "../../limits/holdings.ts";
import { Shares } from "../../limits/shares.ts";
import { randomId } from "../../protocol/random-id.ts";

/** How much {@link StreamLogs} keeps, and for how long. */
export interface StreamLogLimits {
  /** Bytes that one stream keeps to be resumed. @default {262144} */
  readonly maxStreamBytes: number;
  /** Bytes that all streams keep together. @default {67108864} */
  readonly maxTotalBytes: number;
  /** Streams that are kept. @default {10000} */
  readonly maxStreams: number;
  /** Milliseconds that a stream is kept after its last message, or after its client has gone. @default {300000} */
  readonly keepMs: number;
}

export const defaultStreamLogLimits: StreamLogLimits = {
  maxStreamBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxStreams: 10_000,
  keepMs: 5 * 60_000,
};

/** GET streams go on for ever; a POST stream ends with the response. */
export type StreamKind = "get" | "post";

/** Whose stream it is. */
export interface LogOwner {
  /** For any other session the stream does not exist. */
  readonly session: string | undefined;
  /** Who it is counted for. */
  readonly caller: string;
}

/** What one stream has sent. */
export class StreamLog implements LogOwner {
  readonly id: string;
  readonly kind: StreamKind;
  readonly session: string | undefined;
  readonly caller: string;
  readonly #logs: StreamLogs;
  /** Those that are kept; the last one has the sequence number {@link StreamLog.sequence}. */
  readonly #texts: string[] = [];
  /** What the token was granted that the stream was opened with. */
  scopes: readonly string[] | undefined;
  /** When its last message was sent. */
  finishedAt: number | undefined;
  #bytes = 0;
  #sequence = 0;
  #confirmed = 0;

  constructor(logs: StreamLogs, kind: StreamKind, { session, caller }: LogOwner) {
    this.#logs = logs;
    this.id = `${kind === "get" ? "g" : "p"}${randomId()}`;
    this.kind = kind;
    this.session = session;
    this.caller = caller;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many messages it has had. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether what is sent is kept: without room for it a stream goes on, and cannot be resumed. */
  get isKept(): boolean {
    return this.#logs.has(this);
  }

  /** The id of the event with that sequence number. */
  eventId(sequence: number = this.#sequence): string {
    return `${this.id}.${sequence}`;
  }

  /** Keeps a message, and returns the id of its event. */
  append(text: string): string {
    this.#sequence++;
    if (this.isKept) {
      this.#texts.push(text);
      this.#bytes += text.length;
      this.#logs.count(this, text.length);
    }
    return this.eventId();
  }

  /** Forgets the oldest message; returns by how much it has shrunk. */
  dropOldest(): number {
    const bytes = this.#texts.shift()?.length ?? 0;
    this.#bytes -= bytes;
    return bytes;
  }

  /** Forgets every message; a stream that is open may still have it. */
  clear(): void {
    this.#texts.length = 0;
    this.#bytes = 0;
  }

  /** The messages after `sequence`; undefined when some of them are no longer kept. */
  after(sequence: number): readonly string[] | undefined {
    const oldest = this.#sequence - this.#texts.length;
    if (sequence < oldest || sequence > this.#sequence) return undefined;
    return this.#texts.slice(sequence - oldest);
  }

  /** Whether something was sent that the client may have lost, and has not been told to read again. */
  get hasUnconfirmed(): boolean {
    return this.#confirmed < this.#sequence;
  }

  /**
   * Nothing up to that event is lost: the client has come back after it, or is told to read again. That it was written proves
   * nothing.
   */
  confirm(sequence: number = this.#sequence): void {
    this.#confirmed = Math.max(this.#confirmed, sequence);
  }
}

/**
 * The logs of all streams: the one place where what was sent is kept. When there are too many, the caller with the most loses
 * the one that it used least recently.
 */
export class StreamLogs {
  readonly #limits: StreamLogLimits;
  readonly #logs = new Map<string, StreamLog>();
  readonly #held: Holdings<StreamLog>;
  readonly #bytes: Shares;

  constructor(limits: StreamLogLimits) {
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

  has(log: StreamLog): boolean {
    return this.#logs.get(log.id) === log;
  }

  open(kind: StreamKind, owner: LogOwner): StreamLog {
    const log = new StreamLog(this, kind, owner);
    this.#logs.set(log.id, log);
    this.#held.add(log.caller, log);
    this.#trim(this.#held.shares);
    return log;
  }

  /** The log that an event id of that session belongs to, and the place of the event in it. */
  find(
    eventId: string,
    session: string | undefined,
  ): { readonly log: StreamLog; readonly sequence: number } | undefined {
    const [, id = "", sequence] = /^([gp][\w-]{22})\.(\d{1,15})$/.exec(eventId) ?? [];
    const log = this.#logs.get(id);
    return log !== undefined && log.session === session ? { log, sequence: Number(sequence) } : undefined;
  }

  /** A message of so many bytes has been added to a log. */
  count(log: StreamLog, bytes: number): void {
    const { caller } = log;
    let more = bytes;
    while (log.bytes > this.#limits.maxStreamBytes) more -= log.dropOldest();
    this.#bytes.count(caller, more);
    this.#held.add(caller, log, 0);
    this.#trim(this.#bytes);
  }

  remove(log: StreamLog): void {
    if (!this.#logs.delete(log.id)) return;
    this.#held.delete(log.caller, log);
    this.#bytes.count(log.caller, -log.bytes);
    log.clear();
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

  #trim(shares: Shares): void {
    while (shares.total > shares.max) {
      const oldest = this.#held.oldestOf(shares.greediest() ?? "");
      if (oldest === undefined) return;
      this.remove(oldest);
    }
  }
}

/** Whether an event id is one of a POST stream, if it is one of ours at all. */
export function isPostEvent(eventId: string): boolean {
  return eventId.startsWith("p");
}
