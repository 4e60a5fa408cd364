// What happened in each of the last 300 seconds: calls, errors and durations.
import { type Buckets, Histogram } from "./histogram.ts";

/** Seconds of the plots. Past it, the oldest are dropped. */
export const keptSeconds = 300;

/** One complete second. */
export interface Second {
  readonly calls: number;
  readonly errors: number;
  readonly durations: Buckets;
}

const nothing: Second = { calls: 0, errors: 0, durations: [] };

/** The last complete seconds of a node, oldest first. */
export interface Seconds {
  /** The number of the last second, since 1970, on the clock of that node. */
  readonly last: number;
  readonly seconds: readonly Second[];
}

export class Series {
  /** Complete seconds by their number; one without a call is missing. */
  readonly #seconds = new Map<number, Second>();
  readonly #durations = new Histogram();
  readonly #from: number;
  #second: number;
  #calls = 0;
  #errors = 0;

  /** Before `second` nothing is known, and `second` itself is incomplete. */
  constructor(second: number) {
    this.#second = second;
    this.#from = second + 1;
  }

  /** Counts a call that ended in this second. `weight` is 0 if its duration is not sampled. */
  add(second: number, isError: boolean, durationMs: number, weight: number): void {
    this.#advance(second);
    this.#calls++;
    if (isError) this.#errors++;
    if (weight > 0) this.#durations.add(durationMs, weight);
  }

  /** The complete seconds before this one. */
  before(second: number): Seconds {
    this.#advance(second);
    const last = this.#second - 1;
    const seconds: Second[] = [];
    for (let at = Math.max(this.#from, last - keptSeconds + 1); at <= last; at++) {
      seconds.push(this.#seconds.get(at) ?? nothing);
    }
    return { last, seconds };
  }

  #advance(second: number): void {
    if (second <= this.#second) return;
    if (this.#calls > 0) {
      const durations = this.#durations.buckets();
      this.#seconds.set(this.#second, { calls: this.#calls, errors: this.#errors, durations });
      this.#durations.clear();
      this.#calls = 0;
      this.#errors = 0;
    }
    this.#second = second;
    for (const kept of this.#seconds.keys()) {
      if (kept >= second - keptSeconds) break;
      this.#seconds.delete(kept);
    }
  }
}
