// How far the client of one stream has read the session's log; its events carry that as their id.
import type { EventLog } from "./event-stream.ts";
import { eventIdOf } from "./shared-log.ts";
import type { StreamKind } from "./stream-log.ts";

/** The log itself is the session's, so that nothing is kept here. */
export class SharedCursor implements EventLog {
  readonly kind: StreamKind;
  /** The number of the stream, once the log has it. */
  start: number | undefined;
  /** The position of its last entry. */
  at = "";
  /** The position in the log of changes. */
  changes = "";
  scopes: readonly string[] | undefined;
  finishedAt: number | undefined;
  /** Resolves when the log has the stream; rejects if the engine fails, and then the stream cannot be resumed. */
  opening: Promise<number> | undefined;
  isKept = true;

  constructor(kind: StreamKind) {
    this.kind = kind;
  }

  eventId(): string | undefined {
    const { kind, start, at, changes } = this;
    if (start === undefined || !this.isKept) return undefined;
    return eventIdOf(kind === "get" ? { kind, start, at, changes } : { kind, start, at });
  }

  /** What is written without the log is not kept. */
  append(): undefined {
    return undefined;
  }
}
