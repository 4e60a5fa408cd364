// The results of `ctx.once`, so that later rounds of the call do not repeat the work.
import { InputPending } from "../../base/errors.ts";

export class Onces {
  /** The results, each in an array: an empty one stands for undefined, which JSON does not have. */
  readonly results: Record<string, readonly unknown[]>;
  readonly #running = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(results: Readonly<Record<string, readonly unknown[]>> = {}) {
    this.results = Object.assign(Object.create(null) as object, results);
  }

  run(key: string, work: () => unknown): Promise<unknown> {
    const known = this.results[key];
    if (known) return Promise.resolve(known[0]);
    // The state is sealed: the next round would repeat work that starts now.
    if (this.#closed) return Promise.reject(new InputPending());
    const running = this.#running.get(key) ?? this.#run(key, work);
    this.#running.set(key, running);
    return running;
  }

  /** Waits until no work is running, allows no more, and returns `then`. */
  close<T>(then: T): T | Promise<T> {
    if (!this.isIdle) return this.idle().then(() => this.close(then));
    this.#closed = true;
    return then;
  }

  /** Resolves when all running work has ended. Its results must be in the state, or the next round repeats it. */
  async idle(): Promise<void> {
    while (!this.isIdle) await Promise.allSettled(this.#running.values());
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Passes the result through JSON even in the first round, so that every round sees the same value. Errors are not kept. */
  async #run(key: string, work: () => unknown): Promise<unknown> {
    try {
      // Start in a later microtask, so that #running already has the entry that is deleted below.
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
