// The secrets of one client: its tokens, headers, session ids and the like. The redactor is loaded when a text is shown.
import { type Later, later } from "../../base/async/later.ts";
import type { KnownValue, Redactor, RedactorOf } from "./redactor.ts";

/**
 * The newest values of one source that are remembered: tokens and sessions change, and a server chooses the length of its session
 * ids. The limits are per source, so that a header that differs in each call does not displace other secrets.
 */
const maxKnown = 64;
const maxCharacters = 16_384;
/** Each request has a new proof. */
const maxProofs = 4;

/** The redactor, loaded on first use, because most clients never show texts of the server. */
export const redaction: Later<RedactorOf> = later(
  () => import("./redactor.ts"),
  (module) => module.redactorOf,
);

/** The values of one source. */
class Source {
  /** The newest value is last. */
  readonly known = new Map<string, KnownValue>();
  readonly #most: number;
  #characters = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether the value is new. */
  add(name: string, value: string): boolean {
    const key = `${name} ${value}`;
    const isNew = !this.known.delete(key);
    if (isNew) this.#characters += value.length;
    this.known.set(key, { name, value });
    for (const [oldest, { value: old }] of this.known) {
      if (this.known.size <= this.#most && this.#characters <= maxCharacters) break;
      this.known.delete(oldest);
      this.#characters -= old.length;
    }
    return isNew;
  }
}

export class Secrets {
  readonly #sources = new Map<string, Source>();
  #redactor: Redactor | undefined;

  /**
   * Adds a value. Its name, such as that of a header, decides whether it is a secret or perhaps an ordinary text. `source`: a
   * name for its origin, unless the server chooses the name.
   */
  add(name: string, given: string | undefined, source: string = name): void {
    if (!given) return;
    let known = this.#sources.get(source);
    if (!known) this.#sources.set(source, (known = new Source(name === "dpop" ? maxProofs : maxKnown)));
    if (known.add(name, given.slice(0, maxCharacters))) this.#redactor = undefined;
  }

  addAll(values: Iterable<readonly [name: string, value: string]>, source?: string): void {
    for (const [name, value] of values) this.add(name, value, source);
  }

  /** The redactor for the secrets that are known now. */
  redactor(redactorOf: RedactorOf): Redactor {
    return (this.#redactor ??= redactorOf(this.#all()));
  }

  /** Resolves with the value without its secrets. */
  async clean<T>(value: T): Promise<T> {
    return this.#sources.size === 0 ? value : this.redactor(await redaction.get()).value(value);
  }

  *#all(): Iterable<KnownValue> {
    for (const { known } of this.#sources.values()) yield* known.values();
  }
}
