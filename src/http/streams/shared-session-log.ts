// The log of one session on this node: adds entries, and passes all entries on in order while a stream is open here.
import type { Cluster } from "../../backplane/cluster.ts";
import type { LogEntry } from "../../backplane/engine.ts";
import type { Feed, LogReader } from "../../backplane/feed.ts";
import { smallEntryText } from "../../backplane/stored.ts";
import type { Logger } from "../../diagnostics/logger.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { ChangeLog } from "../../push/changes.ts";
import { readSessionEntry, type SessionEntry } from "../../push/session-log.ts";

import type { Connection } from "../../server/context/connection.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import type { Witnessed } from "./witness.ts";
import type { StreamOwner } from "./event-stream.ts";
import type { SharedCursor } from "./shared-cursor.ts";

/** How long an entry that the engine has stored may take to arrive, before it is read instead. */
const arrivalMs = 250;

/** The streams that the entries are for. */
export interface EntryTaker {
  take(entry: SessionEntry, at: LogEntry): void;
  /** Entries were lost. `kept` is the last one before them, if the engine still has it. */
  gap(kept: LogEntry | undefined): void;
}

/** What the streams of a session need in a cluster. */
export interface SharedParts {
  readonly cluster: Cluster;
  readonly server: ServerPort;
  readonly host: Witnessed;
  /** The log of changes, which every node reads. */
  readonly changes: ChangeLog;
  readonly connection: Connection;
  readonly log: SharedSessionLog;
  readonly owner: StreamOwner<SharedCursor>;
  /** Lets work finish in the background, and logs its failure. */
  soon(work: Promise<unknown>): void;
}

/** What the log of a session needs. */
export interface SessionLogParts {
  readonly cluster: Cluster;
  readonly logger: Logger;
  readonly session: string;
  /** The caller that the bytes of the log count for. */
  readonly caller: string;
  /** Milliseconds that the log is kept after its last entry. */
  readonly keepMs: number;
}

export class SharedSessionLog implements LogReader {
  readonly #parts: SessionLogParts;
  readonly #taker: EntryTaker;
  #feed: Feed | undefined;
  #users = 0;
  /** The entries that wait while a stream opens, so that they come after what it has missed. */
  #held: LogEntry[] | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: SessionLogParts, taker: EntryTaker) {
    this.#parts = parts;
    this.#taker = taker;
  }

  get node(): string {
    return this.#parts.cluster.node;
  }

  /** Adds an entry. Rejects if it is larger than nodes share. */
  async append(entry: SessionEntry, follow?: "start"): Promise<LogEntry> {
    const { cluster, session, caller, keepMs } = this.#parts;
    const text = smallEntryText(entry);
    const sequence = await cluster.engine.append(session, text, { keepMs, follow, caller });
    this.#expect(sequence);
    return { sequence, previous: sequence - 1, text };
  }

  /** Adds an entry that opens a stream here. The log is followed until as many {@link SharedSessionLog.leave}. */
  async enter(entry: SessionEntry): Promise<LogEntry> {
    const { cluster, session } = this.#parts;
    this.#users++;
    this.#feed ??= cluster.read(session, this);
    try {
      return await this.append(entry, "start");
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Passes entries on from now: those after `last`, if none were passed on before. */
  start(last: LogEntry): void {
    this.#feed?.start(last);
  }

  /** A stream that was opened here is closed. */
  leave(): void {
    const { cluster, session, logger } = this.#parts;
    const feed = this.#feed;
    if (--this.#users > 0 || feed === undefined) return;
    this.#feed = undefined;
    cluster.stopReading(feed);
    if (cluster.hasJoined) logRejection(logger, "Unfollowing a log", cluster.engine.unfollow(session));
  }

  read(from: number): Promise<readonly LogEntry[]> {
    return this.#parts.cluster.engine.read(this.#parts.session, Math.max(from, 1));
  }

  /** Runs one piece of work after the other, and passes the entries that arrive meanwhile on afterwards. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(async () => {
      this.#held = [];
      try {
        return await work();
      } finally {
        const held = this.#held;
        this.#held = undefined;
        for (const entry of held) this.entry(entry);
      }
    });
    this.#turn = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  entry(entry: LogEntry): void {
    if (this.#held !== undefined) return void this.#held.push(entry);
    const read = readSessionEntry(entry.text);
    if (read !== undefined) this.#taker.take(read, entry);
  }

  gap(kept: LogEntry | undefined): void {
    this.#taker.gap(kept);
  }

  /** An own entry comes back like all others. If the bus has lost it, it is read. */
  #expect(sequence: number): void {
    const feed = this.#feed;
    if (feed === undefined || feed.position >= sequence) return;
    setTimeout(() => {
      if (this.#feed === feed && feed.position < sequence) {
        feed.catchUpSoon();
      }
    }, arrivalMs);
  }
}
