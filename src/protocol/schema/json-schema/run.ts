// One validation: the steps that it has spent, its depth, and the failure that it found.
import { measure, NotJson, type Payer, Stopped } from "./budget.ts";
import { ValueTable } from "./value-table.ts";

/** A value may take this many steps for its size, even if that exceeds the budget. */
const stepsOfElement = 10;
const stepsOfCharacter = 1 / 4;
/** How deep schemas may nest: more would overflow the stack. */
const maxDepth = 1000;

type Path = readonly (string | number)[];

export interface Failure {
  readonly problem: string;
  /** The keys, innermost first. */
  readonly path: Path | undefined;
}

export class Run implements Payer {
  steps = 0;
  problem = "";
  path: (string | number)[] | undefined;
  /** The entered resources, outermost first, if the schema has dynamic references. */
  readonly entered: object[] = [];
  readonly #root: unknown;
  #budget: number;
  #depth = 0;
  #values: ValueTable | undefined;
  #named: object | undefined;
  #names: readonly string[] = [];
  #remembered: Map<object, Map<object, Failure | true>> | undefined;

  constructor(root: unknown, budget: number) {
    this.#root = root;
    this.#budget = budget;
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
    if (path !== undefined) this.spend(path.length >> 3);
    this.problem = problem;
    this.path = path && [...path];
    return false;
  }

  /** Calls `judge` once for each schema and value, because nested alternatives would repeat it at every level. */
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
    this.#budget = Math.max(this.#budget, elements * stepsOfElement, characters * stepsOfCharacter);
    if (this.steps > this.#budget)
      throw new Stopped("takes too many steps to validate: send less, or simplify the schema");
  }
}
