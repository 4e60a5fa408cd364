// The kinds of values that options take: the check of each, and the words for it in messages.
import { isThenable } from "./async/promises.ts";
import { longestTimerMs } from "./async/timers.ts";
import { clip } from "./errors.ts";

/** The check of an option. `T` is the type of its values; `never` fits every option. */
export interface Kind<out T = unknown> {
  readonly is: (value: unknown) => boolean;
  /** The end of the sentence that begins "must be". */
  readonly mustBe: string;
  /** The options inside the value, or inside each item of a list. */
  readonly inside?: Table | undefined;
  /** Advice for a wrong value beyond what it must be. */
  readonly remedy?: ((value: unknown) => string | undefined) | undefined;
  /** Whether a wrong value may be a secret, so that messages do not show it. */
  readonly isSecret?: boolean | undefined;
  /** Whether the option cannot be left out. */
  readonly isNeeded?: boolean;
  /** The value of an option that is left out. An object with options inside completes the one that is given. */
  readonly byDefault?: T | undefined;
  /** Only for the compiler. */
  readonly of?: readonly [T];
}

/** The kind of an option that has a default. */
export interface Preset<out T = unknown> extends Kind<T> {
  readonly byDefault: T;
}

/** Options by name, with their kinds. */
export type Table = Readonly<Record<string, Kind>>;

/**
 * The table of the options `T`: the compiler demands a kind for each, and one that fits its type. It demands a default too for
 * each option that may be left out and always has a value in `Settings`.
 */
export type Known<T, Settings = object> = {
  readonly [Name in keyof T]-?: Name extends keyof Settings
    ? undefined extends T[Name]
      ? undefined extends Settings[Name]
        ? Kind<NonNullable<T[Name]>>
        : Preset<Settings[Name]>
      : Kind<T[Name]>
    : Kind<NonNullable<T[Name]>>;
};

type AnyFunction = (...given: never[]) => unknown;

export const anything: Kind<never> = { is: () => true, mustBe: "anything" };
export const flag: Kind<boolean> = { is: (value) => typeof value === "boolean", mustBe: "true or false" };
export const off: Kind<false> = { is: (value) => value === false, mustBe: "false" };
export const text: Kind<string> = { is: (value) => typeof value === "string", mustBe: "a text" };
export const filledText: Kind<string> = { is: isFilled, mustBe: "a text that is not empty" };
export const func: Kind<never> = { is: isFunction, mustBe: "a function" };
export const plainObject: Kind<never> = { is: isPlain, mustBe: "an object" };
export const texts: Kind<readonly string[]> = { is: isTexts, mustBe: "a list of texts" };
export const signal: Kind<AbortSignal> = {
  is: (value) => value instanceof AbortSignal,
  mustBe: "an AbortSignal",
  remedy: (value) => (value instanceof AbortController ? "pass its signal" : undefined),
};

/** Texts by name, such as headers, which may be secrets. */
export const textRecord: Kind<Readonly<Record<string, string>>> = {
  is: (value) => isPlain(value) && isTexts(Object.values(value)),
  mustBe: "a plain object of names and texts",
  remedy: (value) => {
    const [name, given] =
      Object.entries(isPlain(value) ? value : {}).find(([, each]) => !text.is(each)) ?? [];
    if (name === undefined) return undefined;
    return given === undefined
      ? `${clip(name)} is undefined: set it, or leave it out`
      : `${clip(name)} is ${given === null ? "null" : `of the type ${typeof given}`}: write a text`;
  },
  isSecret: true,
};

/** A number of things or bytes. */
export const count: Kind<number> = {
  is: (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER),
  mustBe: "a positive integer",
};

/** A number that may be zero: of bytes, or of milliseconds that no timer waits. */
export const wholeNumber: Kind<number> = {
  is: (value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER),
  mustBe: "a whole number, 0 or more",
};

/** A time that a timer can wait: Node fires a longer timer at once. */
export const milliseconds: Kind<number> = {
  is: (value) => isWhole(value, 1, longestTimerMs),
  mustBe: `a whole number of milliseconds from 1 to ${longestTimerMs}`,
};

/** A time that a timer can wait, or 0. */
export const pause: Kind<number> = {
  is: (value) => isWhole(value, 0, longestTimerMs),
  mustBe: `a whole number of milliseconds from 0 to ${longestTimerMs}`,
};

export const port: Kind<number> = {
  is: (value) => isWhole(value, 0, 65_535),
  mustBe: "a whole number from 0 to 65535, where 0 is any free port",
};

/** A URL as text. It may hold secrets. */
export const url: Kind<string> = { is: isUrl, mustBe: "the text of a URL", isSecret: true };

/** A number from `least` to `most`, whole or not. */
export function numberFrom(least: number, most: number, mustBe: string): Kind<number> {
  return { is: (value) => typeof value === "number" && value >= least && value <= most, mustBe };
}

export function matching(pattern: RegExp, mustBe: string): Kind<string> {
  return { is: (value) => typeof value === "string" && pattern.test(value), mustBe };
}

export const mimeType: Kind<string> = matching(/^[^\s/]+\/[^\s/]/, 'a MIME type, such as "text/plain"');

export function oneOf<const Text extends string>(...allowed: readonly Text[]): Kind<Text> {
  const names = allowed.map((each) => `"${each}"`);
  const last = names.pop();
  return {
    is: (value) => allowed.includes(value as Text),
    mustBe: names.length > 0 ? `${names.join(", ")} or ${last}` : `${last}`,
  };
}

export function listOf<T>(item: Kind<T>, mustBe: string): Kind<readonly T[]> {
  return {
    is: (value) => Array.isArray(value) && [...value].every((each) => item.is(each)),
    mustBe,
    inside: item.inside,
    isSecret: item.isSecret,
  };
}

export function either<One, Other>(one: Kind<One>, other: Kind<Other>): Kind<One | Other> {
  return {
    is: (value) => one.is(value) || other.is(value),
    mustBe: `${one.mustBe}, or ${other.mustBe}`,
    inside: one.inside ?? other.inside,
    remedy: one.remedy ?? other.remedy,
    isSecret: one.isSecret || other.isSecret,
  };
}

/** Further options; `such` is an example of them. */
export function options(inside: Table, such?: string): Kind<never> {
  return such === undefined
    ? { ...plainObject, inside }
    : { ...plainObject, mustBe: `an object such as ${such}`, inside };
}

/** An object of the author or of a library with these methods. */
export function withMethods(mustBe: string, ...methods: readonly string[]): Kind<never> {
  return { is: (value) => hasMethods(value, ...methods), mustBe };
}

export function needed<T>(kind: Kind<T>): Kind<T> {
  return { ...kind, isNeeded: true };
}

export function preset<T>(kind: Kind<T>, byDefault: T): Preset<T> {
  return { ...kind, byDefault };
}

/** Limits with their defaults: names that end with `Ms` are times, all others numbers of things or bytes. */
export function limitsOf<T extends object>(defaults: T): Preset<T> {
  const names = Object.keys(defaults);
  const inside = Object.fromEntries(names.map((name) => [name, name.endsWith("Ms") ? milliseconds : count]));
  return preset<T>(options(inside), defaults);
}

/** What is wrong with a value; undefined if nothing is. */
export function problemOf(kind: Kind, value: unknown): string | undefined {
  if (kind.is(value)) return undefined;
  const remedy = kind.remedy?.(value) ?? remedyOf(kind, value);
  return `${mismatch(kind.mustBe, value, kind.isSecret)}${remedy && `: ${remedy}`}`;
}

/** The message that says what a value must be, and what it is instead. */
export function mismatch(mustBe: string, value: unknown, isSecret = false): string {
  const seen = shown(value, isSecret);
  return `must be ${mustBe}${seen && `, not ${seen}`}`;
}

/** Advice for converting the value to the kind, if its mistake can be recognised. */
function remedyOf(kind: Kind, value: unknown): string {
  if (isFunction(value)) return isClass(value) || isWritten(kind) ? "" : "call it, and pass what it returns";
  if (isFilled(value) && kind.is(Number(value))) return "convert it with Number()";
  if (Number.isNaN(value)) return "what it was made from is not a number";
  return kind.is([value]) ? "put it into a list" : "";
}

/** Whether authors write values of the kind themselves. Other values are returned by functions that they may forget to call. */
function isWritten(kind: Kind): boolean {
  return ["text", 1, true, {}, [], console].some((value) => kind.is(value));
}

/** A wrong value for a message: short, without the contents of objects, and without secrets. */
function shown(value: unknown, isSecret: boolean): string {
  if (typeof value === "function")
    return isClass(value) ? `the class ${value.name}: pass an instance` : "a function";
  if (typeof value === "object" && value !== null) {
    if (isThenable(value)) return "a promise: await it";
    if (Array.isArray(value)) {
      if (isSecret) return value.length > 0 ? "a list" : "an empty list";
      return clip(`[${Array.from(value.slice(0, 9), shownItem)}]`);
    }
    return isInstance(value) ? `an instance of ${(value as Partial<object>).constructor?.name}` : "";
  }
  if (isSecret) return "";
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "string" ? JSON.stringify(clip(value)) : String(value);
}

export function isClass(value: object): boolean {
  return Function.prototype.toString.call(value).startsWith("class");
}

function shownItem(item: unknown): string {
  return Array.isArray(item) ? "a list" : shown(item, false) || "an object";
}

/**
 * Whether an object keeps its contents in properties of its own. A `Map`, `Headers`, `Promise` or `AbortSignal` does not, so its
 * contents would be ignored silently.
 */
export function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Symbol.iterator in value) return false;
  return !isInstance(value) || Object.keys(value).length > 0;
}

/** Whether an object has a class. */
export function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}

export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((name) => isFunction((Object(value) as Record<string, unknown>)[name]));
}

export function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTexts(value: unknown): boolean {
  // A copy has undefined where a list has holes.
  return Array.isArray(value) && [...(value as unknown[])].every((each) => typeof each === "string");
}

/** "localhost:3000" can be parsed too. */
export function isUrl(value: unknown): value is string {
  return typeof value === "string" && value.includes("://") && URL.canParse(value);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}
