// What messages weigh from the moment their bytes arrive until they have been answered, counted by caller and in all.
import { Shares } from "./shares.ts";

/** One budget for all messages of a server, whichever transports bring them. */
export class Loads {
  /** Of messages that want an answer. */
  readonly calls: Shares;
  /** As much again for messages that want none: a running call may be waiting for what they say. */
  readonly words: Shares;

  constructor(maxBytes: number) {
    this.calls = new Shares(maxBytes);
    this.words = new Shares(maxBytes);
  }

  /** What all messages weigh at this moment. */
  get total(): number {
    return this.calls.total + this.words.total;
  }

  /** A message of this caller has begun to arrive. */
  begin(caller: string): Load {
    return new Load(this, caller);
  }
}

/** One message, and what it weighs for its caller. */
export class Load {
  readonly #loads: Loads;
  readonly #caller: string;
  #shares: Shares;
  #weight = 0;
  /** What of it is counted: nothing of a message that is answered at once, while there is room for everybody. */
  #counted = 0;
  #holders = 1;

  constructor(loads: Loads, caller: string) {
    this.#loads = loads;
    this.#caller = caller;
    this.#shares = loads.calls;
  }

  /** Whether the refused caller holds nothing itself: others use everything. */
  get isCrowdedOut(): boolean {
    return this.#loads.calls.of(this.#caller) === 0;
  }

  /** Weighs so much from now on, while it is not known whether it wants an answer. False when there is no room. */
  grow(weight: number): boolean {
    if (!this.takes(weight) && !this.speaks(weight)) return false;
    this.stay();
    return true;
  }

  /** The same for a message that wants an answer, and may get it at once: else it has to {@link stay}. */
  takes(weight: number): boolean {
    return this.#shares === this.#loads.calls && this.#weigh(weight);
  }

  /** The same for a message that wants none. */
  speaks(weight: number): boolean {
    if (this.#shares === this.#loads.calls) {
      this.empty();
      this.#shares = this.#loads.words;
    }
    return this.#weigh(weight);
  }

  /** It is not over at once: what it weighs is counted until it is. */
  stay(): void {
    if (this.#counted === this.#weight) return;
    this.#shares.count(this.#caller, this.#weight - this.#counted);
    this.#counted = this.#weight;
  }

  /** Nothing of the message is kept any more. */
  empty(): void {
    this.#weight = 0;
    this.stay();
  }

  /** Counts it for longer than its answer takes, until what is returned is called. */
  hold(): () => void {
    this.stay();
    this.#holders++;
    let isHeld = true;
    return () => {
      if (isHeld) this.release();
      isHeld = false;
    };
  }

  /** Whoever began it has done with it. */
  release(): void {
    if (--this.#holders === 0) this.empty();
  }

  /** A message that is alone is always taken, however small the budget: its own limits bound it. */
  #weigh(weight: number): boolean {
    const { max, total } = this.#shares;
    const more = weight - this.#counted;
    // While half of everything is free, whoever it is may have it.
    const isFree = more <= 0 || total === this.#counted || 2 * (total + more) <= max;
    if (!isFree && !this.#shares.take(this.#caller, more)) return false;
    if (!isFree) this.#counted = weight;
    this.#weight = weight;
    return true;
  }
}
