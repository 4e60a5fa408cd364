// JSON Schemas of objects: whether a schema allows only objects, which properties it names, and how to wrap it in one.
import { structuredWrapper as wrapper } from "../codec.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** References may be circular, so the functions here stop at this depth. */
const maxDepth = 8;

/** Adds `type: "object"` to a schema that allows only objects, such as a union of objects. */
export function withObjectType(schema: JsonObject): JsonObject {
  const isUntyped = schema["type"] === undefined;
  return isUntyped && typesOf(schema)?.every((type) => type === "object")
    ? { ...schema, type: "object" }
    : schema;
}

/** The schemas of all properties that the schema names, by name; the first one wins. */
export function propertiesOf(schema: unknown, root: unknown = schema, depth = 0): Map<string, unknown> {
  if (!isObject(schema) || depth > maxDepth) return new Map();
  const { properties, anyOf, oneOf, allOf, $ref } = schema;
  const parts = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const found = new Map<string, unknown>(isObject(properties) ? Object.entries(properties) : []);
  for (const part of [...parts, target($ref, root)]) {
    for (const [name, property] of propertiesOf(part, root, depth + 1)) {
      if (!found.has(name)) found.set(name, property);
    }
  }
  return found;
}

/** The types that the schema allows, or undefined if it does not say. */
export function typesOf(schema: unknown, root: unknown = schema, depth = 0): readonly unknown[] | undefined {
  if (!isObject(schema) || depth > maxDepth) return undefined;
  const { type, anyOf, oneOf, allOf, $ref } = schema;
  if (type !== undefined) return [type].flat();
  const typesIn = (part: unknown): readonly unknown[] | undefined => typesOf(part, root, depth + 1);
  const union = anyOf ?? oneOf;
  if (Array.isArray(union)) {
    const types = union.map(typesIn);
    return types.length === 0 || types.includes(undefined) ? undefined : types.flat();
  }
  const parts = Array.isArray(allOf) ? allOf : [target($ref, root)];
  return parts.map(typesIn).find((types) => types !== undefined);
}

/** The schema of an object that holds a value of `schema`. Its references keep their targets. */
export function wrapSchema({ $schema, ...schema }: JsonObject): JsonObject {
  // A schema with `$id` is a document of its own, so its references stay valid.
  const inner = schema["$id"] === undefined ? rebased(schema) : schema;
  const properties = { [wrapper]: inner };
  return { ...($schema !== undefined && { $schema }), type: "object", properties, required: [wrapper] };
}

function rebased(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rebased);
  if (!isObject(node)) return node;
  const entries = Object.entries(node).map(([keyword, value]) => {
    const isPointer = keyword === "$ref" && (value === "#" || String(value).startsWith("#/"));
    return [keyword, isPointer ? `#/properties/${wrapper}${String(value).slice(1)}` : rebased(value)];
  });
  return Object.fromEntries(entries);
}

/** The target of a reference within `root`. */
function target($ref: unknown, root: unknown): unknown {
  if (typeof $ref !== "string" || !$ref.startsWith("#")) return undefined;
  const names = $ref.split("/").slice(1);
  return names.reduce<unknown>((node, name) => {
    const key = decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
    return (node as JsonObject | undefined)?.[key];
  }, root);
}
