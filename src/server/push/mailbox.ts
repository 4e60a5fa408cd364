// The messages queued for one listener, in order; a later message with the same key replaces the earlier.
import type { QueueBudget, QueuedListener } from "./queue-budget.ts";

/** A message for one listener. */
export interface Letter {
  readonly text: string;
  /** The scopes that its reader must have. */
  readonly scopes: readonly string[] | undefined;
  /** The position of its frame. A client that has received it has received everything up to this position. */
  readonly position?: string | undefined;
}

/**
 * The letter in the place of an earlier one. It keeps the earlier position, because letters between the two have not been sent
 * yet.
 */
export function merged(letter: Letter, earlier: Letter | undefined): Letter {
  if (earlier === undefined || earlier.position === letter.position) return letter;
  return { ...letter, position: earlier.position };
}

export class Mailbox {
  readonly #owner: QueuedListener;
  readonly #budget: QueueBudget;
  /** By merge key, or a unique symbol. */
  readonly #letters = new Map<string | symbol, Letter>();
  #bytes = 0;

  constructor(owner: QueuedListener, budget: QueueBudget) {
    this.#owner = owner;
    this.#budget = budget;
  }

  get isEmpty(): boolean {
    return this.#letters.size === 0;
  }

  /** The length of the queued JSON; the same as its bytes if it is ASCII. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Queues a message, in the place of one with the same key if there is one. */
  put(key: string | symbol, letter: Letter): void {
    const earlier = this.#letters.get(key);
    this.#count(this.#bytes + letter.text.length - (earlier?.text.length ?? 0));
    if (earlier) this.#budget.merged(key);
    this.#letters.set(key, merged(letter, earlier));
  }

  [Symbol.iterator](): Iterator<[string | symbol, Letter]> {
    return this.#letters.entries();
  }

  /** Removes a message. Call it before sending the message, so that nothing is sent twice. */
  remove(key: string | symbol, { text }: Letter): void {
    if (this.#letters.delete(key)) this.#count(this.#bytes - text.length);
  }

  /** Removes and returns all messages. */
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
