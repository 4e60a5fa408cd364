// Lets work for the same key run one after another.
import { untilAborted } from "../../../async/promises.ts";

export class Turns {
  /** The end of the last work for each key that has some. */
  readonly #ends = new Map<string, Promise<void>>();

  /** Runs `work` when all earlier work for `key` has ended. Rejects with the reason of `signal` if it is aborted before. */
  async take<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#ends.get(key) ?? Promise.resolve();
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => (leave = resolve));
    // Who stops waiting leaves early: whoever comes next still waits for those before.
    const end = before.then(() => left);
    this.#ends.set(key, end);
    void end.then(() => this.#ends.get(key) === end && this.#ends.delete(key));
    try {
      await untilAborted(before, signal);
      return await work();
    } finally {
      leave();
    }
  }
}
