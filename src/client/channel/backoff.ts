// The waits between attempts: each twice as long as the one before, shortened at random, and not for ever.
import type { Backoff } from "../settings/limits.ts";

/** Counts the attempts of one connection or stream, and says how long to wait before the next one. */
export class Attempts {
  readonly #backoff: Backoff;
  readonly #random: () => number;
  #made = 0;

  constructor(backoff: Backoff, random: () => number = Math.random) {
    this.#backoff = backoff;
    this.#random = random;
  }

  /** How many were made since the start or the last `reset`. */
  get made(): number {
    return this.#made;
  }

  /** Counts one more attempt, and returns the wait before it, at least `floorMs`; undefined if there were `maxAttempts`. */
  next(floorMs = 0): number | undefined {
    const { firstMs, maxMs, maxAttempts } = this.#backoff;
    if (this.#made >= maxAttempts) return undefined;
    const wait = Math.min(maxMs, firstMs * 2 ** this.#made++);
    return Math.max(floorMs, Math.round(wait * (1 - this.#random() / 2)));
  }

  /** Begins the count anew: call it when a message has arrived, not when a connection has opened. */
  reset(): void {
    this.#made = 0;
  }
}

/** Resolves after this time; rejects with the reason of `signal` as soon as it is aborted. */
export function pause(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, timeMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
