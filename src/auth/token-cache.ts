// Caches results of token verification by the digest of the token, which is not stored itself.
import { Holdings } from "../base/limits/holdings.ts";
import { toBase64Url } from "../base/wire/base64.ts";

interface Kept<Answer> {
  /** The key that limits count it for. */
  readonly caller: string;
  readonly answer: Promise<Answer>;
  until: number;
}

/** Holds at most `maxEntries` results. When it is full, the caller with the most loses the least recently used. */
export class TokenCache<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>();
  readonly #held: Holdings<string>;

  constructor(maxEntries: number) {
    this.#held = new Holdings(maxEntries);
  }

  /** Returns the cached result, or asks. Calls for the same token share one request; a failure is not cached. */
  async get(
    token: string,
    caller: string,
    ask: () => Promise<Answer>,
    keepUntil: (answer: Answer) => number,
  ): Promise<Answer> {
    const key = await digest(token);
    const found = this.#kept.get(key);
    if (found !== undefined && performance.now() < found.until) {
      this.#held.add(found.caller, key, 0);
      return found.answer;
    }
    this.#forget(key);
    const entry: Kept<Answer> = { caller, answer: ask(), until: Number.POSITIVE_INFINITY };
    this.#kept.set(key, entry);
    this.#held.add(caller, key);
    const { shares } = this.#held;
    if (shares.total > shares.max) this.#forget(this.#held.oldestOfGreediest() ?? "");
    this.#keep(key, entry, keepUntil);
    return entry.answer;
  }

  #keep(key: string, entry: Kept<Answer>, keepUntil: (answer: Answer) => number): void {
    entry.answer.then(
      (answer) => (entry.until = keepUntil(answer)),
      () => {
        if (this.#kept.get(key) === entry) this.#forget(key);
      },
    );
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#held.delete(kept.caller, key);
  }
}

async function digest(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))));
}
