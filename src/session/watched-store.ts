// The author's store, which may fail, throw or never answer: whoever asks it is told within a time, and the log once.
import type { SessionRecord, SessionStore } from "./store.ts";

/** The store cannot say or keep anything at the moment. */
export class StoreUnavailable extends Error {}

/** What a store may take for one thing, in milliseconds. */
const storeMs = 5000;

/** Told that the store has begun to fail, and that it is back. */
export interface StoreWatch {
  error(message: string, details?: object): void;
  warn(message: string): void;
}

export class WatchedStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #log: StoreWatch;
  #fails = false;

  constructor(store: SessionStore, log: StoreWatch) {
    this.#store = store;
    this.#log = log;
  }

  save(record: SessionRecord, idleMs: number): Promise<void> {
    return this.#ask(() => this.#store.save(record, idleMs));
  }

  load(id: string): Promise<SessionRecord | undefined> {
    return this.#ask(() => this.#store.load(id));
  }

  touch(ids: readonly string[], idleMs: number): Promise<void> {
    return this.#ask(() => this.#store.touch(ids, idleMs));
  }

  remove(id: string): Promise<void> {
    return this.#ask(() => this.#store.remove(id));
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No answer within ${storeMs} ms`)), storeMs);
    });
    try {
      const answer = await Promise.race([question(), tooLate]);
      if (this.#fails) this.#log.warn("The session store is back");
      this.#fails = false;
      return answer;
    } catch (error) {
      // Once, however many requests need it meanwhile.
      if (!this.#fails)
        this.#log.error("The session store fails: sessions are served from what is known here", { error });
      this.#fails = true;
      throw new StoreUnavailable("The session store cannot be reached", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}
