// One validation: what it has spent of its budget, how deep it is, and what it found wrong, where.
import { NotJson, Stopped } from "./stops.ts";
import { ValueTable } from "./value-table.ts";

/** Steps that one validation may take; a step is about a twentieth of a microsecond. */
const maxSteps = 1_000_000;
/** What a message holds at most by default. A larger value, such as a handler's result, has a budget larger in proportion. */
const elementsOfBudget = 100_000;
const charactersOfBudget = 4 * 1024 * 1024;
/** Schemas that may be entered within each other: further ones would overflow the stack. */
const maxDepth = 1000;

type Path = readonly (string | number)[];

export interface Failure {
  readonly problem: string;
  /** From the innermost key to the outermost. */
  readonly path: Path | undefined;
}

export class Run {
  steps = 0;
  problem = "";
  path: (string | number)[] | undefined;
  /** The resources that it has entered, from the outermost, where the schema has dynamic references. */
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

  /** The values that this validation has compared. */
  get values(): ValueTable {
    return (this.#values ??= new ValueTable());
  }

  /** The names of the members of `value`. Those of the last object are kept, since many schemas may ask for them. */
  namesOf(value: object): readonly string[] {
    if (this.#named !== value) {
      this.#names = Object.keys(value);
      this.#named = value;
      this.spend(this.#names.length * 4);
      // Not by Object.values, which takes ten times as long for an object with many members.
      for (const name of this.#names)
        if ((value as Record<string, unknown>)[name] === undefined) throw new NotJson();
    }
    return this.#names;
  }

  /** Throws when the budget is used up. */
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

  /** Notes what is wrong with the value at hand. Returns false, for the check that failed to return. */
  fail(problem: string): false {
    this.problem = problem;
    this.path = undefined;
    return false;
  }

  /** Notes that what failed is the member `key` of the value at hand. */
  failAt(key: string | number): false {
    (this.path ??= []).push(key);
    return false;
  }

  failWith({ problem, path }: Failure): false {
    this.problem = problem;
    this.path = path && [...path];
    return false;
  }

  /** The outcome of `judge`, asked once for each schema and value: alternatives would ask again and again, at every level. */
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
