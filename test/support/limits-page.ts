// The limits of docs/reference/limits.md, which a program writes from the source.
import { readTable } from "./documents.ts";

export const limitsPage = "docs/reference/limits.md";

/** A row of the page. */
export interface ListedLimit {
  readonly name: string;
  /** Not a number if the limit has none by default. */
  readonly value: number;
  readonly past: string;
}

export function limitsUnder(heading: string): ListedLimit[] {
  return readTable(limitsPage, heading).map((row) => ({
    name: row["limit"] ?? "",
    value: Number((row["default"] ?? "").replace(/ \(.*\)$/, "")),
    past: row["past it"] ?? "",
  }));
}

/** The options of a table that begin with `prefix`, as an object of their defaults. */
export function defaultsUnder(heading: string, prefix: string): Record<string, number> {
  const options = limitsUnder(heading).filter(({ name }) => name.startsWith(prefix));
  return Object.fromEntries(options.map(({ name, value }) => [name.slice(prefix.length), value]));
}

export function limitOf(heading: string, name: string): number {
  const limit = limitsUnder(heading).find((listed) => listed.name === name)?.value ?? Number.NaN;
  if (!(limit > 0)) throw new Error(`${limitsPage} has no limit "${name}" under "${heading}"`);
  return limit;
}
