// Follows a `$ref` within one JSON Schema document.
import { isObject, type JsonObject } from "../wire/message.ts";

/** More would be a circle, or nothing that a person has written. */
const maxHops = 16;

/**
 * What stands where `node` points, with what stands beside the reference: libraries write what has a name of its own, or is
 * used twice, under `$defs`. Undefined when it leads nowhere; any other node as it is.
 */
export function followReference(node: unknown, document: JsonObject): unknown {
  let found = node;
  for (let hops = 0; isObject(found) && typeof found["$ref"] === "string"; hops++) {
    const { $ref, ...beside } = found as JsonObject & { readonly $ref: string };
    const target = hops < maxHops ? nodeAt($ref, document) : undefined;
    found = isObject(target) ? { ...target, ...beside } : undefined;
  }
  return found;
}

/** The node at a JSON Pointer, as in `#/$defs/colour`. */
function nodeAt(pointer: string, document: JsonObject): unknown {
  let node: unknown = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }
  return node;
}
