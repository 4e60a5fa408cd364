// The limits for the cost of a schema, to compile it and to validate each value, and the errors that end either early.

/** The validation exceeds a limit; `message` says which. */
export class Stopped extends Error {}

/** The value contains something that JSON cannot represent, such as an undefined member. */
export class NotJson extends Error {}

/** A keyword cannot be compiled. The error does not know its place; the compiler of the schema around it adds that. */
export class InvalidKeyword extends TypeError {}

/** Counts the steps of a compilation or a validation, and ends it when they exceed a budget. A step takes about 50 nanoseconds. */
export interface Payer {
  spend(steps: number): void;
}

export interface Budget {
  /** Steps of compiling. */
  readonly compileSteps: number;
  /** Steps of one validation; a large value gets more. */
  readonly validateSteps: number;
  /** Instructions of all patterns together, which bounds their memory. */
  readonly maxInstructions: number;
}

/**
 * Steps of a validation. Each takes about 50 nanoseconds; a value larger than the default `maxBytes` gets proportionally
 * more. Past it, the value counts as invalid.
 */
const validateSteps = 1_000_000;

/** For schemas of the author, which are compiled when the program starts. */
export const ownBudget: Budget = {
  compileSteps: 20_000_000,
  validateSteps,
  maxInstructions: 250_000,
};

/** For schemas of a remote party, which are compiled while the program runs. */
export const remoteBudget: Budget = {
  compileSteps: 500_000,
  validateSteps: 500_000,
  maxInstructions: 25_000,
};

/** The steps of compiling one schema. */
export class CompileSteps implements Payer {
  readonly #budget: number;
  steps = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.#budget) throw new Stopped("it takes too many steps to compile");
  }
}

/** How many values and keys `root` holds, and how many characters; each object counts once. */
export function measure(root: unknown): { elements: number; characters: number } {
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
    for (const name of Object.keys(value)) {
      characters += name.length;
      waiting.push((value as Record<string, unknown>)[name]);
    }
  }
  return { elements, characters };
}
