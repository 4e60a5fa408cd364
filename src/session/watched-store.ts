// Wraps the author's store: limits how long each call takes, and logs once when the store starts to fail.
import type { SessionRecord, SessionStore } from "./store.ts";

/** Thrown when the store fails. */
export class StoreUnavailable extends Error {}

/** Milliseconds that one call of the store may take. */
const storeMs = 5000;

/** The log for a store that starts to fail, and that recovers. */
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
      if (this.#fails) this.#log.warn("The session store works again");
      this.#fails = false;
      return answer;
    } catch (error) {
      // Logged once, however many requests fail.
      if (!this.#fails)
        this.#log.error("The session store fails: only sessions that this process holds are served", {
          error,
        });
      this.#fails = true;
      throw new StoreUnavailable("The session store fails", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}
