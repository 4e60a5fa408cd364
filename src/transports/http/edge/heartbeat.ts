// One timer for all periodic work; it runs only while there is something to tend.
import type { RateLimitedLog } from "../../../base/logging/rate-limited-log.ts";
import { inBackground } from "../../../base/async/timers.ts";

/** Something that needs work about once a second. */
export interface Tended {
  /** Its index in the list of the heartbeat; only the heartbeat sets it. */
  place?: number | undefined;
  /** Returns false when it needs no more work. `now` is `performance.now()`, which ignores changes of the system clock. */
  tend(now: number): boolean;
}

const intervalMs = 1000;

export class Heartbeat {
  /**
   * A list instead of a `Set`: each time a `Set` replaces its table, an old table keeps its entries alive until the next full
   * garbage collection. Most pending calls would be promoted that way, with everything that they refer to.
   */
  readonly #tended: Tended[] = [];
  readonly #log: RateLimitedLog;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(log: RateLimitedLog) {
    this.#log = log;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  add(tended: Tended): void {
    tended.place ??= this.#tended.push(tended) - 1;
    if (this.#timer !== undefined) return;
    this.#timer = inBackground(setInterval(() => this.#beat(), intervalMs));
  }

  delete(tended: Tended): void {
    const { place } = tended;
    if (place === undefined) return;
    tended.place = undefined;
    const last = this.#tended.pop();
    if (last === undefined || last === tended) return;
    this.#tended[place] = last;
    last.place = place;
  }

  stop(): void {
    for (const tended of this.#tended) tended.place = undefined;
    this.#tended.length = 0;
    this.#rest();
  }

  #beat(): void {
    const now = performance.now();
    // From the end: `delete` fills the gap with the last entry, which was tended already.
    for (let at = this.#tended.length - 1; at >= 0; at--) {
      const tended = this.#tended[at];
      if (tended !== undefined && !this.#tend(tended, now)) this.delete(tended);
    }
    if (this.#tended.length === 0) this.#rest();
  }

  /** An error must neither stop the others nor the process, so it is logged, and the item stays. */
  #tend(tended: Tended, now: number): boolean {
    try {
      return tended.tend(now);
    } catch (error) {
      this.#log.error("The upkeep of a stream or session failed", { error });
      return true;
    }
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
