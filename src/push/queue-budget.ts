// What waits for all slow readers and absent clients together: many of them must not cost more than a few.
import { Holdings } from "../limits/holdings.ts";

/** Something that messages wait for. */
export interface Waiting {
  /** Who it is counted for. */
  readonly caller: string;
  /** Too much waits: forgets it, as if its own limit had been passed. */
  overflow(reason: string): void;
}

export class QueueBudget {
  /** Those that have been waited for longest come first. */
  readonly #held: Holdings<Waiting>;

  constructor(maxBytes: number) {
    this.#held = new Holdings(maxBytes);
  }

  /** So much waits now, where so much waited before. */
  count(waiting: Waiting, bytes: number, before: number): void {
    if (bytes === before) return;
    if (bytes === 0) this.#held.delete(waiting.caller, waiting, before);
    else if (before === 0) this.#held.add(waiting.caller, waiting, bytes);
    else this.#held.shares.count(waiting.caller, bytes - before);
  }

  /** Forgets what has waited longest for the caller for whom most waits, until the rest is within the limit. */
  enforce(): void {
    const { shares } = this.#held;
    for (let before = Number.POSITIVE_INFINITY; shares.total > shares.max && shares.total < before;) {
      before = shares.total;
      this.#held
        .oldestOfGreediest()
        ?.overflow(`More than ${shares.max} bytes waited for slow readers in all`);
    }
  }
}
