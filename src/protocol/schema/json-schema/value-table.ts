// Gives each JSON value a key; equal values have the same key, whatever the order of their members.
import { NotJson, type Payer } from "./budget.ts";

/** The first characters of other keys: a string that begins with one of them gets a prefix. */
const reserved = /^["#@\d]/;

/**
 * Keys are strings that are never only digits. The engine hashes strings with a secret and numbers without, so a sender
 * could choose numbers that all fall into one bucket.
 */
export class ValueTable {
  /** Numbers arrays and objects by their contents; the number represents them inside others. */
  readonly #numbers = new Map<string, number>();

  /** The key of `value`, added if it is new. */
  add(value: unknown, payer: Payer): string {
    return this.#key(value, payer, true) as string;
  }

  /** The key of `value`, or undefined if no equal value was added. */
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

  /** The text of a value inside another; undefined if `adds` is false and no equal value was added. */
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
