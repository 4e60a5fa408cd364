// Where tokens and registrations are kept between requests, and between processes: the interface, and the store in memory.
import { untilAborted } from "../../../base/async/promises.ts";

/**
 * Keeps texts under keys. Tokens are secret: a store keeps them where only their owner can read them.
 *
 * Several processes may share a store. `replace` compares and swaps, so that none overwrites what another has just written;
 * `exclusive` lets one of them refresh while the others wait.
 */
export interface TokenStore {
  /** Resolves with what is kept under `key`. */
  get(key: string): Promise<string | undefined>;
  /** Keeps `next` (or nothing, if it is undefined) if `expected` is what is kept now. Resolves with whether it did. */
  replace(key: string, expected: string | undefined, next: string | undefined): Promise<boolean>;
  /** Runs `work` while nothing else runs for `key`, in any process that shares the store. */
  exclusive<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * Keeps tokens in memory: they are gone when the process ends. Pass one store to several {@link oauth} to share the tokens.
 *
 * @example
 * ```ts
 * import { memoryStore, oauth } from "halyard/client/oauth";
 *
 * const store = memoryStore();
 * const [reading, writing] = [oauth({ store }), oauth({ store, scopes: ["write"] })];
 * ```
 */
export function memoryStore(): TokenStore {
  const texts = new Map<string, string>();
  return {
    get: async (key) => texts.get(key),
    replace: async (key, expected, next) => {
      if (texts.get(key) !== expected) return false;
      if (next === undefined) texts.delete(key);
      else texts.set(key, next);
      return true;
    },
    exclusive: inTurn(),
  };
}

/** Returns a function that runs work for the same key one after another, in this process. */
export function inTurn(): TokenStore["exclusive"] {
  /** The end of the last work for each key that has some. */
  const ends = new Map<string, Promise<void>>();
  return async (key, work, signal) => {
    const before = ends.get(key) ?? Promise.resolve();
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => (leave = resolve));
    // A waiter may leave early. Later waiters keep their place.
    const end = before.then(() => left);
    ends.set(key, end);
    void end.then(() => ends.get(key) === end && ends.delete(key));
    try {
      await untilAborted(before, signal);
      return await work();
    } finally {
      leave();
    }
  };
}
