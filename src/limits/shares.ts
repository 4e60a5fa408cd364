// A limit that many callers share: how much each of them holds, whether one may take more, and who holds the most.

/**
 * Counts what callers hold of something limited. It holds nothing itself: whoever keeps the things counts them here, and
 * takes from {@link Shares.greediest} when there is too much.
 */
export class Shares {
  readonly max: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** What all callers hold together. */
  get total(): number {
    return this.#total;
  }

  /** What one caller holds. */
  of(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }

  /** Adds to what a caller holds; a negative amount gives it back. */
  count(caller: string, amount: number): void {
    const held = this.of(caller) + amount;
    this.#total += amount;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
  }

  /**
   * Counts `amount` for the caller if it may hold that much: at most what then stays free for all others. So one caller gets
   * half of everything, two get a third each, and a newcomer always finds room. False when it may not.
   */
  take(caller: string, amount: number): boolean {
    const free = this.max - this.#total - amount;
    if (this.of(caller) + amount > free) return false;
    this.count(caller, amount);
    return true;
  }

  /** The caller that holds the most; undefined while nobody holds anything. */
  greediest(): string | undefined {
    let greediest: string | undefined;
    let most = 0;
    for (const [caller, held] of this.#held) {
      if (held > most) {
        most = held;
        greediest = caller;
      }
    }
    return greediest;
  }
}
