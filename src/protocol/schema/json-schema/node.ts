// A compiled schema: its types, and the checks for each type, cheap ones first. Evaluation stops at the first failure.
import type { Run } from "./run.ts";
import { NotJson } from "./budget.ts";

/** The kinds of JSON values, as positions in the tables below. */
export const valueKinds = {
  null: 0,
  boolean: 1,
  number: 2,
  integer: 3,
  string: 4,
  array: 5,
  object: 6,
} as const;
const articles = ["null", "a boolean", "a number", "an integer", "a string", "an array", "an object"];

/** The members or indexes of one value that schemas have evaluated so far; `true` means all of them. */
export type Seen = (string | number | true)[];

/** Validates a value of the kind it is registered for, and adds the members that it evaluates to `seen`, if given. */
export type NodeCheck<Value = never> = (value: Value, run: Run, seen: Seen | undefined) => boolean;

/** By kind of value; a kind without checks may be absent. */
export type Checks = NodeCheck<unknown>[][];

export interface Node {
  /** A bit for each kind. */
  types: number;
  typeProblems: readonly string[];
  readonly checks: Checks;
  /** Runs after all checks, because it needs the members that they have evaluated. */
  readonly last: Checks;
  tracks: boolean;
}

const everyType = 2 ** articles.length - 1;

export function makeNode(): Node {
  return { types: everyType, typeProblems: [], checks: [], last: [], tracks: false };
}

export const anyValue: Node = makeNode();
export const noValue: Node = {
  ...makeNode(),
  types: 0,
  typeProblems: articles.map(() => "is not allowed here"),
};

/** Restricts a node to these types. */
export function restrict(node: Node, names: readonly (keyof typeof valueKinds)[]): void {
  node.types = names.reduce((bits, name) => bits | (1 << valueKinds[name]), 0);
  if (names.includes("number")) node.types |= 1 << valueKinds.integer;
  const wanted = names.map((name) => articles[valueKinds[name]]).join(" or ");
  node.typeProblems = articles.map((found) => `must be ${wanted || "nothing"}, not ${found}`);
}

/** Whether `value` matches the node. If not, `run` has the reason. */
export function evaluate(node: Node, value: unknown, run: Run, seen?: Seen): boolean {
  const kind = kindOf(value);
  if ((node.types & (1 << kind)) === 0) {
    run.spend(1);
    return run.fail(node.typeProblems[kind] as string);
  }
  run.enter();
  const fits = node.tracks
    ? evaluateTracked(node, kind, value, run, seen)
    : every(node.checks, kind, value, run, seen);
  run.leave();
  return fits;
}

function every(checks: Checks, kind: number, value: unknown, run: Run, seen?: Seen): boolean {
  const ofKind = checks[kind];
  if (ofKind === undefined) return true;
  for (const check of ofKind) if (!check(value, run, seen)) return false;
  return true;
}

function evaluateTracked(
  node: Node,
  kind: number,
  value: unknown,
  run: Run,
  outer: Seen | undefined,
): boolean {
  const seen: Seen = [];
  if (!every(node.checks, kind, value, run, seen)) return false;
  if (!every(node.last, kind, value, run, seen)) return false;
  if (outer === undefined) return true;
  run.spend(seen.length);
  for (const key of seen) outer.push(key);
  return true;
}

/** Evaluates one alternative: the members that it evaluates count only if it matches. */
export function evaluateAlternative(node: Node, value: unknown, run: Run, seen: Seen | undefined): boolean {
  const mark = seen?.length ?? 0;
  const fits = evaluate(node, value, run, seen);
  if (!fits && seen !== undefined) seen.length = mark;
  return fits;
}

function kindOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return valueKinds.string;
    case "number":
      if (Number.isInteger(value)) return valueKinds.integer;
      if (!Number.isFinite(value)) throw new NotJson();
      return valueKinds.number;
    case "boolean":
      return valueKinds.boolean;
    case "object":
      if (value === null) return valueKinds.null;
      if (Array.isArray(value)) return valueKinds.array;
      if (typeof (value as { toJSON?: unknown }).toJSON === "function") throw new NotJson();
      return valueKinds.object;
    default:
      throw new NotJson();
  }
}
