// What a JSON Schema says of objects: whether it allows nothing else, which properties it names, and how it is put into one.
import { structuredWrapper as wrapper } from "../protocol/codec.ts";
import { isObject, type JsonObject } from "../wire/message.ts";

/** References may lead in circles; what nests deeper than this says nothing that anybody asks here. */
const maxDepth = 8;

/** Whether only objects fit: by its type, or because every alternative of a union is one. */
export function allowsOnlyObjects(schema: unknown, root: unknown = schema, depth = 0): boolean {
  if (!isObject(schema) || depth > maxDepth) return false;
  const { type, anyOf, oneOf, allOf, $ref } = schema;
  if (type !== undefined) return type === "object";
  const isOne = (part: unknown): boolean => allowsOnlyObjects(part, root, depth + 1);
  const isUnion = [anyOf, oneOf].some(
    (parts) => Array.isArray(parts) && parts.length > 0 && parts.every(isOne),
  );
  return isUnion || (Array.isArray(allOf) && allOf.some(isOne)) || isOne(target($ref, root));
}

/** The schema with `type: "object"`, where every value that fits is an object. */
export function withObjectType(schema: JsonObject): JsonObject {
  return schema["type"] === undefined && allowsOnlyObjects(schema) ? { ...schema, type: "object" } : schema;
}

/** The schemas of the properties that are named anywhere in it, by name; of several, the first. */
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

/** The types that a value of it may have; undefined when it does not say. */
export function typesOf(schema: unknown, root: unknown, depth = 0): readonly unknown[] | undefined {
  if (!isObject(schema) || depth > maxDepth) return undefined;
  const { type, anyOf, oneOf, $ref } = schema;
  if (type !== undefined) return [type].flat();
  const union = anyOf ?? oneOf;
  if (!Array.isArray(union))
    return $ref === undefined ? undefined : typesOf(target($ref, root), root, depth + 1);
  const types = union.map((part) => typesOf(part, root, depth + 1));
  return types.includes(undefined) ? undefined : types.flat();
}

/** The schema of an object that holds a value of `schema`; its references lead where they led before. */
export function wrapSchema({ $schema, ...schema }: JsonObject): JsonObject {
  // With an id of its own it stays a document of its own, and its references count from there.
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

/** What a reference within `root` leads to. */
function target($ref: unknown, root: unknown): unknown {
  if (typeof $ref !== "string" || !$ref.startsWith("#")) return undefined;
  const names = $ref.split("/").slice(1);
  return names.reduce<unknown>((node, name) => {
    const key = decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
    return (node as JsonObject | undefined)?.[key];
  }, root);
}
