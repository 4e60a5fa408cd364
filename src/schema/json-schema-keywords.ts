// Whether a JSON Schema is one: each keyword has a value of its kind. An interpreter would find out in a call, or never.
import { isObject } from "../wire/message.ts";

/** What a keyword holds, in words, and how to tell. Those with `inside` hold further schemas. */
interface Kind {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
  readonly inside?: (value: unknown) => readonly unknown[];
}

const types = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);
const isType = (value: unknown): boolean => types.has(value as string);
const isString = (value: unknown): boolean => typeof value === "string";
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value);
const isListOf = (fits: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(fits);
const values = (value: unknown): readonly unknown[] => Object.values(value as object);

const type: Kind = {
  words: "the name of a type, or a list of them",
  fits: (value) => isType(value) || isListOf(isType)(value),
};
const schema: Kind = { words: "a schema", fits: isSchema, inside: (value) => [value] };
const schemas: Kind = { words: "a list of schemas", fits: isListOf(isSchema), inside: values };
const schemaMap: Kind = {
  words: "an object of schemas",
  fits: (value) => isObject(value) && Object.values(value).every(isSchema),
  inside: values,
};
const items: Kind = {
  ...schema,
  fits: (value) => isSchema(value) || isListOf(isSchema)(value),
  inside: (value) => [value].flat(),
};
const names: Kind = { words: "a list of strings", fits: isListOf(isString) };
const list: Kind = { words: "a list", fits: Array.isArray };
const number: Kind = { words: "a number", fits: Number.isFinite };
// A boolean in draft 4, where it says how the limit beside it is meant.
const bound: Kind = {
  words: "a number",
  fits: (value) => Number.isFinite(value) || typeof value === "boolean",
};
const positive: Kind = {
  words: "a number above 0",
  fits: (value) => Number.isFinite(value) && (value as number) > 0,
};
const count: Kind = {
  words: "an integer of 0 or more",
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};
const pattern: Kind = { words: "a regular expression", fits: isPattern };

const kinds: ReadonlyMap<string, Kind> = new Map([
  ["type", type],
  ...["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"].map(
    (name) => [name, schema] as const,
  ),
  ...["unevaluatedItems", "unevaluatedProperties", "additionalItems"].map((name) => [name, schema] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((name) => [name, schemas] as const),
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"].map(
    (name) => [name, schemaMap] as const,
  ),
  ["items", items],
  ["required", names],
  ["enum", list],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", bound],
  ["exclusiveMaximum", bound],
  ["multipleOf", positive],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (name) => [name, count] as const,
  ),
  ["pattern", pattern],
]);

/** What is wrong with the keywords of a schema, or of one inside it; undefined if nothing is. */
export function keywordProblem(node: unknown, at = ""): string | undefined {
  if (!isObject(node)) return undefined;
  for (const [keyword, value] of Object.entries(node)) {
    const kind = kinds.get(keyword);
    if (kind === undefined || value === undefined) continue;
    const where = at === "" ? keyword : `${at}.${keyword}`;
    if (!kind.fits(value)) return `has ${where}, which must be ${kind.words}`;
    for (const inner of kind.inside?.(value) ?? []) {
      const problem = keywordProblem(inner, where);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
