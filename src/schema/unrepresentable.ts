// Finds a property that takes only values which JSON cannot represent, so that no call could ever have it.
import { isObject } from "../wire/message.ts";
import type { StandardSchema } from "./standard.ts";

/** Values of every JSON type, and strings that libraries convert. */
const jsonSamples: readonly unknown[] = [
  null,
  true,
  0,
  "",
  "a",
  "1",
  "2026-01-01T00:00:00.000Z",
  "https://example.com/",
  [],
  {},
];

/** What schemas of libraries describe beyond JSON, by the name that the error shows. */
const otherSamples: readonly (readonly [name: string, value: unknown])[] = [
  ["a Date", new Date(0)],
  ["a bigint", 1n],
  ["a Set", new Set()],
  ["a Map", new Map()],
  ["a symbol", Symbol.iterator],
  ["a Uint8Array", new Uint8Array()],
  ["a URL", new URL("https://example.com/")],
];

type Path = readonly (string | number)[];

const maxDepth = 8;

/** Describes the first such property of a schema that publishes `json`, or returns undefined. */
export function unrepresentableIn(
  schema: StandardSchema,
  json: unknown,
  path: Path = [],
): string | undefined {
  if (!isObject(json) || path.length > maxDepth) return undefined;
  const taken = path.length > 0 && onlyTakes(schema, path);
  if (typeof taken === "string") return `${path.join(".")} takes only ${taken}, which JSON does not have`;
  const { properties, items } = json;
  const inside: [string | number, unknown][] = isObject(properties) ? Object.entries(properties) : [];
  if (isObject(items)) inside.push([0, items]);
  for (const [name, inner] of inside) {
    const found = unrepresentableIn(schema, inner, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function onlyTakes(schema: StandardSchema, path: Path): string | undefined {
  if (jsonSamples.some((sample) => !isRefused(schema, path, sample))) return undefined;
  return otherSamples.find(([, sample]) => !isRefused(schema, path, sample))?.[0];
}

/** Whether the schema refuses `sample` at `path` itself, whatever it says of the rest. */
function isRefused(schema: StandardSchema, path: Path, sample: unknown): boolean {
  const value = path.reduceRight((inner, key) => (key === 0 ? [inner] : { [key]: inner }), sample);
  try {
    const outcome = schema["~standard"].validate(value);
    if (outcome instanceof Promise) {
      outcome.catch(() => undefined);
      return false;
    }
    return (outcome.issues ?? []).some((issue) => {
      const keys = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
      return keys.length === path.length && keys.every((key, index) => String(key) === String(path[index]));
    });
  } catch {
    return false;
  }
}
