// How far the client of one stream has read the session's log; its events carry that as their id.
import type { LogEntry } from "../../backplane/engine.ts";
import { positionOf, sequenceOf } from "../../backplane/position.ts";
import type { EventLog } from "./event-stream.ts";
import { eventIdOf } from "./shared-log.ts";
import type { StreamKind } from "./stream-log.ts";

/** No log has this position: a client that resumes from it is told to read everything again. */
export const unknownPosition = "0-gap";

/** The log itself is the session's, so that nothing is kept here. */
export class SharedCursor implements EventLog {
  readonly kind: StreamKind;
  /** The number of the stream, once the log has it. */
  start: number | undefined;
  /** The position of its last entry. */
  at = "";
  /** The position in the log of changes; `unknownPosition` while the client is told to read everything again. */
  changes = "";
  /** The position in the log of changes once the client has been told to read everything again. */
  changesAfterGap: string | undefined;
  /** The sequence number of the last entry that was written. */
  writtenTo = 0;
  /** Whether anything was written that the client may not have received. */
  hasSent = false;
  /** Whether changes were written, of which the session's log does not know. */
  hasTold = false;
  scopes: readonly string[] | undefined;
  finishedAt: number | undefined;
  /** Resolves when the log has the stream; rejects if the engine fails, and then the stream cannot be resumed. */
  opening: Promise<number> | undefined;
  isKept = true;

  /** Whether the client has no id yet from which it can resume. */
  #needsId: boolean;

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

  /** Entries were lost: a position that the engine no longer has becomes that of the last entry before them, or an unknown one. */
  rewind(kept: LogEntry | undefined): void {
    if (sequenceOf(this.at) <= (kept?.sequence ?? 0)) return;
    this.at = kept ? positionOf(kept) : unknownPosition;
  }

  /** What is written without the log is not kept, and has no id, except that a client needs one to resume from. */
  append(): string | undefined {
    const id = this.#needsId ? this.eventId() : undefined;
    this.#needsId &&= id === undefined;
    return id;
  }
}
