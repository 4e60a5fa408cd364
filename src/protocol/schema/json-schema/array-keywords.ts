// Keywords about arrays.
import type { Keyword, KeywordTable, Surroundings } from "./keyword.ts";
import { type NodeCheck, evaluate, type Node } from "./node.ts";
import type { Run } from "./run.ts";

type Items = readonly unknown[];

function list<Setting>(
  compile: (setting: Setting, surroundings: Surroundings) => NodeCheck<Items> | undefined,
): Keyword {
  return { about: ["array"], compile };
}

export const lengthKeywords: KeywordTable = [
  ["maxItems", list(maxItems)],
  ["minItems", list(minItems)],
];

export const arrayKeywords: KeywordTable = [
  [
    "prefixItems",
    list((schemas: unknown[], { draft, inner }) => (draft === 2020 ? prefix(schemas.map(inner)) : undefined)),
  ],
  ["items", list(items)],
  ["additionalItems", list(additionalItems)],
  ["contains", list(contains)],
  ["uniqueItems", list((setting) => (setting === true ? uniqueItems : undefined))],
];

/** Runs last, because it needs the items that other keywords have evaluated. */
export const unevaluatedItems: KeywordTable = [
  ["unevaluatedItems", list((schema, { inner }) => unevaluated(inner(schema)))],
];

function maxItems(limit: number): NodeCheck<Items> {
  const problem = `must have at most ${count(limit)}`;
  return (value, run) => value.length <= limit || run.fail(problem);
}

function minItems(limit: number): NodeCheck<Items> {
  const problem = `must have at least ${count(limit)}`;
  return (value, run) => value.length >= limit || run.fail(problem);
}

function count(number: number): string {
  return number === 1 ? "1 item" : `${number} items`;
}

function items(setting: unknown, { schema, draft, inner }: Surroundings): NodeCheck<Items> {
  if (Array.isArray(setting)) return prefix(setting.map(inner));
  const before = schema["prefixItems"];
  return rest(inner(setting), draft === 2020 && Array.isArray(before) ? before.length : 0);
}

function additionalItems(
  setting: unknown,
  { schema, draft, inner }: Surroundings,
): NodeCheck<Items> | undefined {
  const before = schema["items"];
  return draft !== 2020 && Array.isArray(before) ? rest(inner(setting), before.length) : undefined;
}

function prefix(nodes: readonly Node[]): NodeCheck<Items> {
  return (value, run, seen) => {
    const end = Math.min(nodes.length, value.length);
    for (let index = 0; index < end; index++) {
      if (!evaluate(nodes[index] as Node, value[index], run)) return run.failAt(index);
      seen?.push(index);
    }
    return true;
  };
}

function rest(node: Node, start: number): NodeCheck<Items> {
  return (value, run, seen) => {
    for (let index = start; index < value.length; index++)
      if (!evaluate(node, value[index], run)) return run.failAt(index);
    seen?.push(true);
    return true;
  };
}

function contains(setting: unknown, { schema, draft, inner }: Surroundings): NodeCheck<Items> {
  const node = inner(setting);
  const min = (schema["minContains"] as number | undefined) ?? 1;
  const max = (schema["maxContains"] as number | undefined) ?? Infinity;
  const tooFew = `must contain at least ${count(min)} matching "contains"`;
  const tooMany = `must contain at most ${count(max)} matching "contains"`;
  return (value, run, seen) => {
    // Before 2020-12, items that match `contains` do not count as evaluated.
    const marks = draft === 2020 ? seen : undefined;
    let found = 0;
    for (let index = 0; index < value.length; index++) {
      if (found >= min && max === Infinity && marks === undefined) return true;
      if (!evaluate(node, value[index], run)) continue;
      marks?.push(index);
      if (++found > max) return run.fail(tooMany);
    }
    return found >= min || run.fail(tooFew);
  };
}

const uniqueItems: NodeCheck<Items> = (value, run) => {
  if (value.length < 2) return true;
  const isUnique = value.every(isNumber) ? areNumbersUnique(value, run) : areKeysUnique(value, run);
  return isUnique || run.fail("must not have two equal items");
};

function isNumber(item: unknown): item is number {
  return typeof item === "number";
}

function areNumbersUnique(numbers: readonly number[], run: Run): boolean {
  run.spend(numbers.length * 3);
  const sorted = Float64Array.from(numbers).toSorted();
  return sorted.every((number, index) => index === 0 || number !== sorted[index - 1]);
}

function areKeysUnique(value: Items, run: Run): boolean {
  const keys = new Set<string>();
  for (const item of value) {
    const key = run.values.add(item, run);
    if (keys.has(key)) return false;
    keys.add(key);
  }
  return true;
}

function unevaluated(node: Node): NodeCheck<Items> {
  return (value, run, seen = []) => {
    run.spend(seen.length * 2);
    const known = new Set(seen);
    if (known.has(true)) return true;
    for (let index = 0; index < value.length; index++)
      if (!known.has(index) && !evaluate(node, value[index], run)) return run.failAt(index);
    seen.push(true);
    return true;
  };
}
