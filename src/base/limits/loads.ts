// The memory that messages take from their first byte until their response, counted per caller and in total.
import { Shares } from "./shares.ts";

/** One memory budget for all messages of a server, on all transports. */
export class Loads {
  /** Messages that expect a response. */
  readonly calls: Shares;
  /** Messages that expect none. They have a budget of their own, because a running call may wait for one of them. */
  readonly words: Shares;

  constructor(maxBytes: number) {
    this.calls = new Shares(maxBytes);
    this.words = new Shares(maxBytes);
  }

  /** The weight of all current messages. */
  get total(): number {
    return this.calls.total + this.words.total;
  }

  /** Call it when a message begins to arrive. */
  begin(caller: string): Load {
    return new Load(this, caller);
  }
}

/** One message and its weight, counted for its caller. */
export class Load {
  readonly #loads: Loads;
  readonly #caller: string;
  #shares: Shares;
  #weight = 0;
  /** The counted part of the weight: 0 for a message that gets its response at once while half of the budget is free. */
  #counted = 0;
  #holders = 1;

  constructor(loads: Loads, caller: string) {
    this.#loads = loads;
    this.#caller = caller;
    this.#shares = loads.calls;
  }

  /** Whether other callers use the whole budget: the rejected caller itself holds nothing. */
  get isCrowdedOut(): boolean {
    return this.#loads.calls.of(this.#caller) === 0;
  }

  /** Sets the weight while it is unknown whether the message expects a response. Returns false if there is no room. */
  grow(weight: number): boolean {
    if (!this.takes(weight) && !this.speaks(weight)) return false;
    this.stay();
    return true;
  }

  /** Sets the weight of a message that expects a response. If that takes time, call {@link stay}. */
  takes(weight: number): boolean {
    return this.#shares === this.#loads.calls && this.#weigh(weight);
  }

  /** Sets the weight of a message that expects no response. */
  speaks(weight: number): boolean {
    if (this.#shares === this.#loads.calls) {
      this.empty();
      this.#shares = this.#loads.words;
    }
    return this.#weigh(weight);
  }

  /** Adds what the response takes to the weight, until the message ends. Returns false if there is no room. */
  adds(weight: number): boolean {
    if (!this.#weigh(this.#weight + weight)) return false;
    this.stay();
    return true;
  }

  /** Counts the whole weight until the message ends. */
  stay(): void {
    if (this.#counted === this.#weight) return;
    this.#shares.count(this.#caller, this.#weight - this.#counted);
    this.#counted = this.#weight;
  }

  /** Gives the weight back, once nothing of the message is kept. */
  empty(): void {
    this.#weight = 0;
    this.stay();
  }

  /** Keeps the message counted after its response, until the returned function is called. */
  hold(): () => void {
    this.stay();
    this.#holders++;
    let isHeld = true;
    return () => {
      if (isHeld) this.release();
      isHeld = false;
    };
  }

  /** Ends the message, unless something still holds it. */
  release(): void {
    if (--this.#holders === 0) this.empty();
  }

  /** Accepts a message that is alone, even if the budget is small: the limits of one message bound it. */
  #weigh(weight: number): boolean {
    const { max, total } = this.#shares;
    const more = weight - this.#counted;
    // While half of the budget is free, any caller may take it.
    const isFree = more <= 0 || total === this.#counted || 2 * (total + more) <= max;
    if (!isFree && !this.#shares.take(this.#caller, more)) return false;
    if (!isFree) this.#counted = weight;
    this.#weight = weight;
    return true;
  }
}
