// What waits for all slow readers and absent clients together: many of them must not cost more than a few.

/** Something that messages wait for. */
export interface Waiting {
  /** Too much waits: forgets it, as if its own limit had been passed. */
  overflow(reason: string): void;
}

export class QueueBudget {
  readonly #maxBytes: number;
  /** How much waits for each; those that have been waited for longest come first. */
  readonly #waiting = new Map<Waiting, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** So much waits now. */
  count(waiting: Waiting, bytes: number): void {
    this.#bytes += bytes - (this.#waiting.get(waiting) ?? 0);
    if (bytes === 0) this.#waiting.delete(waiting);
    else this.#waiting.set(waiting, bytes);
  }

  /** Forgets what has waited longest until the rest is within the limit. */
  enforce(): void {
    for (const waiting of this.#waiting.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      waiting.overflow(`More than ${this.#maxBytes} bytes waited for slow readers in all`);
    }
  }
}
