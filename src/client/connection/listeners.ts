// A set of listener functions. An exception in one does not keep the others from being called.

import { isThenable } from "../../base/async/promises.ts";

/** Receives what a listener throws. */
type Failed = (error: unknown) => void;

export class Listeners<Value = void> {
  readonly #all = new Set<(value: Value) => unknown>();

  get size(): number {
    return this.#all.size;
  }

  /** Adds a function, even if it is already there, and returns the function that removes it. */
  add(listener: (value: Value) => unknown): () => void {
    const entry = (value: Value): unknown => listener(value);
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  /** Calls all functions, without waiting for the promises that they return. */
  tell(value: Value, failed: Failed): void {
    for (const listener of this.#all) {
      try {
        const returned = listener(value);
        if (isThenable(returned)) returned.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  /** Calls all functions, and resolves when their promises have settled. */
  async run(value: Value, failed: Failed): Promise<void> {
    const running = [...this.#all].map(async (listener) => listener(value));
    for (const outcome of await Promise.allSettled(running))
      if (outcome.status === "rejected") failed(outcome.reason);
  }
}
