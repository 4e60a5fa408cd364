// Messages that wait for one listener: in order, the latest of those that say the same, within a limit.
import type { QueueBudget, Waiting } from "./queue-budget.ts";

/** A message that waits, and what its reader needs to be sent it. */
export interface Letter {
  readonly text: string;
  readonly scopes: readonly string[] | undefined;
}

export class Mailbox {
  readonly #owner: Waiting;
  readonly #budget: QueueBudget;
  /** By merge key, or a key of their own. */
  readonly #letters = new Map<string | symbol, Letter>();
  #bytes = 0;

  constructor(owner: Waiting, budget: QueueBudget) {
    this.#owner = owner;
    this.#budget = budget;
  }

  get isEmpty(): boolean {
    return this.#letters.size === 0;
  }

  /** What waits, in characters of encoded JSON: bytes, for all but the rarest notification. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a message. It replaces a waiting one with the same key, in its place: the reader gets the latest, once. */
  put(key: string | symbol, letter: Letter): void {
    this.#count(this.#bytes + letter.text.length - (this.#letters.get(key)?.text.length ?? 0));
    this.#letters.set(key, letter);
  }

  /** What waits, in order. */
  [Symbol.iterator](): Iterator<[string | symbol, Letter]> {
    return this.#letters.entries();
  }

  /** It is being sent: to be called before that, so that nothing can be sent twice. */
  remove(key: string | symbol, { text }: Letter): void {
    if (this.#letters.delete(key)) this.#count(this.#bytes - text.length);
  }

  /** Removes and returns everything that waits. */
  takeAll(): [string | symbol, Letter][] {
    const all = [...this.#letters];
    this.#letters.clear();
    this.#count(0);
    return all;
  }

  #count(bytes: number): void {
    const before = this.#bytes;
    this.#bytes = bytes;
    this.#budget.count(this.#owner, bytes, before);
  }
}
