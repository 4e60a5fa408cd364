// A token store in the memory of this process.
import type { TokenStore } from "../settings/store.ts";
import { Turns } from "./turns.ts";

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
  const turns = new Turns();
  return {
    get: async (key) => texts.get(key),
    replace: async (key, expected, next) => {
      if (texts.get(key) !== expected) return false;
      if (next === undefined) texts.delete(key);
      else texts.set(key, next);
      return true;
    },
    exclusive: (key, work, signal) => turns.take(key, work, signal),
  };
}
