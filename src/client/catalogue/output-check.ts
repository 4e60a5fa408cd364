// Checks structured results against the output schema of their tool. The validator is loaded when the first one is checked.
import { clip } from "../../base/errors.ts";
import type { Tool } from "../settings/received.ts";
import type { StateCache } from "../../protocol/schema/json-schema.ts";
import { isObject } from "../../base/wire/message.ts";
import type { ClientCore } from "../calls/core.ts";
import { ignore } from "./kinds.ts";

/** Returns why a value does not match, or undefined. */
export type ValueCheck = (value: unknown) => string | undefined;

/**
 * Values and keys of an output schema. Compiling more would block the process for too long. Past it, the client does not
 * check results against it, and `observe` says so.
 */
const maxSchemaElements = 20_000;

/**
 * The compile steps of all checks that a client keeps. Beyond this, the checks used least recently are dropped, and compiled
 * again when needed.
 */
const maxKeptSteps = 3_000_000;

/** The compiled checks of one server's tools, the one used last at the end, with the steps that compiling took. */
export class CompiledChecks {
  readonly #steps = new Map<OutputCheck, number>();
  #total = 0;
  /** The states that the regular expressions of all checks share. */
  states: StateCache | undefined;

  add(check: OutputCheck, steps: number): void {
    this.#steps.set(check, steps);
    this.#total += steps;
    for (const [oldest, itsSteps] of this.#steps) {
      if (this.#total <= maxKeptSteps) return;
      this.#steps.delete(oldest);
      this.#total -= itsSteps;
      oldest.drop();
      this.states?.clear();
    }
  }

  used(check: OutputCheck): void {
    const steps = this.#steps.get(check);
    if (steps === undefined) return;
    this.#steps.delete(check);
    this.#steps.set(check, steps);
  }
}

/** The check of one tool's results, compiled on first use. */
export class OutputCheck {
  readonly #tool: Tool;
  readonly #core: ClientCore;
  readonly #all: CompiledChecks;
  #check: ValueCheck | undefined;
  #compiled: Promise<ValueCheck> | undefined;

  constructor(tool: Tool, core: ClientCore, all: CompiledChecks) {
    this.#tool = tool;
    this.#core = core;
    this.#all = all;
  }

  /** The check, if it is already compiled. */
  get ready(): ValueCheck | undefined {
    this.#all.used(this);
    return this.#check;
  }

  /** Compiles the schema. A schema that cannot be compiled is reported once, and every value matches it. */
  compile(): Promise<ValueCheck> {
    return (this.#compiled ??= this.#compile());
  }

  /** Frees the compiled check. */
  drop(): void {
    this.#check = this.#compiled = undefined;
  }

  async #compile(): Promise<ValueCheck> {
    let check: ValueCheck = () => undefined;
    try {
      const compiled = await compileCheck(this.#tool.outputSchema, this.#all);
      check = this.#check = compiled.check;
      this.#all.add(this, compiled.steps);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const name = JSON.stringify(clip(this.#tool.name));
      ignore(
        this.#core,
        `The results of the tool ${name} are not checked: its outputSchema ${clip(problem)}`,
      );
      this.#check = check;
    }
    return check;
  }
}

/** Throws if the schema is invalid, too large, or could block the process. References are never fetched. */
async function compileCheck(
  schema: unknown,
  all: CompiledChecks,
): Promise<{ readonly check: ValueCheck; readonly steps: number }> {
  if (!isObject(schema)) throw new TypeError("is not an object");
  if (exceeds(schema, maxSchemaElements)) throw new RangeError(`has more than ${maxSchemaElements} values`);
  const { compileJsonSchema, jsonSchemaProblem, remoteBudget, StateCache } =
    await import("../../protocol/schema/json-schema.ts");
  const problem = jsonSchemaProblem(schema);
  if (problem !== undefined) throw new TypeError(problem);
  const states = (all.states ??= new StateCache());
  const { validate, backtracking, steps } = compile(() => compileJsonSchema(schema, remoteBudget, states));
  const [pattern] = backtracking;
  if (pattern !== undefined)
    throw new TypeError(
      `could block this process: it has a pattern that ${pattern.reason}: ${clip(pattern.source)}`,
    );
  const check: ValueCheck = (value) => {
    const outcome = validate(value);
    return outcome.ok ? undefined : outcome.issues.join("; ");
  };
  return { check, steps };
}

function compile<Compiled>(compileSchema: () => Compiled): Compiled {
  try {
    return compileSchema();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`is not a valid JSON Schema: ${reason}`, { cause });
  }
}

/** Whether `root` holds more values and keys than `most`. */
function exceeds(root: unknown, most: number): boolean {
  const waiting = [root];
  for (let count = 0; waiting.length > 0; count++) {
    if (count + waiting.length > most) return true;
    const value = waiting.pop();
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) waiting.push(inner);
  }
  return false;
}
