// The contract of a store, as checks that each stand alone.
import type { SessionStore } from "../session/store.ts";

/** One thing that a store has to do. */
export interface StoreCheck<Store = SessionStore> {
  readonly title: string;
  /** Rejects when the store that `make` gives does not do it. */
  run(make: () => Store | Promise<Store>): Promise<void>;
}

/** The checks of a contract, by what each of them says. */
export function contractOf<Store>(
  checks: Readonly<Record<string, (store: Store) => Promise<void>>>,
): readonly StoreCheck<Store>[] {
  return Object.entries(checks).map(([title, check]) => ({
    title,
    run: async (make) => check(await make()),
  }));
}
