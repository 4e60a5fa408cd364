// Values by what they are: equal ones, whatever the order of their members, have the same key.
import { NotJson } from "./stops.ts";

/** Pays for what is read. */
export interface Payer {
  spend(steps: number): void;
}

/** What the key of a string cannot begin with, since others do. */
const reserved = /^["#@\d]/;

/**
 * Keys are texts, and never digits alone: the hash of a text is secret, and that of a number is not, so that a sender could
 * choose numbers that all fall into one bucket.
 */
export class ValueTable {
  /** Arrays and objects by what is in them, each with a number that stands for it where it is inside another. */
  readonly #numbers = new Map<string, number>();

  /** The key of `value`, which others can be compared with. */
  add(value: unknown, payer: Payer): string {
    return this.#key(value, payer, true) as string;
  }

  /** The key of `value`, if it is like one that was added. */
  find(value: unknown, payer: Payer): string | undefined {
    return this.#key(value, payer, false);
  }

  #key(value: unknown, payer: Payer, adds: boolean): string | undefined {
    if (typeof value === "string") {
      payer.spend(5 + (value.length >> 6));
      return reserved.test(value) ? `"${value}` : value;
    }
    if (typeof value !== "object" || value === null) {
      payer.spend(5);
      return atom(value);
    }
    payer.spend(12);
    const text = Array.isArray(value)
      ? this.#ofArray(value, payer, adds)
      : this.#ofObject(value, payer, adds);
    let number = text === undefined ? undefined : this.#numbers.get(text);
    if (number === undefined && (!adds || text === undefined)) return undefined;
    if (number === undefined) this.#numbers.set(text as string, (number = this.#numbers.size));
    return `@${number}`;
  }

  /** How a value is written inside another; undefined when it is not like one that was added. */
  #inside(value: unknown, payer: Payer, adds: boolean): string | undefined {
    if (typeof value === "object" && value !== null) return this.#key(value, payer, adds);
    payer.spend(typeof value === "string" ? 3 + (value.length >> 6) : 3);
    return typeof value === "string" ? `${value.length}"${value}` : atom(value);
  }

  #ofArray(items: readonly unknown[], payer: Payer, adds: boolean): string | undefined {
    let text = "[";
    for (const item of items) {
      const inside = this.#inside(item, payer, adds);
      if (inside === undefined) return undefined;
      text += `${inside},`;
    }
    return text;
  }

  #ofObject(value: object, payer: Payer, adds: boolean): string | undefined {
    const names = Object.keys(value);
    payer.spend(names.length * 6);
    let text = "{";
    for (const name of names.length > 1 ? names.toSorted() : names) {
      const inside = this.#inside((value as Record<string, unknown>)[name], payer, adds);
      if (inside === undefined) return undefined;
      text += `${name.length}"${name}${inside},`;
    }
    return text;
  }
}

function atom(value: unknown): string {
  if (typeof value !== "number" && typeof value !== "boolean" && value !== null) throw new NotJson();
  return value === 0 ? "#0" : `#${value}`;
}
