// How far the client of one stream has read the session's log. The ids of its events carry this position.
import type { LogEntry } from "../../../cluster/engine/engine.ts";
import { isSequence, positionOf, positionPattern, sequenceOf } from "../../../cluster/engine/log-entries.ts";
import type { EventLog, StreamKind } from "./event-stream.ts";

/** The position of a client in a stream, as an event id encodes it. */
export type StreamCursor =
  | { readonly kind: "get"; readonly start: number; readonly at: string; readonly changes: string }
  | { readonly kind: "post"; readonly start: number; readonly at: string };

/**
 * The event id of a cursor. `start` is the number of the stream, `at` its last entry that the client has, and `changes` the last entry
 * of the log of changes that it has.
 */
function eventIdOf(cursor: StreamCursor): string {
  const { kind, start, at } = cursor;
  return kind === "get" ? `g${start}.${at}.${cursor.changes}` : `p${start}.${at}`;
}

const eventId = new RegExp(
  String.raw`^(?:g(?<get>\d{1,16})\.(?<seen>${positionPattern})\.(?<changes>${positionPattern})|p(?<post>\d{1,16})\.(?<at>${positionPattern}))$`,
);

/** Reads an event id; undefined if it is none. */
export function readEventId(text: string): StreamCursor | undefined {
  const { get, seen = "", changes = "", post, at = "" } = eventId.exec(text)?.groups ?? {};
  const start = Number(get ?? post);
  if (!isSequence(start) || !Number.isSafeInteger(sequenceOf(get === undefined ? at : seen)))
    return undefined;
  return get === undefined ? { kind: "post", start, at } : { kind: "get", start, at: seen, changes };
}

/** Whether an event id has the form of a POST stream's. */
export function isPostEvent(id: string): boolean {
  return id.startsWith("p");
}

/**
 * A position that no log has: a client that resumes from it gets a notification for each topic, so that it reads everything
 * again.
 */
export const unknownPosition = "0-gap";

/** A message that belongs to a stream and is still to be written. */
interface Unwritten {
  readonly text: string;
  readonly id: string | undefined;
  readonly sequence: number;
}

/** Stores no messages, because the log of the session does. */
export class Cursor implements EventLog {
  readonly kind: StreamKind;
  /** The number of the stream, once the log has it. */
  start: number | undefined;
  /** The position of its last entry. */
  at = "";
  /** The position in the log of changes; `unknownPosition` until the client has got a notification for each topic. */
  changes = "";
  /** The position in the log of changes after the client has got a notification for each topic. */
  changesAfterGap: string | undefined;
  /** The sequence number of the last entry that was written. */
  writtenTo = 0;
  /** Whether anything was written that the client may not have received. */
  hasSent = false;
  /** Whether changes were written, which the session's log does not contain. */
  hasTold = false;
  scopes: readonly string[] | undefined;
  finishedAt: number | undefined;
  /** Resolves when the log has the stream; rejects if the engine fails, and then the stream cannot be resumed. */
  opening: Promise<number> | undefined;
  isKept = true;
  /** Messages that its reader was too slow for, and the length of those that were not replayed. */
  #backlog: Unwritten[] | undefined;
  #backlogLength = 0;

  /** Whether the client has no id yet from which it can resume. */
  #needsId: boolean;
  /** The id of the last event. */
  #lastId: string | undefined;

  /** `isPrimed` says that the stream begins with an event that only has an id. */
  constructor(kind: StreamKind, isPrimed: boolean) {
    this.kind = kind;
    this.#needsId = !isPrimed;
  }

  eventId(): string | undefined {
    const { kind, start, at, changes } = this;
    if (start === undefined || !this.isKept) return undefined;
    return eventIdOf(kind === "get" ? { kind, start, at, changes } : { kind, start, at });
  }

  /** The id of the event that begins a connection. It may equal the last one of the previous connection. */
  primingId(): string | undefined {
    this.#lastId = this.eventId();
    return this.#lastId;
  }

  /** The id of the next event; undefined if it would repeat the id of the previous event. */
  nextId(): string | undefined {
    const id = this.eventId();
    return id === this.#lastId ? undefined : (this.#lastId = id);
  }

  get waiting(): number {
    return this.#backlog?.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
  }

  /** Whether messages wait for its reader. */
  get isBehind(): boolean {
    return this.#backlog !== undefined;
  }

  /** Keeps a message that its reader is too slow for. Returns the length of all that wait and were not replayed. */
  putAside(message: Unwritten, isReplayed: boolean): number {
    (this.#backlog ??= []).push(message);
    if (!isReplayed) this.#backlogLength += message.text.length;
    return this.#backlogLength;
  }

  takeBacklog(): readonly Unwritten[] {
    const backlog = this.#backlog ?? [];
    this.#backlog = undefined;
    this.#backlogLength = 0;
    return backlog;
  }

  /**
   * Called when entries were lost: moves a position that the engine no longer has to the last entry before them, or to
   * `unknownPosition`.
   */
  rewind(kept: LogEntry | undefined): void {
    if (sequenceOf(this.at) <= (kept?.sequence ?? 0)) return;
    this.at = kept ? positionOf(kept) : unknownPosition;
  }

  /** A message outside the log has no id, unless the client still needs one to resume from. */
  append(): string | undefined {
    const id = this.#needsId ? this.nextId() : undefined;
    this.#needsId &&= id === undefined;
    return id;
  }
}
