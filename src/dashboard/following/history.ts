// Keeps the last messages and events of all clients, so that a client that is followed later has a past.
import type { JsonObject } from "../../base/wire/message.ts";
import type { Followed } from "../../window/index.ts";
import { followingLimits } from "./limits.ts";

const unread: JsonObject = {};

export class History {
  readonly #max: number;
  /** A ring: the oldest one is at `#next` once it is full. Messages are kept as texts, which take less memory. */
  readonly #kept: Followed[] = [];
  #next = 0;
  #characters = 0;
  readonly since: number = Date.now();

  constructor(max: number) {
    this.#max = max;
  }

  add(item: Followed): void {
    // Its request says as much.
    if (item.type === "call" && item.state === "began" && !item.isEarlier) return;
    const replaced = this.#kept[this.#next];
    this.#kept[this.#next] = item.type === "message" ? { ...item, message: unread } : item;
    this.#next = (this.#next + 1) % this.#max;
    this.#characters += sizeOf(item) - (replaced ? sizeOf(replaced) : 0);
    if (this.#characters > followingLimits.maxHistoryCharacters) this.#forgetOldest();
  }

  /** The messages and events of the client, oldest first. */
  of(peer: string): Followed[] {
    return this.#inOrder()
      .filter((item) => item.peer === peer)
      .map(readAgain);
  }

  #inOrder(): Followed[] {
    return [...this.#kept.slice(this.#next), ...this.#kept.slice(0, this.#next)];
  }

  /** Drops the older half: seldom, so that each message costs little. */
  #forgetOldest(): void {
    const order = this.#inOrder();
    const rest = order.slice(Math.ceil(order.length / 2));
    this.#kept.splice(0, this.#kept.length, ...rest);
    this.#next = rest.length % this.#max;
    this.#characters = rest.reduce((sum, item) => sum + sizeOf(item), 0);
  }
}

function readAgain(item: Followed): Followed {
  return item.type === "message" ? { ...item, message: JSON.parse(item.text) as JsonObject } : item;
}

function sizeOf(item: Followed): number {
  return item.type === "message" ? item.text.length : 0;
}
