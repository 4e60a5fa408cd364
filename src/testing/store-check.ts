// A store contract as a list of independent checks.

/** One check of a store contract. */
export interface StoreCheck<Store> {
  readonly title: string;
  /** Rejects if the store that `make` returns fails the check. */
  run(make: () => Store | Promise<Store>): Promise<void>;
}

/** The checks of a contract, from functions by title. */
export function contractOf<Store>(
  checks: Readonly<Record<string, (store: Store) => Promise<void>>>,
): readonly StoreCheck<Store>[] {
  return Object.entries(checks).map(([title, check]) => ({
    title,
    run: async (make) => {
      if (typeof make !== "function")
        throw new TypeError("run takes a function that makes what it checks: run(() => memoryBackplane())");
      await check(await make());
    },
  }));
}
