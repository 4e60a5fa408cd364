// Stores the ids of used states, for request state that may be used only once.
import { Shares } from "../../limits/shares.ts";

/**
 * Remembers which ids were used. Processes that serve the same clients must share one store.
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
   * Marks the id as used for at least `ttlMs`. Resolves with false if it was marked before; of several concurrent calls, only
   * one gets true. Reject if the store fails: the call fails, and the client can retry with the same state. `caller` lets a
   * store divide its room fairly.
   */
  claim(id: string, ttlMs: number, caller?: string): Promise<boolean>;
}

/** When a mark expires, on the wall clock (as the states do) and on the monotonic clock. */
interface End {
  readonly caller: string;
  readonly time: number;
  readonly elapsed: number;
}

/** Uses both clocks, so that changing the wall clock never lets an unexpired state be used again. */
function isOver({ time, elapsed }: End): boolean {
  return time <= Date.now() && elapsed <= performance.now();
}

/**
 * Keeps the marks in the memory of one process; several servers may share one store. When it is full, it rejects new claims,
 * because dropping a mark would let a state be used again.
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
  readonly #ends = new Map<string, End>();
  readonly #shares: Shares;

  constructor(maxMarks = 100_000) {
    this.#shares = new Shares(maxMarks);
  }

  async claim(id: string, ttlMs: number, caller: string = id): Promise<boolean> {
    const marked = this.#ends.get(id);
    if (marked && !isOver(marked)) return false;
    // Most marks have the same lifetime, so expired ones come first; one behind a longer-lived mark waits.
    for (const [old, end] of this.#ends) {
      if (!isOver(end)) break;
      this.#forget(old, end);
    }
    // Delete an expired mark of this id, so that the new one goes to the end.
    if (marked) this.#forget(id, marked);
    if (!this.#shares.fitsPastHalf(caller, 1)) {
      const { total } = this.#shares;
      throw new Error(`The store is full: ${total} ids were claimed and have not expired yet`);
    }
    this.#shares.count(caller, 1);
    this.#ends.set(id, { caller, time: Date.now() + ttlMs, elapsed: performance.now() + ttlMs });
    return true;
  }

  #forget(id: string, { caller }: End): void {
    if (this.#ends.delete(id)) this.#shares.count(caller, -1);
  }
}
