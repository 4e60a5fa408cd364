// A log that this node follows: passes every entry on once and in order, even if the bus loses, doubles or reorders entries.
import type { Engine, LogEntry } from "../engine/engine.ts";
import { inBackground } from "../../base/async/timers.ts";
import { digestOf } from "../engine/log-entries.ts";

/** Receives the entries of a log. */
export interface LogReader {
  /** Receives the next entries, in order: one that arrived, or several that were read. */
  entries(entries: readonly LogEntry[]): void;
  /**
   * Entries were lost permanently: they were dropped before they could be read, or the engine has lost them. `kept` is the last
   * entry before them, if the engine still has it. The entries after the gap follow at once.
   */
  gap(kept: LogEntry | undefined): void;
}

/** How many entries are remembered, to notice that the engine assigns a number again after it has lost its tail. */
const remembered = 32;

/** Milliseconds until the next attempt to read missing entries: after the first failure, and at most. */
const [firstPauseMs, longestPauseMs] = [1000, 30_000];

/** Entries that may arrive before {@link Feed.start}; with more, the feed reads them from the engine. */
const maxEarly = 100;

export class Feed {
  readonly log: string;
  readonly #engine: Engine;
  readonly #reader: LogReader;
  /** The digests of the newest entries that were passed on, oldest first. */
  readonly #recent = new Map<number, string>();
  /** The entries that arrived before the start. */
  #early: LogEntry[] | undefined = [];
  #position = 0;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  /** How often the engine was lost, and after how many of these losses the feed has caught up. */
  #losses = 0;
  #madeGood = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = firstPauseMs;
  #isOver = false;

  constructor(engine: Engine, log: string, reader: LogReader) {
    this.#engine = engine;
    this.log = log;
    this.#reader = reader;
  }

  get position(): number {
    return this.#position;
  }

  start(last: LogEntry | undefined): void {
    const early = this.#early;
    if (early === undefined) return;
    this.#early = undefined;
    if (last !== undefined) this.#remember(last);
    if (early.length === maxEarly) this.catchUpSoon();
    else for (const entry of early) this.receive(entry);
  }

  /** Receives an entry from the engine. */
  receive(entry: LogEntry): void {
    if (this.#isOver) return;
    if (this.#early !== undefined) {
      if (this.#early.length < maxEarly) this.#early.push(entry);
      return;
    }
    const { sequence, previous, text } = entry;
    // If there is no entry before it, the earlier ones have expired meanwhile.
    const isNext = sequence > this.#position && (previous === this.#position || previous === 0);
    const isTrusted = this.#reading === undefined && this.#losses === this.#madeGood;
    if (isNext && isTrusted) return this.#pass([entry]);
    const known = this.#recent.get(sequence);
    const isKnown = sequence <= this.#position && (known === undefined || known === digestOf(text));
    // An entry is missing, or a number was assigned again, so the log is read from the engine.
    if (!isKnown) this.catchUpSoon();
  }

  /** Called when the engine is lost: until the feed has caught up, an arriving entry may not be the next one. */
  lost(): void {
    this.#losses++;
  }

  catchUp(): Promise<void> {
    if (this.#early !== undefined) return Promise.resolve();
    this.#mustReadAgain = true;
    return (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
  }

  catchUpSoon(): void {
    this.catchUp().then(
      () => (this.#pauseMs = firstPauseMs),
      () => this.#tryAgain(),
    );
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#retry);
  }

  #tryAgain(): void {
    if (this.#isOver || this.#retry !== undefined) return;
    const again = (): void => {
      this.#retry = undefined;
      this.catchUpSoon();
    };
    this.#retry = inBackground(setTimeout(again, this.#pauseMs));
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
  }

  async #read(): Promise<void> {
    while (this.#mustReadAgain && !this.#isOver) {
      this.#mustReadAgain = false;
      const losses = this.#losses;
      const [oldest = this.#position] = this.#recent.keys();
      const entries = await this.#engine.read(this.log, Math.max(oldest, 1));
      if (this.#isOver) return;
      this.#madeGood = losses;
      this.#take(entries);
    }
  }

  #take(entries: readonly LogEntry[]): void {
    const isSeen = ({ sequence, text }: LogEntry): boolean => this.#recent.get(sequence) === digestOf(text);
    const isContinued =
      this.#position === 0 || entries.some((entry) => entry.sequence === this.#position && isSeen(entry));
    // The last entry that was passed on is gone: dropped for newer ones, or lost with the engine's tail.
    if (!isContinued) this.#reader.gap(entries.findLast(isSeen));
    const unseen = entries.filter((entry) =>
      isContinued ? entry.sequence > this.#position : !isSeen(entry),
    );
    if (!isContinued) this.#recent.clear();
    this.#pass(unseen);
    if (!isContinued) this.#position = entries.at(-1)?.sequence ?? 0;
  }

  #pass(entries: readonly LogEntry[]): void {
    for (const entry of entries) this.#remember(entry);
    if (entries.length > 0) this.#reader.entries(entries);
  }

  #remember({ sequence, text }: LogEntry): void {
    this.#position = sequence;
    this.#recent.set(sequence, digestOf(text));
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= remembered) break;
      this.#recent.delete(oldest);
    }
  }
}

/** How many logs are read at once, so that other operations of the engine are not delayed. */
const maxReads = 500;

export class Feeds {
  readonly #feeds = new Map<string, Set<Feed>>();

  /** The logs that are followed. */
  get logs(): string[] {
    return [...this.#feeds.keys()];
  }

  add(feed: Feed): void {
    const feeds = this.#feeds.get(feed.log) ?? new Set();
    this.#feeds.set(feed.log, feeds.add(feed));
  }

  remove(feed: Feed): void {
    feed.close();
    const feeds = this.#feeds.get(feed.log);
    feeds?.delete(feed);
    if (feeds?.size === 0) this.#feeds.delete(feed.log);
  }

  receive(log: string, entry: LogEntry): void {
    for (const feed of this.#feeds.get(log) ?? []) feed.receive(entry);
  }

  /** Called when the engine is lost. */
  lost(): void {
    for (const feed of this.#all) feed.lost();
  }

  /** Reads the entries that the node has missed, some logs at a time. */
  async catchUp(): Promise<void> {
    const feeds = this.#all;
    while (feeds.length > 0) {
      const some = feeds.splice(0, maxReads);
      await Promise.all(some.map((feed) => feed.catchUp().catch(() => feed.catchUpSoon())));
    }
  }

  close(): void {
    for (const feed of this.#all) feed.close();
    this.#feeds.clear();
  }

  get #all(): Feed[] {
    return [...this.#feeds.values()].flatMap((feeds) => Array.from(feeds));
  }
}
