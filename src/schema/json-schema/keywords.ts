// Checks that each keyword of a JSON Schema has a value of the right kind, and finds the schemas inside it.
import { isObject, type JsonObject } from "../../wire/message.ts";

/** The kind of value that a keyword takes: its description and its check. `inside` returns the schemas that it holds. */
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
const nameMap: Kind = {
  words: "an object of lists of strings",
  fits: (value) => isObject(value) && Object.values(value).every(names.fits),
};
const dependencies: Kind = {
  words: "an object of schemas or lists of strings",
  fits: (value) =>
    isObject(value) && Object.values(value).every((rule) => isSchema(rule) || names.fits(rule)),
  inside: (value) => values(value).filter(isSchema),
};
const text: Kind = { words: "a string", fits: isString };
const list: Kind = { words: "a list", fits: Array.isArray };
const number: Kind = { words: "a number", fits: Number.isFinite };
// In draft 4 it is a boolean that makes the limit beside it exclusive.
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

const kinds: ReadonlyMap<string, Kind> = new Map([
  ["type", type],
  ...["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"].map(
    (name) => [name, schema] as const,
  ),
  ...["unevaluatedItems", "unevaluatedProperties", "additionalItems", "contentSchema"].map(
    (name) => [name, schema] as const,
  ),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((name) => [name, schemas] as const),
  ...["properties", "$defs", "definitions", "dependentSchemas", "patternProperties"].map(
    (name) => [name, schemaMap] as const,
  ),
  ["items", items],
  ["dependencies", dependencies],
  ["dependentRequired", nameMap],
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
  ...["minContains", "maxContains"].map((name) => [name, count] as const),
  ...["pattern", "$ref", "$dynamicRef", "$recursiveRef", "format"].map((name) => [name, text] as const),
]);

/** Far more than authors need; a schema from an untrusted source must not fill the memory. */
const maxSchemas = 50_000;
const maxDepth = 200;

/** What is wrong with a keyword of a schema or of one inside it, or undefined. */
export function keywordProblem(root: unknown): string | undefined {
  return problemInside(root, "", { schemas: 0, depth: 0 });
}

function problemInside(
  node: unknown,
  at: string,
  size: { schemas: number; depth: number },
): string | undefined {
  if (!isObject(node)) return undefined;
  if (++size.schemas > maxSchemas) return `has more than ${maxSchemas} schemas inside it`;
  if (++size.depth > maxDepth) return `nests more than ${maxDepth} schemas deep`;
  const own = ownKeywordProblem(node, at);
  if (own !== undefined) return own;
  for (const [keyword, value] of Object.entries(node)) {
    const inside = value === undefined ? undefined : kinds.get(keyword)?.inside?.(value);
    if (inside === undefined) continue;
    const where = `${at}${keyword}.`;
    for (const inner of inside) {
      const problem = problemInside(inner, where, size);
      if (problem !== undefined) return problem;
    }
  }
  size.depth--;
  return undefined;
}

/** The same for the keywords of one schema, without those inside it. */
export function ownKeywordProblem(outer: JsonObject, at = ""): string | undefined {
  for (const [keyword, value] of Object.entries(outer)) {
    const kind = kinds.get(keyword);
    if (kind !== undefined && value !== undefined && !kind.fits(value))
      return `has ${at}${keyword}, which must be ${kind.words}`;
  }
  return undefined;
}

/** The schemas directly inside a valid one. */
export function innerSchemas(outer: JsonObject): unknown[] {
  return Object.entries(outer).flatMap(([keyword, value]) =>
    value === undefined ? [] : (kinds.get(keyword)?.inside?.(value) ?? []),
  );
}
