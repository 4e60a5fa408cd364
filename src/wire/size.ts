// About how much memory a value of JSON takes.

/** What a value takes beside its text, in bytes: about as much as `{}` in an array. */
export const valueBytes = 40;

/** About how many bytes a value takes; never far too few. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return valueBytes + value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  let size = valueBytes;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else for (const name in value) size += name.length + sizeOf((value as Record<string, unknown>)[name]);
  return size;
}
