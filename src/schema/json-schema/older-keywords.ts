// Rewrites keywords of older drafts and of OpenAPI 3.0 as 2020-12 has them, for schemas that do not name their dialect.
import { isObject, type JsonObject } from "../../wire/message.ts";
import { replaceHeld } from "./keywords.ts";

/** A keyword that 2020-12 does not have, or has with other values. */
interface OlderKeyword {
  readonly name: string;
  /** Whether the schema uses it in its older meaning. */
  readonly isIn: (schema: JsonObject) => boolean;
  /** The schema as 2020-12 has it, or why that is impossible and what to write instead. */
  readonly rewrite: (schema: JsonObject) => JsonObject | string;
}

const olderKeywords: readonly OlderKeyword[] = [
  {
    name: "items",
    isIn: ({ items }) => Array.isArray(items),
    rewrite: ({ items, additionalItems, ...rest }) => ({
      ...rest,
      // 2020-12 has no empty list of items.
      ...((items as unknown[]).length > 0 && { prefixItems: items }),
      ...(additionalItems !== undefined && { items: additionalItems }),
    }),
  },
  exclusive("exclusiveMinimum", "minimum"),
  exclusive("exclusiveMaximum", "maximum"),
  {
    name: "nullable",
    isIn: ({ nullable }) => typeof nullable === "boolean",
    rewrite: ({ nullable, ...rest }) => (nullable === true ? orNull(rest) : rest),
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
    isIn: (schema) => typeof schema[name] === "boolean",
    rewrite: (schema) => {
      const { [name]: isExclusive, [limit]: bound, ...rest } = schema;
      if (isExclusive === false) return bound === undefined ? rest : { ...rest, [limit]: bound };
      return bound === undefined ? `must be a number, or stand beside ${limit}` : { ...rest, [name]: bound };
    },
  };
}

/** `nullable` adds null to the type beside it; without a type it means nothing in OpenAPI. */
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

function refused(
  name: string,
  draft: string,
  here: string,
  isOlder: (value: unknown) => boolean = (value) => value !== undefined,
): OlderKeyword {
  const remedy = `is of ${draft}: write ${here}, or name the draft in $schema`;
  return { name, isIn: (schema) => isOlder(schema[name]), rewrite: () => remedy };
}

/** A keyword that could not be rewritten. */
class Unclear extends Error {}

/** The schema as 2020-12 has it, or what is wrong with it. A schema without older keywords is returned as it is. */
export function toCurrentDraft(root: JsonObject): JsonObject | string {
  // The same object may stand in many places, so each is rewritten once.
  const rewritten = new Map<unknown, unknown>();
  const rewrite = (node: unknown, at: string): unknown => {
    if (!isObject(node)) return node;
    if (!rewritten.has(node)) rewritten.set(node, rewriteInside(rewriteOwn(node, at), at, rewrite));
    return rewritten.get(node);
  };
  try {
    return rewrite(root, "") as JsonObject;
  } catch (error) {
    if (error instanceof Unclear) return error.message;
    throw error;
  }
}

function rewriteOwn(given: JsonObject, at: string): JsonObject {
  let schema = given;
  for (const { name, isIn, rewrite } of olderKeywords) {
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
