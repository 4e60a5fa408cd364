// One page of rows: rows are made only if they are on it, and further ones are counted.
import type { SnapshotOptions, SnapshotPage } from "./views.ts";

/** Rows of a page that has no limit of its own. */
const defaultLimit = 200;

export class Paging<Row> {
  readonly now: number = performance.now();
  /** The only requested client. */
  readonly peer: string | undefined;
  readonly #rows: Row[] = [];
  readonly #offset: number;
  readonly #limit: number;
  /** The text of the search, in lower case. */
  readonly #wanted: string | undefined;
  #total = 0;

  constructor({ search, peer, offset = 0, limit = defaultLimit }: SnapshotOptions) {
    this.peer = peer;
    this.#wanted = search?.trim().toLowerCase() || undefined;
    this.#offset = offset;
    this.#limit = limit;
  }

  /** Whether only some rows are requested. */
  get isSearch(): boolean {
    return this.#wanted !== undefined || this.peer !== undefined;
  }

  /** Whether further rows are only counted. */
  get isFull(): boolean {
    return this.#rows.length >= this.#limit;
  }

  /** Whether a row of this client, with this text in lower case, is requested. */
  matches(text: string, peer?: string): boolean {
    if (this.peer !== undefined && this.peer !== peer) return false;
    return this.#wanted === undefined || text.includes(this.#wanted);
  }

  /** Adds a row, which is made only if it is on the page. */
  add(make: () => Row): void {
    if (++this.#total > this.#offset && !this.isFull) this.#rows.push(make());
  }

  /** Counts rows that match and are not looked at. */
  skip(count: number): void {
    this.#total += count;
  }

  /** `total`: at least so many rows, if not all were looked at. */
  page(total = 0): SnapshotPage<Row> {
    const end = this.#offset + this.#rows.length;
    const all = Math.max(this.#total, total);
    return { rows: this.#rows, total: all, next: this.isFull && end < all ? end : undefined };
  }
}
