// Freezes a value of JSON and everything in it.

/** What a value takes beside its text, in bytes: a rough figure. */
const overhead = 16;

/** Freezes `value` and everything in it, and returns about how many bytes it takes. */
export function freeze(value: unknown): number {
  if (typeof value === "string") return overhead + value.length;
  if (typeof value !== "object" || value === null) return overhead;
  let size = overhead;
  if (Array.isArray(value)) for (const item of value) size += freeze(item);
  else for (const name in value) size += name.length + freeze((value as Record<string, unknown>)[name]);
  Object.freeze(value);
  return size;
}
