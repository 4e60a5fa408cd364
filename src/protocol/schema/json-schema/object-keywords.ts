// Keywords about objects. Only own members count, so "constructor" exists only if the value itself has it.
import type { JsonObject } from "../../../base/wire/message.ts";
import type { Keyword, KeywordTable, Surroundings } from "./keyword.ts";
import { type NodeCheck, evaluate, evaluateAlternative, type Node } from "./node.ts";
import type { Pattern } from "./pattern.ts";
import type { Run } from "./run.ts";
import { tooLong } from "./string-keywords.ts";

type NodeTable = readonly (readonly [name: string, node: Node])[];

function record<Setting>(
  compile: (setting: Setting, surroundings: Surroundings) => NodeCheck<JsonObject> | undefined,
): Keyword {
  return { about: ["object"], compile };
}

export const sizeKeywords: KeywordTable = [
  ["maxProperties", record(maxProperties)],
  ["required", record((names: string[]) => requires(names))],
  ["minProperties", record(minProperties)],
  ["dependentRequired", record(dependentRequired)],
];

export const objectKeywords: KeywordTable = [
  ["properties", record((_, surroundings) => members(surroundings))],
  ["patternProperties", record((_, around) => (has(around, "properties") ? undefined : members(around)))],
  [
    "additionalProperties",
    record((_, around) =>
      has(around, "properties") || has(around, "patternProperties") ? undefined : members(around),
    ),
  ],
  ["propertyNames", record(propertyNames)],
  ["dependentSchemas", record((schemas: JsonObject, { inner }) => dependentSchemas(nodesOf(schemas, inner)))],
  ["dependencies", record(dependencies)],
];

/** Runs last, because it needs the members that other keywords have evaluated. */
export const unevaluatedProperties: KeywordTable = [
  ["unevaluatedProperties", record((schema, { inner }) => unevaluated(inner(schema)))],
];

function has({ schema }: Surroundings, keyword: string): boolean {
  return Object.hasOwn(schema, keyword) && schema[keyword] !== undefined;
}

function memberOf(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function nodesOf(schemas: unknown, inner: Surroundings["inner"]): NodeTable {
  return Object.entries((schemas ?? {}) as JsonObject).map(([name, schema]) => [name, inner(schema)]);
}

function maxProperties(limit: number): NodeCheck<JsonObject> {
  const problem = `must have at most ${limit} ${limit === 1 ? "property" : "properties"}`;
  return (value, run) => run.namesOf(value).length <= limit || run.fail(problem);
}

function minProperties(limit: number): NodeCheck<JsonObject> {
  const problem = `must have at least ${limit} ${limit === 1 ? "property" : "properties"}`;
  return (value, run) => run.namesOf(value).length >= limit || run.fail(problem);
}

function requires(names: readonly string[]): NodeCheck<JsonObject> {
  return (value, run) => {
    if (names.length > 4) run.spend(names.length >> 2);
    for (const name of names) {
      if (memberOf(value, name) !== undefined) continue;
      run.fail("is required");
      return run.failAt(name);
    }
    return true;
  };
}

function dependentRequired(lists: Record<string, string[]>): NodeCheck<JsonObject> {
  const rules = Object.entries(lists).map(([name, names]) => [name, requires(names)] as const);
  return (value, run, seen) => {
    run.spend(rules.length >> 2);
    for (const [name, check] of rules)
      if (memberOf(value, name) !== undefined && !check(value, run, seen)) return false;
    return true;
  };
}

function dependentSchemas(nodes: NodeTable): NodeCheck<JsonObject> {
  return (value, run, seen) => {
    run.spend(nodes.length >> 2);
    for (const [name, node] of nodes)
      if (memberOf(value, name) !== undefined && !evaluateAlternative(node, value, run, seen)) return false;
    return true;
  };
}

/** The older keyword that combines `dependentRequired` and `dependentSchemas`. */
function dependencies(setting: JsonObject, { inner }: Surroundings): NodeCheck<JsonObject> {
  const entries = Object.entries(setting);
  const lists = entries.filter(([, rule]) => Array.isArray(rule)) as [string, string[]][];
  const required = dependentRequired(Object.fromEntries(lists));
  const schemas = dependentSchemas(
    entries.filter(([, rule]) => !Array.isArray(rule)).map(([name, schema]) => [name, inner(schema)]),
  );
  return (value, run, seen) => required(value, run, seen) && schemas(value, run, seen);
}

/** With at most this many names, the schema's names are looked up in the value; with more, the value's names in the schema. */
const fewNames = 16;

function members({ schema, inner, pattern }: Surroundings): NodeCheck<JsonObject> {
  const { properties, patternProperties, additionalProperties } = schema;
  const named = nodesOf(properties, inner);
  const patterned = nodesOf(patternProperties, inner).map(
    ([source, node]) => [pattern(source), node] as const,
  );
  const others = additionalProperties === undefined ? undefined : inner(additionalProperties);
  return patterned.length === 0 && others === undefined && named.length <= fewNames
    ? membersByName(named)
    : membersByKey(new Map(named), patterned, others);
}

function membersByName(named: NodeTable): NodeCheck<JsonObject> {
  return (value, run, seen) => {
    run.spend(named.length >> 2);
    for (const [name, node] of named) {
      if (!Object.hasOwn(value, name)) continue;
      if (!evaluate(node, value[name], run)) return run.failAt(name);
      seen?.push(name);
    }
    return true;
  };
}

function membersByKey(
  named: ReadonlyMap<string, Node>,
  patterned: readonly (readonly [Pattern, Node])[],
  others: Node | undefined,
): NodeCheck<JsonObject> {
  return (value, run, seen) => {
    const keys = run.namesOf(value);
    run.spend(keys.length * (seen === undefined ? 2 : 3));
    for (const key of keys) {
      const member = value[key];
      const node = named.get(key);
      if (node !== undefined && !evaluate(node, member, run)) return run.failAt(key);
      const found = patterned.length === 0 ? 0 : matchMember(patterned, key, member, run);
      if (found === undefined) return run.failAt(key);
      const isKnown = node !== undefined || found > 0;
      if (!isKnown && others !== undefined && !evaluate(others, member, run)) return run.failAt(key);
      if (isKnown) seen?.push(key);
    }
    if (others !== undefined) seen?.push(true);
    return true;
  };
}

/** How many patterns match the name of a member; undefined if the member fails one of their schemas. */
function matchMember(
  patterned: readonly (readonly [Pattern, Node])[],
  key: string,
  member: unknown,
  run: Run,
): number | undefined {
  let found = 0;
  for (const [pattern, node] of patterned) {
    const matches = pattern.test(key, run);
    if (matches === undefined) run.fail(tooLong(pattern));
    if (matches === undefined || (matches && !evaluate(node, member, run))) return undefined;
    if (matches) found++;
  }
  return found;
}

function propertyNames(setting: unknown, { inner }: Surroundings): NodeCheck<JsonObject> {
  const node = inner(setting);
  return (value, run) => {
    for (const key of run.namesOf(value)) {
      if (evaluate(node, key, run)) continue;
      run.fail(`has a name that is not allowed: ${run.problem}`);
      return run.failAt(key);
    }
    return true;
  };
}

function unevaluated(node: Node): NodeCheck<JsonObject> {
  return (value, run, seen = []) => {
    run.spend(seen.length * 2);
    const known = new Set<unknown>(seen);
    if (known.has(true)) return true;
    const keys = run.namesOf(value);
    run.spend(keys.length);
    for (const key of keys) {
      if (!known.has(key) && !evaluate(node, value[key], run)) return run.failAt(key);
    }
    seen.push(true);
    return true;
  };
}
