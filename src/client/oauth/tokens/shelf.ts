// One value in a token store, as JSON. Text that cannot be read, or has another shape, counts as absent, and is replaced.
import type { TokenStore } from "../settings/store.ts";

export class Shelf<T> {
  readonly #store: TokenStore;
  readonly #key: string;
  readonly #holds: (value: unknown) => value is T;

  /** `holds` recognises what may be on this shelf. */
  constructor(store: TokenStore, key: string, holds: (value: unknown) => value is T) {
    this.#store = store;
    this.#key = key;
    this.#holds = holds;
  }

  async read(): Promise<T | undefined> {
    return this.#parse(await this.#store.get(this.#key));
  }

  /** Puts `next` here, or nothing, if `expected` is what is here now. Resolves with whether it did: if not, read again. */
  async swap(expected: T | undefined, next: T | undefined): Promise<boolean> {
    const text = await this.#store.get(this.#key);
    if (JSON.stringify(this.#parse(text)) !== JSON.stringify(expected)) return false;
    return this.#store.replace(this.#key, text, next === undefined ? undefined : JSON.stringify(next));
  }

  /** Runs `work` while nobody else runs something for this shelf, in any process. Work that takes the same shelf again waits for ever. */
  exclusive<R>(work: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    return this.#store.exclusive(this.#key, work, signal);
  }

  #parse(text: string | undefined): T | undefined {
    if (text === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      return this.#holds(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }
}
