// The table of callers that a rate limit counts, by address or by principal, with a fixed maximum size.
import type { CallerLimits } from "./options.ts";

/** One token each `intervalMs`; after a pause, as many at once as fit into `aheadMs`. */
export interface Rate {
  readonly intervalMs: number;
  readonly aheadMs: number;
}

function rateOf(perMinute: number, burst: number): Rate {
  const intervalMs = 60_000 / perMinute;
  // For an infinite rate, `intervalMs * burst` may be NaN.
  return { intervalMs, aheadMs: intervalMs === 0 ? 0 : intervalMs * burst };
}

/** Shorter waits are rounding errors. */
const toleranceMs = 0.001;

/** A token bucket in one number, since there may be thousands. */
export class TokenBucket {
  /** When the bucket will be full again. */
  #fullAt = Number.NEGATIVE_INFINITY;

  isFull(now: number): boolean {
    return this.#fullAt <= now;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take({ intervalMs, aheadMs }: Rate, now: number): number {
    const fullAt = Math.max(this.#fullAt, now);
    const waitMs = fullAt + intervalMs - aheadMs - now;
    if (waitMs > toleranceMs) return waitMs;
    this.#fullAt = fullAt + intervalMs;
    return 0;
  }

  /** Takes tokens even if there are none left; later requests wait for them. */
  owe({ intervalMs }: Rate, count: number): void {
    this.#fullAt += intervalMs * count;
  }
}

/** One caller, or all callers that did not fit into the table. */
export interface RatedCaller {
  readonly of: Callers;
  readonly bucket: TokenBucket;
  running: number;
}

/** How often a full table is searched for callers to drop. */
const searchEveryMs = 1000;

/**
 * Drops only callers with a full bucket and nothing running, so no caller gets a fresh bucket by having its old one evicted. While
 * the table is full, all new callers share one bucket, which bounds what many addresses get together.
 */
export class Callers {
  readonly rate: Rate;
  readonly concurrent: number;
  readonly #max: number;
  readonly #known = new Map<string, RatedCaller>();
  readonly #others: RatedCaller = { of: this, bucket: new TokenBucket(), running: 0 };
  #nextSearch = Number.NEGATIVE_INFINITY;

  constructor({ perMinute, burst, concurrent }: CallerLimits, max: number) {
    this.rate = rateOf(perMinute, burst);
    this.concurrent = concurrent;
    this.#max = max;
  }

  get size(): number {
    return this.#known.size;
  }

  find(key: string, now: number): RatedCaller {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#max) this.#forgetRested(now);
    if (this.#known.size >= this.#max) return this.#others;
    const caller = { of: this, bucket: new TokenBucket(), running: 0 };
    this.#known.set(key, caller);
    return caller;
  }

  #forgetRested(now: number): void {
    if (now < this.#nextSearch) return;
    this.#nextSearch = now + searchEveryMs;
    for (const [key, { bucket, running }] of this.#known) {
      if (running === 0 && bucket.isFull(now)) this.#known.delete(key);
    }
  }
}
