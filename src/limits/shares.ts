// A limit that many callers share: how much each of them holds, whether one may take more, and who holds the most.

/** Of how many callers that hold about as much, the one with the most is looked for. */
const maxCompared = 16;

/**
 * Counts what callers hold of something limited. It holds nothing itself: whoever keeps the things counts them here, and
 * takes from {@link Shares.greediest} when there is too much.
 */
export class Shares {
  readonly max: number;
  readonly #held = new Map<string, number>();
  /** The callers that hold about as much, by the power of two below it: to find the greediest costs the same for any number. */
  readonly #ranks: Set<string>[] = [];
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
    const before = this.of(caller);
    const held = before + amount;
    this.#total += amount;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
    const [left, entered] = [rankOf(before), rankOf(held)];
    if (left === entered) return;
    this.#ranks[left]?.delete(caller);
    if (entered >= 0) (this.#ranks[entered] ??= new Set()).add(caller);
  }

  /**
   * Whether the caller may hold so much more: at most what then stays free for all others. So one caller gets half of
   * everything, two get a third each, and a newcomer finds room until the last is taken.
   */
  fits(caller: string, amount: number): boolean {
    const free = this.max - this.#total - amount;
    return free >= 0 && this.of(caller) + amount <= free + 1;
  }

  /** The same where each has a small limit of its own: only once half is taken does it matter who takes the rest. */
  fitsPastHalf(caller: string, amount: number): boolean {
    if (this.#total + amount > this.max) return false;
    return this.#total <= this.max / 2 || this.fits(caller, amount);
  }

  /** Counts `amount` for the caller if it may hold that much. */
  take(caller: string, amount: number): boolean {
    const fits = this.fits(caller, amount);
    if (fits) this.count(caller, amount);
    return fits;
  }

  /** The caller that holds the most; of many that hold about as much, one of them. Undefined while nobody holds anything. */
  greediest(): string | undefined {
    const most = this.#ranks.findLast((rank) => (rank?.size ?? 0) > 0);
    let greediest: string | undefined;
    let compared = 0;
    for (const caller of most ?? []) {
      if (greediest === undefined || this.of(caller) > this.of(greediest)) greediest = caller;
      if (++compared === maxCompared) break;
    }
    return greediest;
  }
}

/** The power of two below an amount; less than none for nothing. */
function rankOf(amount: number): number {
  return amount <= 0 ? -1 : Math.floor(Math.log2(Math.max(amount, 1)));
}
