// Freezes a value of JSON and everything in it.
import { valueBytes } from "../../wire/size.ts";

/** Freezes `value` and everything in it, and returns about how many bytes it takes. */
export function freeze(value: unknown): number {
  if (typeof value === "string") return valueBytes + value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  let size = valueBytes;
  if (Array.isArray(value)) for (const item of value) size += freeze(item);
  else for (const name in value) size += name.length + freeze((value as Record<string, unknown>)[name]);
  Object.freeze(value);
  return size;
}
