// Answers about tokens, kept for a while under a digest: the token itself is kept nowhere.
import { Holdings } from "../limits/holdings.ts";
import { toBase64Url } from "../wire/base64.ts";

interface Kept<Answer> {
  /** Who it is counted for. */
  readonly caller: string;
  readonly answer: Promise<Answer>;
  until: number;
}

/** At most so many answers; of the caller who asked about most tokens, the one that was asked for longest ago goes first. */
export class TokenCache<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>();
  readonly #held: Holdings<string>;

  constructor(maxEntries: number) {
    this.#held = new Holdings(maxEntries);
  }

  /** The kept answer, or a new one. Those who ask while it is on its way wait for the same; a failure is not kept. */
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
