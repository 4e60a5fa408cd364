// Keywords that validate the value itself: against constants or against further schemas.
import { copyOf } from "../../../base/errors.ts";
import type { Payer } from "./budget.ts";
import type { Keyword, KeywordTable, Surroundings } from "./keyword.ts";
import { type NodeCheck, evaluate, evaluateAlternative, valueKinds, type Node } from "./node.ts";
import type { Failure, Run } from "./run.ts";
import { ValueTable } from "./value-table.ts";

const everyKind = Object.keys(valueKinds) as (keyof typeof valueKinds)[];

function any<Setting>(
  compile: (setting: Setting, surroundings: Surroundings) => NodeCheck<unknown> | undefined,
): Keyword {
  return { about: everyKind, compile };
}

export const constantKeywords: KeywordTable = [
  ["const", any((constant, { payer }) => oneOfValues([constant], "must be", payer))],
  ["enum", any((constants: unknown[], { payer }) => oneOfValues(constants, "must be one of", payer))],
];

export const inPlaceKeywords: KeywordTable = [
  ["$ref", any((reference: string, { referred }) => referred("$ref", reference))],
  [
    "$dynamicRef",
    any((reference: string, { draft, referred }) =>
      draft === 2020 ? referred("$dynamicRef", reference) : undefined,
    ),
  ],
  [
    "$recursiveRef",
    any((reference: string, { draft, referred }) =>
      draft === 2019 ? referred("$recursiveRef", reference) : undefined,
    ),
  ],
  ["allOf", any((schemas: unknown[], { inner }) => allOf(schemas.map(inner)))],
  ["anyOf", any((schemas: unknown[], { inner }) => anyOf(schemas.map(inner)))],
  ["oneOf", any((schemas: unknown[], { inner }) => oneOf(schemas.map(inner)))],
  ["not", any((schema, { inner }) => not(inner(schema)))],
  ["if", any(condition)],
];

/** How many characters of the constants a message shows. */
const shownLength = 300;

function oneOfValues(constants: readonly unknown[], words: string, payer: Payer): NodeCheck<unknown> {
  const table = new ValueTable();
  // References lead into constants too, so the same values may be part of many constants: each pays for its own.
  const keys = new Set(constants.map((constant) => table.add(constant, payer)));
  const problem = `${words} ${textOf(constants)}`;
  return (value, run) => {
    const key = table.find(value, run);
    return (key !== undefined && keys.has(key)) || run.fail(problem);
  };
}

/** The first constants, as a message shows them. */
function textOf(constants: readonly unknown[]): string {
  const shown: string[] = [];
  for (let length = 0, index = 0; index < constants.length && length < shownLength; index++) {
    const text = JSON.stringify(constants[index]);
    shown.push(text.length > shownLength ? copyOf(`${text.slice(0, shownLength)}…`) : text);
    length += text.length;
  }
  return `${shown.join(", ")}${shown.length < constants.length ? ", …" : ""}`;
}

function allOf(nodes: readonly Node[]): NodeCheck<unknown> {
  return (value, run, seen) => {
    for (const node of nodes) if (!evaluate(node, value, run, seen)) return false;
    return true;
  };
}

function anyOf(nodes: readonly Node[]): NodeCheck<unknown> {
  return (value, run, seen) => {
    let fits = false;
    let furthest: Failure | undefined;
    for (const node of nodes) {
      if (evaluateAlternative(node, value, run, seen)) fits = true;
      else furthest = further(furthest, run);
      if (fits && seen === undefined) return true;
    }
    return fits || failAll("anyOf", furthest, run);
  };
}

function oneOf(nodes: readonly Node[]): NodeCheck<unknown> {
  return (value, run, seen) => {
    let fitting = 0;
    let furthest: Failure | undefined;
    for (const node of nodes) {
      if (!evaluateAlternative(node, value, run, seen)) furthest = further(furthest, run);
      else if (++fitting > 1) return run.fail('must match exactly one schema of "oneOf", not more');
    }
    return fitting === 1 || failAll("oneOf", furthest, run);
  };
}

/** Keeps the failure deepest inside the value, which helps most. */
function further(before: Failure | undefined, { problem, path }: Run): Failure | undefined {
  return path !== undefined && path.length > (before?.path?.length ?? 0) ? { problem, path } : before;
}

function failAll(keyword: string, furthest: Failure | undefined, run: Run): false {
  if (furthest !== undefined) return run.failWith(furthest);
  return run.fail(`must match a schema of "${keyword}"; for the last one, it ${run.problem}`);
}

function not(node: Node): NodeCheck<unknown> {
  return (value, run) => !evaluate(node, value, run) || run.fail('must not match the schema of "not"');
}

function condition(setting: unknown, { schema, inner }: Surroundings): NodeCheck<unknown> {
  const test = inner(setting);
  const met = inner(schema["then"] ?? true);
  const unmet = inner(schema["else"] ?? true);
  return (value, run, seen) =>
    evaluate(evaluateAlternative(test, value, run, seen) ? met : unmet, value, run, seen);
}
