// Marks the states that were used, for request state that may be used only once.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { Shares } from "../../base/limits/shares.ts";

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
 * The engine has the marks of all nodes; this node remembers its own, to bound them. When there are too many, it rejects new claims,
 * because dropping a mark would let a state be used again.
 */
export class Marks {
  readonly #cluster: Cluster;
  readonly #ends = new Map<string, End>();
  readonly #shares: Shares;

  constructor(maxMarks: number, cluster: Cluster) {
    this.#shares = new Shares(maxMarks);
    this.#cluster = cluster;
  }

  /**
   * Marks the id as used for at least `ttlMs`. Resolves with false if it was marked before; of several concurrent calls, on any node,
   * only one gets true. Rejects if the engine fails, so that the client can retry with the same state.
   */
  async claim(id: string, ttlMs: number, caller: string): Promise<boolean> {
    if (!this.#mark(id, ttlMs, caller)) return false;
    try {
      const key = { kind: "mark", tag: `used ${id}` } as const;
      return (await this.#cluster.engine.create(key, "1", ttlMs)) !== undefined;
    } catch (error) {
      this.#forget(id);
      throw error;
    }
  }

  #mark(id: string, ttlMs: number, caller: string): boolean {
    const marked = this.#ends.get(id);
    if (marked && !isOver(marked)) return false;
    // Most marks have the same lifetime, so expired ones come first; one behind a longer-lived mark waits.
    for (const [old, end] of this.#ends) {
      if (!isOver(end)) break;
      this.#forget(old);
    }
    // Delete an expired mark of this id, so that the new one goes to the end.
    this.#forget(id);
    if (!this.#shares.fitsPastHalf(caller, 1)) {
      const { total } = this.#shares;
      const problem = `${total} states are marked as used and have not expired`;
      throw new Error(`${problem}: raise maxMarks of secureRequestState`);
    }
    this.#shares.count(caller, 1);
    this.#ends.set(id, { caller, time: Date.now() + ttlMs, elapsed: performance.now() + ttlMs });
    return true;
  }

  #forget(id: string): void {
    const end = this.#ends.get(id);
    if (end && this.#ends.delete(id)) this.#shares.count(end.caller, -1);
  }
}
