// One validation: the steps that it has spent, its depth, and the failure that it found.
import { NotJson, Stopped } from "./stops.ts";
import { ValueTable } from "./value-table.ts";

/** How many steps one validation may take; a step takes about 50 nanoseconds. */
const maxSteps = 1_000_000;
/** The default limits of a message. A larger value, such as a handler's result, gets a proportionally larger budget. */
const elementsOfBudget = 100_000;
const charactersOfBudget = 4 * 1024 * 1024;
/** How deep schemas may nest: more would overflow the stack. */
const maxDepth = 1000;

type Path = readonly (string | number)[];

export interface Failure {
  readonly problem: string;
  /** The keys, innermost first. */
  readonly path: Path | undefined;
}

export class Run {
  steps = 0;
  problem = "";
  path: (string | number)[] | undefined;
  /** The entered resources, outermost first, if the schema has dynamic references. */
  readonly entered: object[] = [];
  readonly #root: unknown;
  #budget = maxSteps;
  #depth = 0;
  #values: ValueTable | undefined;
  #named: object | undefined;
  #names: readonly string[] = [];
  #remembered: Map<object, Map<object, Failure | true>> | undefined;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** The values that this validation has compared so far. */
  get values(): ValueTable {
    return (this.#values ??= new ValueTable());
  }

  /** The names of the members of `value`. It caches those of the last object, since many schemas may need them. */
  namesOf(value: object): readonly string[] {
    if (this.#named !== value) {
      this.#names = Object.keys(value);
      this.#named = value;
      this.spend(this.#names.length * 4);
      // `Object.values` takes ten times as long for an object with many members.
      for (const name of this.#names)
        if ((value as Record<string, unknown>)[name] === undefined) throw new NotJson();
    }
    return this.#names;
  }

  /** Throws if the steps exceed the budget. */
  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.#budget) this.#stretch();
  }

  enter(): void {
    if (++this.steps > this.#budget) this.#stretch();
    if (++this.#depth > maxDepth) throw new Stopped(`nests more than ${maxDepth} schemas deep: flatten it`);
  }

  leave(): void {
    this.#depth--;
  }

  /** Records a problem with the current value. Returns false, for the failing check to return. */
  fail(problem: string): false {
    this.problem = problem;
    this.path = undefined;
    return false;
  }

  /** Records that the failure is in the member `key` of the current value. */
  failAt(key: string | number): false {
    (this.path ??= []).push(key);
    return false;
  }

  failWith({ problem, path }: Failure): false {
    this.problem = problem;
    this.path = path && [...path];
    return false;
  }

  /** Calls `judge` once for each schema and value, since nested alternatives would repeat it at every level. */
  remember(schema: object, value: object, judge: () => boolean): boolean {
    this.#remembered ??= new Map();
    let outcomes = this.#remembered.get(schema);
    if (outcomes === undefined) this.#remembered.set(schema, (outcomes = new Map()));
    let outcome = outcomes.get(value);
    if (outcome === undefined) {
      outcome = judge() || { problem: this.problem, path: this.path && [...this.path] };
      outcomes.set(value, outcome);
    }
    return outcome === true || this.failWith(outcome);
  }

  #stretch(): void {
    const { elements, characters } = measure(this.#root);
    const times = Math.max(1, elements / elementsOfBudget, characters / charactersOfBudget);
    this.#budget = maxSteps * times;
    if (this.steps > this.#budget)
      throw new Stopped("takes too many steps to validate: send less, or simplify the schema");
  }
}

function measure(root: unknown): { elements: number; characters: number } {
  const known = new Set<unknown>();
  const waiting = [root];
  let elements = 0;
  let characters = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    elements++;
    if (typeof value === "string") characters += value.length;
    if (typeof value !== "object" || value === null || known.has(value)) continue;
    known.add(value);
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item);
      continue;
    }
    for (const name of Object.keys(value)) waiting.push((value as Record<string, unknown>)[name]);
  }
  return { elements, characters };
}
