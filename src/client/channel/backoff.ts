// The waits between attempts: each twice as long as the one before, shortened at random, up to a limit.
import type { Backoff } from "../settings/limits.ts";

/** The browser globals for network state. Other runtimes have none of them. */
interface Browser extends Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">> {
  readonly navigator?: { readonly onLine?: boolean };
}

const browser = globalThis as Browser;

/** Counts the attempts of one connection or stream, and returns the wait before the next one. */
export class Attempts {
  readonly #backoff: Backoff;
  readonly #isLasting: boolean;
  #made = 0;

  /** `isLasting`: keep trying while the browser is offline. */
  constructor(backoff: Backoff, isLasting = false) {
    this.#backoff = backoff;
    this.#isLasting = isLasting;
  }

  /** The number of attempts since the start or the last `reset`. */
  get made(): number {
    return this.#made;
  }

  /** Counts one more attempt, and returns the wait before it, at least `floorMs`; undefined after `maxAttempts`. */
  next(floorMs = 0): number | undefined {
    const { firstMs, maxMs, maxAttempts } = this.#backoff;
    if (this.#made >= maxAttempts) {
      if (!this.#isLasting || browser.navigator?.onLine !== false) return undefined;
      // Keeps half of the attempts for the time after the network is back, without shortening the waits.
      this.#made >>= 1;
    }
    const wait = Math.min(maxMs, firstMs * 2 ** this.#made++);
    return Math.max(floorMs, Math.round(wait * (1 - Math.random() / 2)));
  }

  /** Restarts the count. Call it when a message has arrived, not when a connection has opened. */
  reset(): void {
    this.#made = 0;
  }
}

/**
 * Resolves after this time, or when the browser is online again and `floorMs` have passed; rejects with the reason of `signal` as
 * soon as it is aborted.
 */
export function backoffPause(timeMs: number, signal?: AbortSignal, floorMs: number = timeMs): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const since = performance.now();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      browser.removeEventListener?.("online", wake);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const wake = (): void => {
      if (performance.now() - since > floorMs) end();
    };
    const timer = setTimeout(end, timeMs);
    signal?.addEventListener("abort", end);
    browser.addEventListener?.("online", wake);
  });
}
