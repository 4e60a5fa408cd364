// The logs of session streams, from which a client that reconnects gets the messages it missed; bounded by limits.
import { Holdings } from "../../limits/holdings.ts";
import { Shares } from "../../limits/shares.ts";
import { randomId } from "../../protocol/random-id.ts";
import { Fifo } from "../../wire/fifo.ts";

/** The limits of {@link StreamLogs}. */
export interface StreamLogLimits {
  /** Bytes that the log of one stream keeps. @default {262144} */
  readonly maxStreamBytes: number;
  /** Bytes that all logs keep together, in all processes of a backplane. @default {67108864} */
  readonly maxTotalBytes: number;
  /** Streams that have a log. @default {10000} */
  readonly maxStreams: number;
  /** Milliseconds that a log is kept after the stream has ended, or its client has disconnected. @default {300000} */
  readonly keepMs: number;
}

export const defaultStreamLogLimits: StreamLogLimits = {
  maxStreamBytes: 256 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxStreams: 10_000,
  keepMs: 5 * 60_000,
};

/** A GET stream has no end; a POST stream ends with the response. */
export type StreamKind = "get" | "post";

/** The session and the caller that a log belongs to. */
export interface LogOwner {
  /** Only this session can resume the stream. */
  readonly session: string | undefined;
  /** The caller that it counts for. */
  readonly caller: string;
}

/** The log of one stream. */
export class StreamLog implements LogOwner {
  readonly id: string;
  readonly kind: StreamKind;
  readonly session: string | undefined;
  readonly caller: string;
  readonly #logs: StreamLogs;
  /** The kept messages; the last one has the number `#sequence`. */
  readonly #texts = new Fifo<string>();
  /** The scopes of the token that reads the stream. */
  scopes: readonly string[] | undefined;
  /** When the stream ended. */
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

  /** How many messages are kept. */
  get kept(): number {
    return this.#texts.length;
  }

  /** Whether messages are kept. A stream whose log was dropped continues, but cannot be resumed. */
  get isKept(): boolean {
    return this.#logs.has(this);
  }

  /** The id of the event with this sequence number. */
  eventId(sequence: number = this.#sequence): string {
    return `${this.id}.${sequence}`;
  }

  /** Adds a message, and returns the id of its event. */
  append(text: string): string {
    this.#sequence++;
    if (this.isKept) {
      this.#texts.push(text);
      this.#bytes += text.length;
      this.#logs.count(this, text.length);
    }
    return this.eventId();
  }

  /** Drops the oldest message, and returns its bytes. */
  dropOldest(): number {
    const bytes = this.#texts.shift()?.length ?? 0;
    this.#bytes -= bytes;
    return bytes;
  }

  /** Drops every message; an open stream may still hold the log. */
  clear(): void {
    this.#texts.clear();
    this.#bytes = 0;
  }

  /** The messages after `sequence`; undefined if some of them were dropped. */
  after(sequence: number): readonly string[] | undefined {
    const oldest = this.#sequence - this.#texts.length;
    if (sequence < oldest || sequence > this.#sequence) return undefined;
    return this.#texts.slice(sequence - oldest);
  }

  /** Whether the client may have lost a message that neither a resume nor a gap notification covers. */
  get hasUnconfirmed(): boolean {
    return this.#confirmed < this.#sequence;
  }

  /**
   * Records that nothing up to this event is lost, because the client has resumed after it or gets gap notifications. A write alone
   * does not prove that the client received it.
   */
  confirm(sequence: number = this.#sequence): void {
    this.#confirmed = Math.max(this.#confirmed, sequence);
  }
}

/**
 * Owns the logs of all streams. When a limit is reached, the caller with the most loses the log that it used least recently.
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

  /** The log that an event id belongs to, if it is one of the session, and the event's sequence number. */
  find(
    eventId: string,
    session: string | undefined,
  ): { readonly log: StreamLog; readonly sequence: number } | undefined {
    const [, id = "", sequence] = /^([gp][\w-]{22})\.(\d{1,15})$/.exec(eventId) ?? [];
    const log = this.#logs.get(id);
    return log !== undefined && log.session === session ? { log, sequence: Number(sequence) } : undefined;
  }

  /** Counts the bytes of a message that was added to a log, and drops what exceeds the limits. */
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

  /** Removes the logs of a session. */
  removeSession(session: string): void {
    for (const log of this.#logs.values()) if (log.session === session) this.remove(log);
  }

  /** Removes the logs of streams that ended more than `keepMs` ago. */
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

/** Whether an event id has the form of a POST stream's. */
export function isPostEvent(eventId: string): boolean {
  return eventId.startsWith("p");
}
