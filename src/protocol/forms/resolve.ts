// Resolves the references of a schema inside its own document, and merges `allOf`: a form shows only plain keywords.
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** How many schemas one is put together from at most, so that references in a circle end. */
const maxParts = 100;

/** The schema with the keywords of its reference and its `allOf`; undefined if a reference leads nowhere, or in a circle. */
export function resolve(
  schema: JsonObject,
  root: JsonObject,
  parts: { left: number } = { left: maxParts },
): JsonObject | undefined {
  if (parts.left-- <= 0) return undefined;
  const { $ref, allOf, ...own } = schema;
  const resolved: JsonObject[] = [];
  if ($ref !== undefined) {
    const target = typeof $ref === "string" ? pointedAt($ref, root) : undefined;
    const whole = target && resolve(target, root, parts);
    if (!whole) return undefined;
    resolved.push(whole);
  }
  for (const part of listOf(allOf).slice(0, maxParts)) {
    const whole = isObject(part) ? resolve(part, root, parts) : undefined;
    if (whole) resolved.push(whole);
  }
  return resolved.length === 0 ? own : [...resolved, own].reduce(merged);
}

/** The schema that a reference such as `#/$defs/address` names. References to other documents are never fetched. */
function pointedAt(ref: string, root: JsonObject): JsonObject | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split("/")) {
    const key = unescaped(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return isObject(at) ? at : undefined;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

/** Both schemas as one: their properties and what they require together, of the rest what `upper` says. */
export function merged(lower: JsonObject, upper: JsonObject): JsonObject {
  const properties = [...entriesOf(lower["properties"]), ...entriesOf(upper["properties"])];
  const required = [...listOf(lower["required"]), ...listOf(upper["required"])];
  return {
    ...lower,
    ...upper,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
