// About how much memory a value of JSON takes.

/** The bytes that an array or object takes besides its members, and any other value besides its text. */
const containerBytes = 64;
const plainBytes = 24;

/** About how many bytes a value takes; never far too few. `onContainer` is called with each array and object in it, innermost first. */
export function sizeOf(value: unknown, onContainer?: (container: object) => void): number {
  if (typeof value === "string") return plainBytes + value.length;
  if (typeof value !== "object" || value === null) return plainBytes;
  let size = containerBytes;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item, onContainer);
  else
    for (const name in value)
      size += name.length + sizeOf((value as Record<string, unknown>)[name], onContainer);
  onContainer?.(value);
  return size;
}
