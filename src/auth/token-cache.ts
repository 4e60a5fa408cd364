// Answers about tokens, kept for a while under a digest: the token itself is kept nowhere.
import { toBase64Url } from "../protocol/base64.ts";

interface Kept<Answer> {
  readonly answer: Promise<Answer>;
  until: number;
}

/** At most so many answers; the one that was asked for longest ago goes first. */
export class TokenCache<Answer> {
  readonly #maxEntries: number;
  readonly #kept = new Map<string, Kept<Answer>>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** The kept answer, or a new one. Those who ask while it is on its way wait for the same; a failure is not kept. */
  async get(
    token: string,
    ask: () => Promise<Answer>,
    keepUntil: (answer: Answer) => number,
  ): Promise<Answer> {
    const key = await digest(token);
    const found = this.#kept.get(key);
    this.#kept.delete(key);
    const entry = found && performance.now() < found.until ? found : this.#ask(key, ask, keepUntil);
    this.#kept.set(key, entry);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxEntries) break;
      this.#kept.delete(oldest);
    }
    return entry.answer;
  }

  #ask(key: string, ask: () => Promise<Answer>, keepUntil: (answer: Answer) => number): Kept<Answer> {
    const entry: Kept<Answer> = { answer: ask(), until: Number.POSITIVE_INFINITY };
    entry.answer.then(
      (answer) => (entry.until = keepUntil(answer)),
      () => {
        if (this.#kept.get(key) === entry) this.#kept.delete(key);
      },
    );
    return entry;
  }
}

async function digest(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))));
}
