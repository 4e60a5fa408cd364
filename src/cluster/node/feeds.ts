// The feeds of all logs that a node follows. Several may read one log.
import type { LogEntry } from "../engine/engine.ts";
import type { Feed } from "./feed.ts";

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
