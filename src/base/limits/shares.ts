// A limit that many callers share: how much each of them holds, whether one may take more, and who holds the most.

/** `greediest` compares at most this many callers that hold about the same, so that its cost has a bound. */
const maxCompared = 16;

/** At least this many callers that hold nothing stay in the table: most come back soon, and adding them again costs more. */
const minIdle = 64;

interface Share {
  held: number;
  /** The caller's index in the ranks. It may be too high until `greediest` corrects it, never too low. */
  rank: number;
}

/**
 * Counts how much of a limit each caller holds. The owner of the things counts them here, and evicts from {@link
 * Shares.greediest} when the limit is reached.
 */
export class Shares {
  readonly max: number;
  readonly #shares = new Map<string, Share>();
  /** Callers by the power of two below what they hold: finding the greediest costs the same for any number of callers. */
  readonly #ranks: Set<string>[] = [];
  /** How many callers in the table hold nothing. */
  #idle = 0;
  #total = 0;

  constructor(max: number) {
    this.max = max;
  }

  get total(): number {
    return this.#total;
  }

  of(caller: string): number {
    return this.#shares.get(caller)?.held ?? 0;
  }

  /** Adds to what a caller holds; a negative amount gives it back. */
  count(caller: string, amount: number): void {
    if (amount === 0) return;
    const share = this.#shares.get(caller) ?? this.#add(caller);
    if (share.held === 0) this.#idle--;
    share.held += amount;
    this.#total += amount;
    if (share.held !== 0) {
      if (rankOf(share.held) > share.rank) this.#rank(caller, share);
    } else if (++this.#idle > Math.max(minIdle, this.#shares.size / 2)) this.#forgetIdle();
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
    for (let rank = this.#ranks.length - 1; rank >= 0; rank--) {
      const greediest = this.#greediestAt(rank);
      if (greediest !== undefined) return greediest;
    }
    return undefined;
  }

  #greediestAt(rank: number): string | undefined {
    let greediest: string | undefined;
    let compared = 0;
    for (const caller of this.#ranks[rank] ?? []) {
      const share = this.#shares.get(caller);
      if (share && rankOf(share.held) < rank) {
        this.#rank(caller, share);
        continue;
      }
      if (greediest === undefined || this.of(caller) > this.of(greediest)) greediest = caller;
      if (++compared === maxCompared) break;
    }
    return greediest;
  }

  #add(caller: string): Share {
    const share = { held: 0, rank: -1 };
    this.#shares.set(caller, share);
    this.#idle++;
    return share;
  }

  #rank(caller: string, share: Share): void {
    this.#ranks[share.rank]?.delete(caller);
    share.rank = rankOf(share.held);
    if (share.rank >= 0) (this.#ranks[share.rank] ??= new Set()).add(caller);
  }

  #forgetIdle(): void {
    for (const [caller, { held, rank }] of this.#shares) {
      if (held !== 0) continue;
      this.#shares.delete(caller);
      this.#ranks[rank]?.delete(caller);
    }
    this.#idle = 0;
  }
}

/** The power of two below an amount; -1 for 0. */
function rankOf(amount: number): number {
  return amount <= 0 ? -1 : Math.floor(Math.log2(Math.max(amount, 1)));
}
