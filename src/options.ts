// One check for every object of options: a name that is not known throws, with the nearest one that is.
import { ConfigurationError } from "./errors.ts";

/**
 * The names of the options `T`, which the compiler keeps complete. Where a name leads to further options, their own table
 * stands in place of `true`.
 */
export type Known<T> = { readonly [Name in keyof Required<T>]: unknown };

/** Where options are given, and what a wrong one is answered with. */
export interface OptionsPlace {
  readonly subject: string;
  /** @default {"INVALID_OPTION"} */
  readonly code?: "INVALID_OPTION" | "INVALID_DEFINITION";
  /** What to say of an outer name that is not known; undefined leaves it to the nearest name. */
  readonly problem?: (name: string, value: unknown) => string | undefined;
}

/** Throws for the first name in `given` that is not in `known`, at any depth. */
export function checkOptions(place: OptionsPlace, given: unknown, known: object, path = ""): void {
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError(place.code ?? "INVALID_OPTION", { subject: place.subject, field }, problem);
  };
  if (typeof given !== "object" || given === null) return fail("options", "must be an object");
  for (const [name, value] of Object.entries(given)) {
    const field = path + name;
    if (!Object.hasOwn(known, name)) {
      const own = path === "" ? place.problem?.(name, value) : undefined;
      fail(field, own ?? `is not an option: ${nearest(name, known)}`);
    }
    const inner = (known as Readonly<Record<string, unknown>>)[name];
    if (typeof inner !== "object" || inner === null) continue;
    for (const item of [value].flat()) {
      if (typeof item === "object" && item !== null) checkOptions(place, item, inner, `${field}.`);
    }
  }
}

/** The options that are given: one that is undefined keeps its default. */
export function givenOf<T extends object>(options: T | undefined): Partial<T> {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<T>;
}

/** The known name that is written most like `name`; all of them when none is. */
export function nearest(name: string, known: object): string {
  const names = Object.keys(known);
  let best = "";
  let least = Math.max(2, name.length / 2);
  for (const candidate of names) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best === "" ? `choose from ${names.join(", ")}` : `did you mean ${best}?`;
}

/** How many characters have to be added, removed or replaced to make one text of the other (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = [...other].map((_, index) => index + 1);
  [...one].forEach((letter, index) => {
    let left = index + 1;
    let corner = index;
    row = row.map((above, column) => {
      left = Math.min(left + 1, above + 1, corner + Number(letter !== other[column]));
      corner = above;
      return left;
    });
  });
  return row.at(-1) ?? one.length;
}
