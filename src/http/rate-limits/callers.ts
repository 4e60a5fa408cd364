// The callers that are being counted, by address or by principal: never more than a fixed number of them.
import type { CallerLimits } from "./options.ts";

/** One token each `intervalMs`, and so many at once after a pause as fit into `aheadMs`. */
export interface Rate {
  readonly intervalMs: number;
  readonly aheadMs: number;
}

function rateOf(perMinute: number, burst: number): Rate {
  const intervalMs = 60_000 / perMinute;
  // Without a rate there is nothing to be ahead of.
  return { intervalMs, aheadMs: intervalMs === 0 ? 0 : intervalMs * burst };
}

/** Sums of fractions are not exact; a wait as short as this is none. */
const toleranceMs = 0.001;

/** A token bucket as one number, so that thousands of them weigh little. */
export class TokenBucket {
  /** The time by which all that was taken will have come in again; the bucket is full from then on. */
  #fullAt = Number.NEGATIVE_INFINITY;

  isFull(now: number): boolean {
    return this.#fullAt <= now;
  }

  /** Takes a token and returns 0, or takes none and returns the milliseconds until there is one. */
  take({ intervalMs, aheadMs }: Rate, now: number): number {
    const fullAt = Math.max(this.#fullAt, now);
    const waitMs = fullAt + intervalMs - aheadMs - now;
    if (waitMs > toleranceMs) return waitMs;
    this.#fullAt = fullAt + intervalMs;
    return 0;
  }

  /** Takes tokens whether or not they are there: whoever comes next waits for them. */
  owe({ intervalMs }: Rate, count: number): void {
    this.#fullAt += intervalMs * count;
  }
}

/** One caller, or all those for whom there was no room. */
export interface Caller {
  readonly of: Callers;
  readonly bucket: TokenBucket;
  running: number;
}

/** How often a full table is searched for callers that can be forgotten; in between it stays full. */
const searchEveryMs = 1000;

/**
 * Forgets only callers that have nothing running and a full bucket, which are as good as new: nobody gets a fresh bucket
 * by making others push the old one out. Where there is none to forget, newcomers share one bucket, so that a crowd of
 * addresses gets no more than the table's number of limits and one.
 */
export class Callers {
  readonly rate: Rate;
  readonly concurrent: number;
  readonly #max: number;
  readonly #known = new Map<string, Caller>();
  readonly #others: Caller = { of: this, bucket: new TokenBucket(), running: 0 };
  #nextSearch = Number.NEGATIVE_INFINITY;

  constructor({ perMinute, burst, concurrent }: CallerLimits, max: number) {
    this.rate = rateOf(perMinute, burst);
    this.concurrent = concurrent;
    this.#max = max;
  }

  get size(): number {
    return this.#known.size;
  }

  find(key: string, now: number): Caller {
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
