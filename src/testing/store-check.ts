// One check of a store's contract.
import type { SessionStore } from "../session/store.ts";

/** One thing that a store has to do. */
export interface StoreCheck<Store = SessionStore> {
  readonly title: string;
  /** Rejects when the store that `make` gives does not do it. */
  run(make: () => Store | Promise<Store>): Promise<void>;
}
