// Checks structured results against the output schema of their tool. The validator is loaded when the first one is checked.
import { clip } from "../../errors.ts";
import type { Tool } from "../../protocol/model.ts";
import { isObject } from "../../wire/message.ts";
import type { Core } from "../calls/core.ts";
import { ignore } from "./page.ts";

/** Returns why a value does not match, or undefined. */
export type Check = (value: unknown) => string | undefined;

/** How many values the schema of a server may hold: compiling more would block the process for too long. */
const maxSchemaElements = 20_000;

/** The check of one tool's results, compiled on first use. */
export class OutputCheck {
  readonly #tool: Tool;
  readonly #core: Core;
  #check: Check | undefined;
  #compiled: Promise<Check> | undefined;

  constructor(tool: Tool, core: Core) {
    this.#tool = tool;
    this.#core = core;
  }

  /** The check, if it is compiled. */
  get ready(): Check | undefined {
    return this.#check;
  }

  /** Compiles the schema. One that cannot be checked is reported once, and every value matches it. */
  compile(): Promise<Check> {
    return (this.#compiled ??= this.#compile());
  }

  async #compile(): Promise<Check> {
    try {
      this.#check = await compileCheck(this.#tool.outputSchema);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const name = JSON.stringify(clip(this.#tool.name));
      ignore(
        this.#core,
        `The results of the tool ${name} are not checked: its outputSchema ${clip(problem)}`,
      );
      this.#check = () => undefined;
    }
    return this.#check;
  }
}

/** Throws if the schema is invalid, too large, or could block the process. References are never fetched. */
async function compileCheck(schema: unknown): Promise<Check> {
  if (!isObject(schema)) throw new TypeError("is not an object");
  if (exceeds(schema, maxSchemaElements)) throw new RangeError(`has more than ${maxSchemaElements} values`);
  const { compileJsonSchema, jsonSchemaProblem, remoteBudget } = await import("../../schema/json-schema.ts");
  const problem = jsonSchemaProblem(schema);
  if (problem !== undefined) throw new TypeError(problem);
  const { validate, backtracking } = compile(() => compileJsonSchema(schema, remoteBudget));
  const [pattern] = backtracking;
  if (pattern !== undefined)
    throw new TypeError(
      `could block this process: it has a pattern that ${pattern.reason}: ${clip(pattern.source)}`,
    );
  return (value) => {
    const outcome = validate(value);
    return outcome.ok ? undefined : outcome.issues.join("; ");
  };
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
