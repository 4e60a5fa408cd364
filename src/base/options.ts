// Checks objects of options: an unknown name throws, and the message suggests the nearest known one; so does a value of another kind.
import { ConfigurationError } from "./errors.ts";
import {
  isInstance,
  isPlain,
  type Kind,
  type Known,
  mismatch,
  options as optionsOf,
  problemOf,
  type Table,
} from "./kinds.ts";

/** Where options are passed, and the error for a wrong one. */
export interface OptionsPlace {
  readonly subject: string;
  /** @default {"INVALID_OPTION"} */
  readonly code?: "INVALID_OPTION" | "INVALID_DEFINITION";
  /** An example of the options. */
  readonly such?: string;
  /** Describes an unknown name, with the path to it; undefined suggests the nearest name instead. */
  readonly problem?: (field: string, value: unknown) => string | undefined;
}

/** The kind of all options together. A text in their place is not shown where it may be a token. */
function wholeOf({ such }: OptionsPlace, given: unknown, known: Table): Kind {
  const isSecret = typeof given === "string" && Object.values(known).some((kind) => kind?.isSecret);
  return { ...optionsOf(known, such), isSecret };
}

/** Throws for the first option in `given`, at any depth, that `known` does not have, is of another kind there, or is missing. */
export function checkOptions(place: OptionsPlace, given: unknown, known: Table, path = ""): void {
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError(place.code ?? "INVALID_OPTION", { subject: place.subject, field }, problem);
  };
  const wrong = isPlain(given) ? undefined : problemOf(wholeOf(place, given, known), given);
  if (wrong !== undefined) return fail("options", wrong);
  const values = given as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(values)) {
    const field = path + name;
    const value = values[name];
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) {
      // Another object, such as a server or a schema, was passed in place of the options.
      const isOther = isInstance(values) && !Object.keys(values).some((each) => Object.hasOwn(known, each));
      if (isOther) return fail("options", mismatch(optionsOf(known, place.such).mustBe, values));
      return fail(field, place.problem?.(field, value) ?? `is not an option: ${nearest(name, known)}`);
    }
    if (value === undefined) continue;
    const problem = problemOf(kind, value);
    if (problem !== undefined) fail(field, problem);
    for (const item of kind.inside ? [value].flat() : []) {
      if (typeof item === "object") checkOptions(place, item, kind.inside as Table, `${field}.`);
    }
  }
  for (const name in known) {
    const { isNeeded, mustBe } = known[name] as Kind;
    if (isNeeded && values[name] === undefined) fail(path + name, `is required: it must be ${mustBe}`);
  }
  const inherited = inheritedOf(values, known);
  if (inherited !== undefined) fail(path + inherited, inheritedProblem);
}

export const inheritedProblem =
  "belongs to the class of the object, not to the object itself: pass a plain object";

/** An option that an object only inherits, such as a getter of its class, which copies of the object would not have. */
export function inheritedOf(given: object, known: Table): string | undefined {
  return Object.keys(known).find((name) => name in given && !Object.hasOwn(given, name));
}

/** Options that all have a value. */
export type Filled<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> };

/** The options without undefined ones, which keep their defaults. */
export function givenOf<T extends object>(options: T | undefined): Partial<Filled<T>> {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Filled<T>>;
}

/** Completes options, which have been checked, with the defaults of their table. */
export function withDefaults<T extends object, Settings>(
  given: T | undefined,
  known: Known<T, Settings>,
): Settings {
  const values: Record<string, unknown> = { ...givenOf(given) };
  for (const [name, { byDefault, inside }] of Object.entries<Kind>(known)) {
    if (byDefault === undefined) continue;
    const value = (values[name] ??= byDefault);
    if (inside && isPlain(byDefault) && isPlain(value)) values[name] = { ...byDefault, ...givenOf(value) };
  }
  return values as Settings;
}

/** Suggests the known name that is spelled most like `name`, else one that begins or ends like it, or lists all if none is close. */
export function nearest(name: string, known: object): string {
  const names = Object.keys(known);
  const wanted = name.toLowerCase();
  let best = "";
  let least = Math.min(Math.max(2, name.length / 2), maxEdits + 1);
  for (const candidate of names) {
    const edits = editsBetween(wanted, candidate.toLowerCase());
    if (edits < least) [best, least] = [candidate, edits];
  }
  best ||= names.find((candidate) => isPart(wanted, candidate.toLowerCase())) ?? "";
  return best === "" ? `choose from ${names.join(", ")}` : `did you mean ${best}?`;
}

/** With more edits, a long name resembles many others. */
const maxEdits = 3;
/** The least length of a name that is suggested as a part of another: a shorter one is part of many names. */
const leastPart = 3;

function isPart(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < leastPart) return false;
  return one.startsWith(other) || other.startsWith(one) || other.endsWith(one);
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
