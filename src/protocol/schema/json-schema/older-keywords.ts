// Rewrites keywords of older drafts, of OpenAPI 3.0 and of tuples as both 2020-12 and the official clients read them.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";
import type { SchemaDraft } from "./keyword.ts";
import { replaceHeld } from "./keywords.ts";

/** What a schema names in `$schema`, if anything. */
export type Dialect = SchemaDraft | "unnamed";

/** A keyword that 2020-12 lacks, or has with other values, or that official clients misread. */
interface OlderKeyword {
  readonly name: string;
  /** The dialects whose schemas are rewritten. Official clients validate by draft-07 and 2019-09 where a schema names them. */
  readonly dialects: readonly Dialect[];
  /** Whether the schema uses it in its older meaning. */
  readonly isIn: (schema: JsonObject) => boolean;
  /** The schema in 2020-12, or why that is impossible and what to write instead. */
  readonly rewrite: (schema: JsonObject) => JsonObject | string;
}

/** The dialects that are published as 2020-12. */
const current: readonly Dialect[] = ["unnamed", 4, 2020];

/** The keywords that a reference of draft 4 may have beside it: it ignores all others. */
const besideReference = new Set(["$ref", "definitions", "title", "description", "default"]);

/** Keywords that can evaluate items, so that `unevaluatedItems` beside them differs from what `items` meant. */
const evaluating = ["contains", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"];

/** The official client of version 1 validates by draft-07, where `items` applies to all items and `prefixItems` is ignored. */
const tuples: OlderKeyword = {
  name: "prefixItems",
  dialects: current,
  isIn: ({ prefixItems, items }) => Array.isArray(prefixItems) && items !== undefined,
  rewrite: (schema) => {
    const { items, ...rest } = schema;
    if (items !== false)
      return evaluating.some((name) => name in rest) ? schema : { ...rest, unevaluatedItems: items };
    const { prefixItems, maxItems } = rest;
    const { length } = prefixItems as unknown[];
    return { ...rest, maxItems: Math.min(length, (maxItems as number | undefined) ?? length) };
  },
};

const olderKeywords: readonly OlderKeyword[] = [
  {
    name: "$ref",
    dialects: [4],
    isIn: ({ $ref }) => isString($ref),
    rewrite: (schema) =>
      Object.fromEntries(Object.entries(schema).filter(([name]) => besideReference.has(name))),
  },
  {
    name: "id",
    dialects: [4],
    isIn: ({ id }) => isString(id),
    rewrite: ({ id, ...rest }) => {
      const [, anchor] = /^#(.+)/.exec(id as string) ?? [];
      return { ...rest, ...(anchor === undefined ? { $id: id } : { $anchor: anchor }) };
    },
  },
  {
    name: "items",
    dialects: current,
    isIn: ({ items }) => Array.isArray(items),
    rewrite: ({ items, additionalItems, ...rest }) => ({
      ...rest,
      // 2020-12 has no empty list of items.
      ...((items as unknown[]).length > 0 && { prefixItems: items }),
      ...(additionalItems !== undefined && { items: additionalItems }),
    }),
  },
  tuples,
  exclusive("exclusiveMinimum", "minimum"),
  exclusive("exclusiveMaximum", "maximum"),
  {
    name: "nullable",
    dialects: ["unnamed"],
    isIn: ({ nullable }) => typeof nullable === "boolean",
    rewrite: ({ nullable, ...rest }) => (nullable === true ? orNull(rest) : rest),
  },
  {
    name: "dependencies",
    dialects: [4],
    isIn: ({ dependencies }) => isObject(dependencies),
    rewrite: ({ dependencies, ...rest }) => ({
      ...rest,
      ...dependents("dependentRequired", dependencies, Array.isArray),
      ...dependents("dependentSchemas", dependencies, (rule) => !Array.isArray(rule)),
    }),
  },
  refused("dependencies", "draft-07", "dependentRequired or dependentSchemas"),
  refused("id", "draft-04", "$id", isString),
  refused("$id", "draft-07", "$anchor", (id) => isString(id) && /^#./.test(id)),
  refused("$recursiveRef", "2019-09", "$dynamicRef"),
  refused("$recursiveAnchor", "2019-09", "$dynamicAnchor"),
];

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** In draft 4 the keyword is a boolean that makes the limit beside it exclusive. */
function exclusive(
  name: "exclusiveMinimum" | "exclusiveMaximum",
  limit: "minimum" | "maximum",
): OlderKeyword {
  return {
    name,
    dialects: [...current, 7, 2019],
    isIn: (schema) => typeof schema[name] === "boolean",
    rewrite: (schema) => {
      const { [name]: isExclusive, [limit]: bound, ...rest } = schema;
      if (isExclusive === false) return bound === undefined ? rest : { ...rest, [limit]: bound };
      return bound === undefined ? `must be a number, or stand beside ${limit}` : { ...rest, [name]: bound };
    },
  };
}

/** `nullable` adds null to the type beside it. Without a type it has no meaning in OpenAPI. */
function orNull(schema: JsonObject): JsonObject | string {
  const { type, enum: choices, const: only } = schema;
  if (type === undefined || only !== undefined)
    return 'means nothing without a type: write anyOf: [{ … }, { type: "null" }]';
  return {
    ...schema,
    type: [...new Set([type, "null"].flat())],
    ...(Array.isArray(choices) && { enum: [...new Set([...(choices as unknown[]), null])] }),
  };
}

/** The rules of one kind in `dependencies`, under the name that they have in 2020-12. */
function dependents(name: string, rules: unknown, isOne: (rule: unknown) => boolean): JsonObject {
  const some = Object.entries(rules as JsonObject).filter(([, rule]) => isOne(rule));
  return some.length === 0 ? {} : { [name]: Object.fromEntries(some) };
}

function refused(
  name: string,
  draft: string,
  here: string,
  isOlder: (value: unknown) => boolean = (value) => value !== undefined,
): OlderKeyword {
  const remedy = `is of ${draft}: write ${here}, or name the draft in $schema`;
  return { name, dialects: ["unnamed"], isIn: (schema) => isOlder(schema[name]), rewrite: () => remedy };
}

/** A keyword that could not be rewritten. */
class Unclear extends Error {}

/** The schema as official clients understand it, or what is wrong with it. One without such keywords is returned as it is. */
export function toCurrentDraft(root: JsonObject, dialect: Dialect): JsonObject | string {
  const older = olderKeywords.filter(({ dialects }) => dialects.includes(dialect));
  try {
    const { schema, isPointedAt } = rewriteAll(root, older);
    // A reference to `items` would lose its target.
    return isPointedAt
      ? rewriteAll(
          root,
          older.filter((each) => each !== tuples),
        ).schema
      : schema;
  } catch (error) {
    if (error instanceof Unclear) return error.message;
    throw error;
  }
}

/** The schema rewritten, and whether a reference in it leads to or through `items`. */
function rewriteAll(
  root: JsonObject,
  older: readonly OlderKeyword[],
): { schema: JsonObject; isPointedAt: boolean } {
  // The same object may stand in many places, so each is rewritten once.
  const rewritten = new Map<unknown, unknown>();
  let isPointedAt = false;
  const rewrite = (node: unknown, at: string): unknown => {
    if (!isObject(node)) return node;
    isPointedAt ||= /\/items(\/|$)/.test(String(node["$ref"]));
    if (!rewritten.has(node)) rewritten.set(node, rewriteInside(rewriteOwn(node, at, older), at, rewrite));
    return rewritten.get(node);
  };
  return { schema: rewrite(root, "") as JsonObject, isPointedAt };
}

function rewriteOwn(given: JsonObject, at: string, older: readonly OlderKeyword[]): JsonObject {
  let schema = given;
  for (const { name, isIn, rewrite } of older) {
    if (!isIn(schema)) continue;
    const outcome = rewrite(schema);
    if (typeof outcome === "string") throw new Unclear(`has ${at}${name}, which ${outcome}`);
    schema = outcome;
  }
  return schema;
}

function rewriteInside(
  schema: JsonObject,
  at: string,
  rewrite: (node: unknown, at: string) => unknown,
): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    let isSame = true;
    const replaced = replaceHeld(keyword, value, (inner, path) => {
      const outcome = rewrite(inner, `${at}${path}.`);
      isSame &&= outcome === inner;
      return outcome;
    });
    if (!isSame) (changed ??= { ...schema })[keyword] = replaced;
  }
  return changed ?? schema;
}
