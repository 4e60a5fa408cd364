// Finds values that JSON would leave out or change.
import { isPlain } from "../kinds.ts";

/** The rest of the path to a value that JSON cannot hold, and what it is; undefined if there is none. */
export function unfitForJson(value: unknown): string | undefined {
  return problemIn(value, new Set());
}

/** `around`: the objects that it is in. */
function problemIn(value: unknown, around: Set<object>): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : ` is ${value}`;
  if (typeof value !== "object" || value === null)
    return scalars.has(typeof value) ? undefined : ` is a ${typeof value}`;
  if ("toJSON" in value) return undefined;
  if (around.has(value)) return " is circular";
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return ` is a ${(value as Partial<object>).constructor?.name}`;
  const names = isList ? undefined : Object.keys(value);
  const { length } = names ?? (value as unknown[]);
  around.add(value);
  for (let at = 0; at < length; at++) {
    const key = names?.[at] ?? at;
    const member = (value as Readonly<Record<string | number, unknown>>)[key];
    const problem = typeof member === "string" ? undefined : problemIn(member, around);
    if (problem !== undefined) return isList ? `[${key}]${problem}` : `.${key}${problem}`;
  }
  around.delete(value);
  return undefined;
}

/** `null` is an object to the operator. */
const scalars: ReadonlySet<string> = new Set(["string", "boolean", "undefined", "object"]);
