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
    return this.takes(weight) || this.speaks(weight);
  }

  /** The same for a message that wants an answer. */
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

  /** Nothing of the message is kept any more. */
  empty(): void {
    this.#shares.count(this.#caller, -this.#weight);
    this.#weight = 0;
  }

  /** Counts it for longer than its answer takes, until what is returned is called. */
  hold(): () => void {
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
    const more = weight - this.#weight;
    if (more === 0) return true;
    const isAlone = this.#shares.total === this.#weight;
    if (more < 0 || isAlone) this.#shares.count(this.#caller, more);
    else if (!this.#shares.take(this.#caller, more)) return false;
    this.#weight = weight;
    return true;
  }
}
