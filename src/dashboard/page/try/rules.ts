// Checks the value of a field, and describes problems to the user. The server still validates everything.
import { brokenRule, charactersOf, type Rule } from "../../../protocol/forms/rules.ts";
import type { Field, Shape } from "./fields.ts";
import { numberOf } from "./schema.ts";

/** What is wrong with the value; undefined if nothing is. */
export function problemOf({ isRequired, shape }: Field, value: unknown): string | undefined {
  if (value === undefined)
    return isRequired && shape.kind !== "constant" ? (missing[shape.kind] ?? "Fill this in") : undefined;
  if (!("rules" in shape)) return undefined;
  const rule = brokenRule(shape.rules, value);
  if (rule !== undefined) return words[rule](shape.rules[rule], value);
  const { pattern } = shape.rules;
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    return "The number is too large to be exact";
  if (typeof value === "string" && typeof pattern === "string" && !matches(pattern, value))
    return `It must match ${pattern}`;
  return undefined;
}

const missing: Readonly<Partial<Record<Shape["kind"], string>>> = {
  text: "Fill this in; to send an empty text, use JSON",
  choice: "Choose one",
  choices: "Choose at least one",
  json: "Write a JSON value",
};

/** What to do about a broken rule. */
const words: Readonly<Record<Rule, (limit: unknown, value: unknown) => string>> = {
  type: (type) => `Write a ${types[String(type)]}`,
  minLength: (limit) => `Write at least ${limit} characters`,
  maxLength: (limit, value) => `Write at most ${limit} characters: these are ${charactersOf(String(value))}`,
  format: (format) => `Write it as in ${exampleOf(format)}`,
  minimum: (limit) => `Write a number of at least ${limit}`,
  maximum: (limit) => `Write a number of at most ${limit}`,
  exclusiveMinimum: (limit) => `Write a number above ${limit}`,
  exclusiveMaximum: (limit) => `Write a number below ${limit}`,
  multipleOf: (limit) => `Write a multiple of ${limit}`,
  minItems: (limit, value) => `Add at least ${limit}: there are ${[value].flat().length}`,
  maxItems: (limit, value) => `At most ${limit}: there are ${[value].flat().length}`,
};

const types: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  integer: "whole number",
  array: "list",
};

/** An example of a text in each format that is checked. */
const examples: ReadonlyMap<unknown, string> = new Map([
  ["email", "ada@example.com"],
  ["uri", "https://example.com/page"],
  ["date", "2027-03-14"],
  ["date-time", "2027-03-14T09:30:00Z"],
  ["time", "09:30:00Z"],
]);

export function exampleOf(format: unknown): string | undefined {
  return examples.get(format);
}

/** Longer texts are not matched against patterns. */
const maxMatched = 1000;

/** Whether a text matches the server's pattern. Patterns that can take long are left to the server. */
function matches(pattern: string, text: string): boolean {
  const repeats = pattern.match(/[*+]|\{\d*,/g)?.length ?? 0;
  const isCostly = repeats > 2 || /\)[*+{]|\\[1-9k]|\(\?[=!<]/.test(pattern);
  if (isCostly || pattern.length > maxMatched || text.length > maxMatched) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** The limits of a number in a few words, such as "1 to 1000"; empty if it has none, or those of exact integers. */
export function limitsOf(shape: Shape): string {
  if (shape.kind !== "number") return "";
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = shape.rules;
  const [min, max] = [minimum, maximum].map((limit) => (isEndless(limit) ? undefined : numberOf(limit)));
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  const limits = { "at least": min, "at most": max, above: numberOf(above), below: numberOf(below) };
  return Object.entries(limits)
    .flatMap(([word, limit]) => (limit === undefined ? [] : `${word} ${limit}`))
    .join(", ");
}

/** Libraries write the range of exact integers as limits. */
function isEndless(limit: unknown): boolean {
  return typeof limit === "number" && Math.abs(limit) >= Number.MAX_SAFE_INTEGER;
}
