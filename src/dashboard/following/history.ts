// Keeps the last messages and events of all clients, so that a client that is followed later has a past.
import type { Heard } from "./heard.ts";
import { followingLimits } from "./limits.ts";

interface Kept {
  readonly peer: string;
  readonly heard: Heard;
}

export class History {
  readonly #max: number;
  /** A ring: the oldest one is at `#next` once it is full. */
  readonly #kept: Kept[] = [];
  #next = 0;
  #characters = 0;
  readonly since: number = Date.now();

  constructor(max: number) {
    this.#max = max;
  }

  add(peer: string, heard: Heard): void {
    const replaced = this.#kept[this.#next];
    this.#kept[this.#next] = { peer, heard };
    this.#next = (this.#next + 1) % this.#max;
    this.#characters += sizeOf(heard) - (replaced ? sizeOf(replaced.heard) : 0);
    if (this.#characters > followingLimits.maxHistoryCharacters) this.#forgetOldest();
  }

  /** The messages and events of the client, oldest first. */
  of(peer: string): Heard[] {
    return this.#inOrder()
      .filter((kept) => kept.peer === peer)
      .map(({ heard }) => heard);
  }

  #inOrder(): Kept[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)];
  }

  /** Drops the older half: seldom, so that each message costs little. */
  #forgetOldest(): void {
    const order = this.#inOrder();
    const rest = order.slice(Math.ceil(order.length / 2));
    this.#kept.splice(0, this.#kept.length, ...rest);
    this.#next = rest.length % this.#max;
    this.#characters = rest.reduce((sum, { heard }) => sum + sizeOf(heard), 0);
  }
}

function sizeOf(heard: Heard): number {
  return heard.type === "message" ? heard.text.length : 0;
}
