// What `ctx.once` has done, so that no later round of the call does it again.
import { InputPending } from "../../errors.ts";

export class Onces {
  /** The results, each in a list of its own, which is empty for undefined: JSON has none. */
  readonly results: Record<string, readonly unknown[]>;
  readonly #running = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(results: Readonly<Record<string, readonly unknown[]>> = {}) {
    this.results = Object.assign(Object.create(null) as object, results);
  }

  run(key: string, work: () => unknown): Promise<unknown> {
    const known = this.results[key];
    if (known !== undefined) return Promise.resolve(known[0]);
    // Nothing is kept any more: what began now would be done again in the next round.
    if (this.#closed) return Promise.reject(new InputPending());
    const running = this.#running.get(key) ?? this.#run(key, work);
    this.#running.set(key, running);
    return running;
  }

  /** When nothing is under way, nothing more is begun, and `then` is what comes next. */
  close<T>(then: T): T | Promise<T> {
    if (!this.isIdle) return this.idle().then(() => this.close(then));
    this.#closed = true;
    return then;
  }

  /** Resolves when what is under way is done: it must not be forgotten, or it would be done twice. */
  async idle(): Promise<void> {
    while (!this.isIdle) await Promise.allSettled(this.#running.values());
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** The result goes through JSON even the first time, so that it is the same in every round. An error is not kept. */
  async #run(key: string, work: () => unknown): Promise<unknown> {
    try {
      // After this turn, so that the entry among the running ones is there to be removed.
      await undefined;
      const value = await work();
      const result = JSON.parse(JSON.stringify(value === undefined ? [] : [value])) as unknown[];
      this.results[key] = result;
      return result[0];
    } finally {
      this.#running.delete(key);
    }
  }
}
