// Marks of what has been used: a sealed state that may be used once is claimed here.

/**
 * Remembers which ids have been used. Processes that serve the same clients must share one.
 *
 * @example
 * ```ts
 * import type { SingleUseStore } from "halyard";
 *
 * const claimed = new Map<string, number>();
 * const store: SingleUseStore = {
 *   async claim(id, ttlMs) {
 *     if (claimed.has(id)) return false;
 *     claimed.set(id, Date.now() + ttlMs);
 *     return true;
 *   },
 * };
 * ```
 */
export interface SingleUseStore {
  /** Marks the id as used, for at least `ttlMs`. False when it had been before. */
  claim(id: string, ttlMs: number): Promise<boolean>;
}

/** In memory, for one process. When it is full nothing can be claimed: to forget a mark would let it be used again. */
export class MemorySingleUse implements SingleUseStore {
  readonly #ends = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    const now = Date.now();
    // All live equally long, so that those over come first.
    for (const [old, end] of this.#ends) {
      if (end > now) break;
      this.#ends.delete(old);
    }
    if (this.#ends.has(id) || this.#ends.size >= this.#max) return false;
    this.#ends.set(id, now + ttlMs);
    return true;
  }
}
