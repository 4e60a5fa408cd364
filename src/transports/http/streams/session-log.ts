// The log of one session on this node: adds entries, and passes all entries on in order while a stream is open here.
import type { Cluster, FollowedLog } from "../../../cluster/node/cluster.ts";
import type { LogEntry } from "../../../cluster/engine/engine.ts";
import type { LogReader } from "../../../cluster/node/feed.ts";
import { pauseInBackground } from "../../../base/async/timers.ts";
import { ignoreRejection } from "../../../base/async/promises.ts";
import { HalyardError } from "../../../base/errors.ts";
import { smallEntryText } from "../../../cluster/engine/log-entries.ts";
import { logRejection } from "../../../base/logging/rate-limited-log.ts";
import { readSessionEntry, type SessionEntry } from "../../../server/push/session-entries.ts";

import type { Connection } from "../../../server/context/connection.ts";
import type { ServerPort } from "../../../server/calls/port.ts";
import { logKeptMs } from "../../../server/session/limits.ts";
import type { StreamHost } from "./host.ts";
import type { StreamOwner } from "./event-stream.ts";
import type { Cursor } from "./cursor.ts";

/** How long an entry that the engine has stored may take to arrive, before it is read instead. */
const arrivalMs = 250;

/** Milliseconds between attempts to add an entry while the engine fails: the first, and the longest. */
const [firstPauseMs, longestPauseMs] = [1000, 10_000];

/** An entry of the log that a stream may need, and its place. */
export interface PlacedEntry {
  readonly entry: SessionEntry;
  readonly at: LogEntry;
}

/** The streams that the entries are for. */
export interface EntryTaker {
  /** Takes entries that arrived or were read together, each once and in the order of the log. */
  take(entries: readonly PlacedEntry[]): void;
  /** Called when entries were lost. `kept` is the last one before them, if the engine still has it. */
  gap(kept: LogEntry | undefined): void;
}

/** The parts of a session that streams need. */
export interface StreamParts extends StreamOwner<Cursor> {
  readonly host: StreamHost;
  readonly server: ServerPort;
  readonly connection: Connection;
  readonly log: SessionLog;
  /** Lets work finish in the background, and logs its failure. */
  soon(work: Promise<unknown>): void;
  /** Whether questions wait for the client to come back, and how they fail. */
  readonly isAwaited: boolean;
  giveUp(): void;
  /** Called when the active stream has room again, or another became active. */
  nextDrained(): void;
}

export class SessionLog implements LogReader {
  readonly #host: StreamHost;
  readonly #connection: Connection;
  readonly #taker: EntryTaker;
  #feed: FollowedLog | undefined;
  #users = 0;
  /** The entries that wait while a stream opens, so that they come after what it has missed. */
  #held: LogEntry[] | undefined;
  /** The number of the last entry that was passed on. */
  #passedTo = 0;
  /** The work that runs now or last; undefined once it is done. */
  #turn: Promise<void> | undefined;

  constructor(host: StreamHost, connection: Connection, taker: EntryTaker) {
    this.#host = host;
    this.#connection = connection;
    this.#taker = taker;
  }

  get node(): string {
    return this.#cluster.node;
  }

  get #cluster(): Cluster {
    return this.#host.server.cluster;
  }

  get #session(): string {
    return this.#connection.session ?? "";
  }

  /** Adds an entry. Rejects if it is larger than nodes share, or the session is gone. */
  async append(entry: SessionEntry, follow?: "start"): Promise<LogEntry> {
    const added = await this.#add(entry, follow);
    if (added === undefined) throw this.#gone();
    this.#expect(added.sequence);
    return added;
  }

  /**
   * Adds an entry to the log of a session that has not ended, however long the engine fails, while this node is in the cluster: others
   * know when it has left.
   */
  async appendAtLast(entry: SessionEntry): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const added = await this.#add(entry);
        return added && this.#expect(added.sequence);
      } catch {
        if (!this.#cluster.hasJoined) return;
        await pauseInBackground(pauseMs);
      }
    }
  }

  /** Resolves with undefined if the session is gone. */
  async #add(entry: SessionEntry, follow?: "start"): Promise<LogEntry | undefined> {
    const { caller } = this.#connection;
    const { limits } = this.#host.settings;
    const kept = { keepMs: logKeptMs(limits), maxBytes: limits.maxStreamBytes };
    const text = smallEntryText(entry);
    // A log that has ended, or that the engine has lost with its session, must not be created again.
    const onlyWith = entry.k === "get" || entry.k === "lost" ? "session" : undefined;
    const sequence = await this.#cluster.engine.append(this.#session, text, {
      ...kept,
      follow,
      onlyWith,
      caller,
    });
    return sequence === 0 ? undefined : { sequence, previous: sequence - 1, text };
  }

  /** Adds an entry that opens a stream here. The log is followed until as many {@link SessionLog.leave}. */
  async enter(entry: SessionEntry): Promise<LogEntry> {
    this.#users++;
    this.#feed ??= this.#cluster.read(this.#session, this);
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
    const { cluster, logger } = this.#host.server;
    const feed = this.#feed;
    if (--this.#users > 0 || feed === undefined) return;
    this.#feed = undefined;
    cluster.stopReading(feed);
    if (cluster.hasJoined) logRejection(logger, "Unfollowing a log", cluster.engine.unfollow(this.#session));
  }

  read(from: number): Promise<readonly LogEntry[]> {
    return this.#cluster.engine.read(this.#session, Math.max(from, 1));
  }

  /** Runs one piece of work after the other, and passes the entries that arrive meanwhile on afterwards. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = (this.#turn ?? Promise.resolve()).then(async () => {
      this.#held = [];
      try {
        return await work();
      } finally {
        const held = this.#held;
        this.#held = undefined;
        this.pass(held);
      }
    });
    const done = (): void => {
      if (this.#turn === ended) this.#turn = undefined;
    };
    const ended: Promise<void> = turn.then(done, done);
    this.#turn = ended;
    return turn;
  }

  entries(entries: readonly LogEntry[]): void {
    if (this.#held === undefined) this.pass(entries);
    else this.#held.push(...entries);
  }

  /** Passes on those of the entries that were not passed on before. */
  pass(entries: readonly LogEntry[]): void {
    const fresh = entries.filter(({ sequence }) => sequence > this.#passedTo);
    this.#passedTo = fresh.at(-1)?.sequence ?? this.#passedTo;
    const placed = fresh.flatMap((at): PlacedEntry[] => {
      const entry = readSessionEntry(at.text);
      return entry === undefined ? [] : [{ entry, at }];
    });
    if (placed.length > 0) this.#taker.take(placed);
  }

  gap(kept: LogEntry | undefined): void {
    this.#passedTo = kept?.sequence ?? 0;
    this.#taker.gap(kept);
  }

  /** The error for a session whose record is gone: it has ended, or the engine has lost its data. */
  #gone(): HalyardError {
    ignoreRejection(this.#cluster.verify());
    this.#host.checkSession(this.#connection);
    return new HalyardError(
      "BACKPLANE_UNAVAILABLE",
      "The session has ended, or the engine has lost its data",
    );
  }

  /** Reads an own entry from the engine if the bus does not deliver it in time. */
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
