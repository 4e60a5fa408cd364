// The limit on the bytes queued for all listeners together.
import { Holdings } from "../../base/limits/holdings.ts";

/** A listener with queued messages. */
export interface QueuedListener {
  /** The key that limits count it for. */
  readonly caller: string;
  /** Drops its queue, as if it had exceeded its own limit. */
  overflow(reason: string): void;
}

export class QueueBudget {
  /** Longest waiting first. */
  readonly #held: Holdings<QueuedListener>;
  readonly #onMerge: (topic: string) => void;

  /** `onMerge` is called with the topic when a message replaces one that waited. */
  constructor(maxBytes: number, onMerge: (topic: string) => void) {
    this.#held = new Holdings(maxBytes);
    this.#onMerge = onMerge;
  }

  /** Reports that a message with this key has replaced one that waited. */
  merged(key: string | symbol): void {
    if (typeof key === "string") this.#onMerge(key);
  }

  /** Counts that a listener has `bytes` queued, instead of `before`. */
  count(waiting: QueuedListener, bytes: number, before: number): void {
    if (bytes === before) return;
    if (bytes === 0) this.#held.delete(waiting.caller, waiting, before);
    else if (before === 0) this.#held.add(waiting.caller, waiting, bytes);
    else this.#held.shares.count(waiting.caller, bytes - before);
  }

  /** Drops the longest waiting queue of the caller that has the most bytes, until the rest is within the limit. */
  enforce(): void {
    const { shares } = this.#held;
    for (let before = Number.POSITIVE_INFINITY; shares.total > shares.max && shares.total < before;) {
      before = shares.total;
      this.#held
        .oldestOfGreediest()
        ?.overflow(`More than ${shares.max} bytes are queued for all slow readers`);
    }
  }
}
