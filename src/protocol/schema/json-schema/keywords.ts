// Checks that each keyword of a JSON Schema has a value of the right kind, and finds the schemas inside it.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";

/** The kind of a keyword's value: its description and its check. */
interface Kind {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
  /** How the value holds schemas: it is one or a list of them, or an object of them by name. */
  readonly holds?: "schemas" | "named schemas";
}

const types = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);
const isType = (value: unknown): boolean => types.has(value as string);
const isString = (value: unknown): boolean => typeof value === "string";
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value);
const isListOf = (fits: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(fits);
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isDistinct = (value: unknown): boolean => Array.isArray(value) && new Set(value).size === value.length;

const type: Kind = {
  words: `${[...types].map((name) => `"${name}"`).join(", ")} or a list of them, each once`,
  fits: (value) => isType(value) || (isFilled(value) && isListOf(isType)(value) && isDistinct(value)),
};
const schema: Kind = {
  words: 'a schema, such as { "type": "string" }',
  fits: isSchema,
  holds: "schemas",
};
const schemas: Kind = {
  words: "a list of at least one schema",
  fits: (value) => isFilled(value) && isListOf(isSchema)(value),
  holds: "schemas",
};
const schemaMap: Kind = {
  words: "an object of schemas",
  fits: (value) => isObject(value) && Object.values(value).every(isSchema),
  holds: "named schemas",
};
const items: Kind = { ...schema, fits: (value) => isSchema(value) || isListOf(isSchema)(value) };
const names: Kind = {
  words: "a list of strings, each once",
  fits: (value) => isListOf(isString)(value) && isDistinct(value),
};
const nameMap: Kind = {
  words: "an object of lists of strings, each once",
  fits: (value) => isObject(value) && Object.values(value).every(names.fits),
};
const dependencies: Kind = {
  words: "an object of schemas or lists of strings",
  fits: (value) =>
    isObject(value) && Object.values(value).every((rule) => isSchema(rule) || names.fits(rule)),
  holds: "named schemas",
};
const text: Kind = { words: "a string", fits: isString };
const anchor: Kind = {
  words: "a name of letters, digits, -, _ and . that does not begin with a digit",
  fits: (value) => isString(value) && /^[A-Za-z_][\w.-]*$/.test(value as string),
};
const flag: Kind = { words: "true or false", fits: (value) => typeof value === "boolean" };
const list: Kind = { words: "a list", fits: Array.isArray };
const choices: Kind = { words: "a list of at least one value", fits: isFilled };
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
  ["enum", choices],
  ["examples", list],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", bound],
  ["exclusiveMaximum", bound],
  ["multipleOf", positive],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (name) => [name, count] as const,
  ),
  ...["minContains", "maxContains"].map((name) => [name, count] as const),
  ...["pattern", "$id", "$ref", "$dynamicRef", "$recursiveRef", "format"].map(
    (name) => [name, text] as const,
  ),
  ...["title", "description", "$comment", "contentEncoding", "contentMediaType"].map(
    (name) => [name, text] as const,
  ),
  ...["$anchor", "$dynamicAnchor"].map((name) => [name, anchor] as const),
  ...["uniqueItems", "deprecated", "readOnly", "writeOnly", "$recursiveAnchor", "nullable"].map(
    (name) => [name, flag] as const,
  ),
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
    for (const [path, inner] of held(keyword, value)) {
      const problem = problemInside(inner, `${at}${path}.`, size);
      if (problem !== undefined) return problem;
    }
  }
  size.depth--;
  return undefined;
}

/** Like `keywordProblem`, for the keywords of one schema, without those inside it. */
export function ownKeywordProblem(outer: JsonObject, at = ""): string | undefined {
  for (const [keyword, value] of Object.entries(outer)) {
    const kind = kinds.get(keyword);
    if (kind === undefined || value === undefined || kind.fits(value)) continue;
    const [name, wrong] = kind === schemaMap && isObject(value) ? notSchema(value) : [];
    return name === undefined
      ? `has ${at}${keyword}${shown(value)}, which must be ${kind.words}`
      : `has ${at}${keyword}.${name}${shown(wrong)}, which must be ${schema.words}`;
  }
  return undefined;
}

function notSchema(map: JsonObject): [name: string, value: unknown] | [] {
  return Object.entries(map).find(([, value]) => !isSchema(value)) ?? [];
}

/** How many characters of a name or a value a message shows. */
const shownLength = 100;

function shown(value: unknown): string {
  return typeof value === "object" || value === undefined
    ? ""
    : ` ${JSON.stringify(value).slice(0, shownLength)}`;
}

/** The schemas directly inside a valid one. */
export function innerSchemas(outer: JsonObject): unknown[] {
  return Object.entries(outer).flatMap(([keyword, value]) => held(keyword, value).map(([, inner]) => inner));
}

/** The schemas in the value of a keyword, each with its path. */
function held(keyword: string, value: unknown): (readonly [path: string, schema: unknown])[] {
  const holds = kinds.get(keyword)?.holds;
  if (holds === undefined || value === undefined) return [];
  if (holds === "schemas" && !Array.isArray(value)) return [[keyword, value]];
  return Object.entries(value as object)
    .filter(([, inner]) => isSchema(inner))
    .map(([name, inner]) => [`${keyword}.${name.slice(0, shownLength)}`, inner] as const);
}

/** The value of a keyword with each of its schemas replaced. */
export function replaceHeld(
  keyword: string,
  value: unknown,
  replace: (schema: unknown, path: string) => unknown,
): unknown {
  const holds = kinds.get(keyword)?.holds;
  if (holds === undefined || value === undefined) return value;
  if (Array.isArray(value)) return value.map((inner, index) => replace(inner, `${keyword}.${index}`));
  if (holds === "schemas") return replace(value, keyword);
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, inner]) => [name, replace(inner, `${keyword}.${name}`)]));
}

/** The path of one schema object inside a valid `root`; empty for the root, and for one that is not in it. */
export function pathTo(wanted: unknown, root: unknown): string {
  const visited = new Set<unknown>();
  const find = (node: unknown, at: string): string | undefined => {
    if (node === wanted) return at;
    if (!isObject(node) || visited.has(node)) return undefined;
    visited.add(node);
    for (const [keyword, value] of Object.entries(node))
      for (const [path, inner] of held(keyword, value)) {
        const found = find(inner, at === "" ? path : `${at}.${path}`);
        if (found !== undefined) return found;
      }
    return undefined;
  };
  return find(root, "") ?? "";
}

/** Whether JSON Schema gives the name a meaning with that value. */
export function isKeyword(name: string, value: unknown): boolean {
  return kinds.get(name)?.fits(value) ?? (name.startsWith("$") || name === "default" || name === "const");
}
