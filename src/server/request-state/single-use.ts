// Marks of what has been used: a sealed state that may be used once is claimed here.
import { Shares } from "../../limits/shares.ts";

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
   * Rejects when it cannot tell: the call fails, and its state is still good. `caller` is who brings it, for a store that has
   * no more room for one than for others.
   */
  claim(id: string, ttlMs: number, caller?: string): Promise<boolean>;
}

/** When a mark is over: on the clock on the wall, by which states expire, and on one that nobody can set. */
interface End {
  readonly caller: string;
  readonly time: number;
  readonly elapsed: number;
}

/** By both clocks: set back or ahead, none of them lets a state be used again that has not expired. */
function isOver({ time, elapsed }: End): boolean {
  return time <= Date.now() && elapsed <= performance.now();
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
  /** When each is over. */
  readonly #ends = new Map<string, End>();
  readonly #shares: Shares;

  constructor(maxMarks = 100_000) {
    this.#shares = new Shares(maxMarks);
  }

  async claim(id: string, ttlMs: number, caller: string = id): Promise<boolean> {
    const marked = this.#ends.get(id);
    if (marked !== undefined && !isOver(marked)) return false;
    // Most live equally long, so that those over come first; one that is behind a longer one waits for it.
    for (const [old, end] of this.#ends) {
      if (!isOver(end)) break;
      this.#forget(old, end);
    }
    // Last again, should it have been there.
    if (marked !== undefined) this.#forget(id, marked);
    if (!this.#shares.fitsPastHalf(caller, 1)) {
      const { total } = this.#shares;
      throw new Error(`${total} ids have been claimed, and none of them may be forgotten yet`);
    }
    this.#shares.count(caller, 1);
    this.#ends.set(id, { caller, time: Date.now() + ttlMs, elapsed: performance.now() + ttlMs });
    return true;
  }

  #forget(id: string, { caller }: End): void {
    if (this.#ends.delete(id)) this.#shares.count(caller, -1);
  }
}
