// A limit that many callers share: how much each of them holds, whether one may take more, and who holds the most.

/** `greediest` compares at most this many callers that hold about the same, so that its cost has a bound. */
const maxCompared = 16;

/**
 * Counts how much of a limit each caller holds. The owner of the things counts them here, and takes from
 * {@link Shares.greediest} when the limit is reached.
 */
export class Shares {
  readonly max: number;
  readonly #held = new Map<string, number>();
  /** Callers by the power of two below what they hold: finding the greediest costs the same for any number of callers. */
  readonly #ranks: Set<string>[] = [];
  #total = 0;

  constructor(max: number) {
    this.max = max;
  }

  get total(): number {
    return this.#total;
  }

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
    const left = rankOf(before);
    const entered = rankOf(held);
    if (left === entered) return;
    this.#ranks[left]?.delete(caller);
    if (entered >= 0) (this.#ranks[entered] ??= new Set()).add(caller);
  }

  /**
   * Whether the caller may take `amount` more. It may hold at most as much as then stays free, so one caller gets half, two
   * get a third each, and a newcomer finds room until everything is taken.
   */
  fits(caller: string, amount: number): boolean {
    const free = this.max - this.#total - amount;
    return free >= 0 && this.of(caller) + amount <= free + 1;
  }

  /** The same for callers that also have a small limit of their own: the rule applies once half is taken. */
  fitsPastHalf(caller: string, amount: number): boolean {
    if (this.#total + amount > this.max) return false;
    return this.#total <= this.max / 2 || this.fits(caller, amount);
  }

  /** Counts `amount` for the caller if it {@link fits}. */
  take(caller: string, amount: number): boolean {
    const fits = this.fits(caller, amount);
    if (fits) this.count(caller, amount);
    return fits;
  }

  /** The caller that holds the most, or one of many that hold about as much. Undefined if no caller holds anything. */
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

/** The power of two below an amount; -1 for 0. */
function rankOf(amount: number): number {
  return amount <= 0 ? -1 : Math.floor(Math.log2(Math.max(amount, 1)));
}
