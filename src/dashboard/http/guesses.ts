// Counts the wrong tokens of each address in the last minute.

const minuteMs = 60_000;
/** Shorter waits are rounding errors. */
const toleranceMs = 0.001;

export class Guesses {
  readonly #perMinute: number;
  readonly #maxAddresses: number;
  /** When the guesses of an address are all forgotten; those of addresses without room are counted together. */
  readonly #forgottenAt = new Map<string, number>();

  constructor(perMinute: number, maxAddresses: number) {
    this.#perMinute = perMinute;
    this.#maxAddresses = maxAddresses;
  }

  /** Counts a guess and returns 0, or returns the milliseconds until the address may guess again. */
  take(address: string, now: number): number {
    const key = this.#keyOf(address, now);
    const forgottenAt = Math.max(this.#forgottenAt.get(key) ?? 0, now) + this.#eachMs;
    const waitMs = forgottenAt - minuteMs - now;
    if (waitMs > toleranceMs) return waitMs;
    this.#forgottenAt.set(key, forgottenAt);
    return 0;
  }

  /** Forgets one guess of the address, which was none. */
  giveBack(address: string): void {
    const key = this.#forgottenAt.has(address) ? address : others;
    this.#forgottenAt.set(key, (this.#forgottenAt.get(key) ?? 0) - this.#eachMs);
  }

  get #eachMs(): number {
    return minuteMs / this.#perMinute;
  }

  #keyOf(address: string, now: number): string {
    if (this.#forgottenAt.has(address) || this.#forgottenAt.size < this.#maxAddresses) return address;
    for (const [known, forgottenAt] of this.#forgottenAt)
      if (forgottenAt <= now) this.#forgottenAt.delete(known);
    return this.#forgottenAt.size < this.#maxAddresses ? address : others;
  }
}

/** No address is this long. */
const others = "all addresses without room";
