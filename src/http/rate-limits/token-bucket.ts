// Who may ask how often: a token bucket as one number, so that thousands of them weigh little.

/** One token each `intervalMs`, and so many at once after a pause as fit into `aheadMs`. */
export interface Rate {
  readonly intervalMs: number;
  readonly aheadMs: number;
}

export function rateOf(perMinute: number, burst: number): Rate {
  const intervalMs = 60_000 / perMinute;
  // Without a rate there is nothing to be ahead of.
  return { intervalMs, aheadMs: intervalMs === 0 ? 0 : intervalMs * burst };
}

/** Sums of fractions are not exact; a wait as short as this is none. */
const toleranceMs = 0.001;

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
