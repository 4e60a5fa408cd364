// Finds a property whose values JSON cannot represent at all, so that no call could ever have it.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
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

/**
 * Values beyond JSON that schemas of libraries accept, by the name for the error. Several dates, because a schema can limit them.
 */
const otherSamples: readonly (readonly [name: string, value: unknown])[] = [
  ...[0, Date.now(), 4e12, -4e12].map((ms) => ["a Date", new Date(ms)] as const),
  ["a bigint", 1n],
  ["a Set", new Set()],
  ["a Map", new Map()],
  ["a symbol", Symbol.iterator],
  ["a Uint8Array", new Uint8Array()],
  ["a URL", new URL("https://example.com/")],
];

/** A place inside the values of a schema. */
interface Place {
  readonly path: readonly (string | number)[];
  /** The path in the words of the error. */
  readonly shown: string;
  /** Returns a value that has `sample` at the place, and around it the properties that the published schema names. */
  readonly around: (sample: unknown) => unknown;
}

const root: Place = { path: [], shown: "", around: (sample) => sample };

const maxDepth = 8;
/** Stands for any name of a property. */
const anyName = "key";

/** Describes the first such property of a schema that publishes `json`, or returns undefined. */
export function unrepresentableIn(schema: StandardSchema, json: JsonObject): string | undefined {
  // A schema that contains itself, or occurs in many places, is visited once.
  const visited = new Set<unknown>();
  const visit = (given: unknown, place: Place, isTested: boolean): string | undefined => {
    const node = targetOf(given, json);
    if (!isObject(node) || visited.has(node) || place.path.length > maxDepth) return undefined;
    visited.add(node);
    const taken = isTested ? onlyTakes(schema, place) : undefined;
    if (taken !== undefined) return `${place.shown} takes only ${taken}, which JSON does not have`;
    for (const [inner, innerPlace] of placesIn(node, place)) {
      const found = visit(inner, innerPlace, innerPlace !== place);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(json, root, false);
}

/** The schema, or the one under `$defs` that it refers to. */
function targetOf(node: unknown, { $defs }: JsonObject): unknown {
  const { $ref } = isObject(node) ? node : {};
  if (typeof $ref !== "string" || !isObject($defs)) return node;
  return $defs[$ref.replace(/^#\/\$defs\//, "")] ?? node;
}

/** The schemas directly inside a published one, each with its place: that of `outer` itself for alternatives. */
function placesIn(node: JsonObject, outer: Place): [schema: unknown, place: Place][] {
  const { properties, additionalProperties, prefixItems, unevaluatedItems, anyOf, oneOf, allOf } = node;
  // Beside `prefixItems`, the schema of the other items is here.
  const { items = unevaluatedItems } = node;
  const named = isObject(properties) ? Object.entries(properties) : [];
  const listed = Array.isArray(prefixItems) ? (prefixItems as unknown[]) : [];
  const members = Object.fromEntries(named.map(([name, inner]) => [name, sampleOf(inner)]));
  const elements = listed.map(sampleOf);
  const places = named.map(([name, inner]): [unknown, Place] => [
    inner,
    placeIn(outer, name, name, (sample) => ({ ...members, [name]: sample })),
  ]);
  if (isObject(additionalProperties))
    places.push([
      additionalProperties,
      placeIn(outer, anyName, "*", (sample) => ({ ...members, [anyName]: sample })),
    ]);
  for (const [index, inner] of listed.entries())
    places.push([inner, placeIn(outer, index, String(index), (sample) => elements.with(index, sample))]);
  const next = elements.length;
  if (isObject(items))
    places.push([items, placeIn(outer, next, String(next), (sample) => [...elements, sample])]);
  const alternatives = [anyOf, oneOf, allOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return [...places, ...alternatives.map((inner): [unknown, Place] => [inner, outer])];
}

function placeIn(
  outer: Place,
  key: string | number,
  shown: string,
  around: (sample: unknown) => unknown,
): Place {
  return {
    path: [...outer.path, key],
    shown: outer.shown === "" ? shown : `${outer.shown}.${shown}`,
    around: (sample) => outer.around(around(sample)),
  };
}

/** A value of the simplest kind that a published schema names. It distinguishes alternatives, and need not be valid. */
function sampleOf(json: unknown): unknown {
  if (!isObject(json)) return null;
  const { const: only, enum: choices, type } = json;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  const samples: Readonly<Record<string, unknown>> = { string: "a", boolean: true, array: [], object: {} };
  return samples[String(type)] ?? (type === "number" || type === "integer" ? 0 : null);
}

/** The kind of values that the schema accepts at a place, if JSON has none of them except null. */
function onlyTakes(schema: StandardSchema, place: Place): string | undefined {
  if (jsonSamples.some((sample) => sample !== null && !isRefused(schema, place, sample))) return undefined;
  return otherSamples.find(([, sample]) => !isRefused(schema, place, sample))?.[0];
}

/** Whether the schema rejects `sample` at the place itself, ignoring problems elsewhere. */
function isRefused(schema: StandardSchema, { path, around }: Place, sample: unknown): boolean {
  try {
    const outcome = schema["~standard"].validate(around(sample));
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
