// Marks of what has been used: a sealed state that may be used once is claimed here.

/**
 * Remembers which ids have been used. Processes that serve the same clients must share one.
 *
 * @example
 * ```ts
 * import type { SingleUseStore } from "halyard";
 *
 * interface Redis {
 *   set(key: string, value: string, options: { PX: number; NX: true }): Promise<string | null>;
 * }
 *
 * function redisStore(redis: Redis): SingleUseStore {
 *   return {
 *     async claim(id, ttlMs) {
 *       return (await redis.set(`used:${id}`, "", { PX: ttlMs, NX: true })) !== null;
 *     },
 *   };
 * }
 * ```
 */
export interface SingleUseStore {
  /**
   * Marks the id as used, for at least `ttlMs`. False when it had been before; of several at the same time, one gets true.
   * Rejects when it cannot tell: the call fails, and its state is still good.
   */
  claim(id: string, ttlMs: number): Promise<boolean>;
}

/**
 * Keeps the marks of one process; servers of the same process may share one. When it is full it refuses to mark more,
 * since to forget a mark would let it be used again.
 *
 * @example
 * ```ts
 * import { McpServer, MemorySingleUseStore } from "halyard";
 *
 * const singleUse = new MemorySingleUseStore();
 * const keys = [crypto.getRandomValues(new Uint8Array(32))];
 * for (const version of ["1.0.0", "2.0.0"]) {
 *   new McpServer({ name: "demo", version }).secureRequestState({ keys, singleUse });
 * }
 * ```
 */
export class MemorySingleUseStore implements SingleUseStore {
  readonly #ends = new Map<string, number>();
  readonly #maxMarks: number;

  constructor(maxMarks = 100_000) {
    this.#maxMarks = maxMarks;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    const now = Date.now();
    if ((this.#ends.get(id) ?? 0) > now) return false;
    // Most live equally long, so that those over come first; one that is behind a longer one waits for it.
    for (const [old, end] of this.#ends) {
      if (end > now) break;
      this.#ends.delete(old);
    }
    if (this.#ends.size >= this.#maxMarks) {
      throw new Error(`${this.#maxMarks} ids have been claimed, and none of them may be forgotten yet`);
    }
    // Last again, should it have been there.
    this.#ends.delete(id);
    this.#ends.set(id, now + ttlMs);
    return true;
  }
}
