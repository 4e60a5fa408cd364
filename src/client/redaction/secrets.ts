// What one client must not show: its tokens, headers, session ids and the like. What finds them in texts is loaded when a text is shown.
import { type Later, later } from "../../async/later.ts";
import type { Known, Redactor, RedactorOf } from "./redactor.ts";

/** What is remembered, the newest: tokens and sessions change, and a server chooses the length of its session ids. */
const maxKnown = 64;
const maxCharacters = 16_384;

/** What replaces secrets. Most clients show nothing of what a server says. */
export const redaction: Later<RedactorOf> = later(
  () => import("./redactor.ts"),
  (module) => module.redactorOf,
);

export class Secrets {
  /** The newest last. */
  readonly #known = new Map<string, Known>();
  #characters = 0;
  #redactor: Redactor | undefined;

  /** Adds a value. Its name, such as that of a header, says whether it is a secret, or perhaps an ordinary text. */
  add(name: string, given: string | undefined): void {
    if (!given) return;
    const value = given.slice(0, maxCharacters);
    const key = `${name} ${value}`;
    if (!this.#known.delete(key)) {
      this.#redactor = undefined;
      this.#characters += value.length;
    }
    this.#known.set(key, { name, value });
    for (const [oldest, { value: old }] of this.#known) {
      if (this.#known.size <= maxKnown && this.#characters <= maxCharacters) return;
      this.#known.delete(oldest);
      this.#characters -= old.length;
    }
  }

  addAll(values: Iterable<readonly [name: string, value: string]>): void {
    for (const [name, value] of values) this.add(name, value);
  }

  /** What replaces the secrets that are known now. `redactorOf`: that of `redaction`. */
  redactor(redactorOf: RedactorOf): Redactor {
    return (this.#redactor ??= redactorOf(this.#known.values()));
  }

  /** Resolves with the value, in which the secrets are replaced. */
  async clean<T>(value: T): Promise<T> {
    return this.#known.size === 0 ? value : this.redactor(await redaction.get()).value(value);
  }
}
