// The logs that a process alone reads: its engine passes every entry on once and in order.
import type { FollowedLog } from "./cluster.ts";
import type { LogEntry } from "./engine.ts";
import type { LogReader } from "./feed.ts";

/** One reader of a log. */
export class LoneFeed implements FollowedLog {
  readonly log: string;
  readonly #reader: LogReader;
  /** The entries that arrived before the start. */
  #early: LogEntry[] | undefined = [];
  /** The sequence number of the last entry that arrived or was passed on. */
  position = 0;

  constructor(log: string, reader: LogReader) {
    this.log = log;
    this.#reader = reader;
  }

  start(last: LogEntry | undefined): void {
    const early = this.#early;
    if (early === undefined) return;
    this.#early = undefined;
    this.position = last?.sequence ?? 0;
    for (const entry of early) this.receive(entry);
  }

  receive(entry: LogEntry): void {
    if (entry.sequence <= this.position) return;
    this.position = entry.sequence;
    if (this.#early !== undefined) return void this.#early.push(entry);
    this.#reader.entries([entry]);
  }

  async catchUp(): Promise<void> {}

  catchUpSoon(): void {}
}

/** The readers of all logs; usually a log has one. */
export class LoneFeeds {
  readonly #feeds = new Map<string, LoneFeed | LoneFeed[]>();

  add(log: string, reader: LogReader): LoneFeed {
    const feed = new LoneFeed(log, reader);
    const feeds = this.#feeds.get(log);
    this.#feeds.set(log, feeds === undefined ? feed : [feeds, feed].flat());
    return feed;
  }

  remove(feed: FollowedLog): void {
    const left = this.#of(feed.log).filter((other) => other !== feed);
    if (left.length === 0) this.#feeds.delete(feed.log);
    else this.#feeds.set(feed.log, left);
  }

  receive(log: string, entry: LogEntry): void {
    const feeds = this.#feeds.get(log);
    if (feeds instanceof LoneFeed) feeds.receive(entry);
    else for (const feed of feeds ?? []) feed.receive(entry);
  }

  #of(log: string): readonly LoneFeed[] {
    return [this.#feeds.get(log) ?? []].flat();
  }
}
