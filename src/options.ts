// Checks objects of options: an unknown name throws, and the message suggests the nearest known one.
import { ConfigurationError } from "./errors.ts";

/**
 * The names of the options `T`; the compiler keeps the table complete. The value is `true`, or the table of the options
 * inside that option.
 */
export type Known<T> = { readonly [Name in keyof Required<T>]: unknown };

/** Where options are passed, and which error a wrong one throws. */
export interface OptionsPlace {
  readonly subject: string;
  /** @default {"INVALID_OPTION"} */
  readonly code?: "INVALID_OPTION" | "INVALID_DEFINITION";
  /** Describes an unknown top-level name; undefined suggests the nearest name instead. */
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

/** The options without undefined ones, which keep their defaults. */
export function givenOf<T extends object>(options: T | undefined): Partial<T> {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<T>;
}

/** Suggests the known name that is spelled most like `name`, or lists all if none is close. */
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

/** The Levenshtein distance: how many characters to add, remove or replace to turn one text into the other. */
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
