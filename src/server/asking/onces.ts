// What `ctx.once` has done, so that no later round of the call does it again.

export class Onces {
  /** The results, each in a list of its own: JSON has no undefined. */
  readonly results: Record<string, readonly [unknown]>;
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(results: Readonly<Record<string, readonly [unknown]>> = {}) {
    this.results = Object.assign(Object.create(null) as object, results);
  }

  run(key: string, work: () => unknown): Promise<unknown> {
    const known = this.results[key];
    if (known !== undefined) return Promise.resolve(known[0]);
    const running = this.#running.get(key) ?? this.#run(key, work);
    this.#running.set(key, running);
    return running;
  }

  /** Resolves when nothing is being done: what is under way must not be forgotten, or it would be done twice. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** The result goes through JSON even the first time, so that it is the same in every round. An error is not kept. */
  async #run(key: string, work: () => unknown): Promise<unknown> {
    try {
      // After this turn, so that the entry among the running ones is there to be removed.
      await undefined;
      const text = JSON.stringify([await work()]);
      const result = JSON.parse(text) as [unknown];
      this.results[key] = result;
      return result[0];
    } finally {
      this.#running.delete(key);
    }
  }
}
