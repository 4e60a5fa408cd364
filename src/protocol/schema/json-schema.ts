// Checks and compiles plain JSON Schemas once, at registration, and validates values in time linear in their size.
import type { JsonObject } from "../../base/wire/message.ts";
import { type Budget, ownBudget, Stopped } from "./json-schema/budget.ts";
import { compileDocument } from "./json-schema/compile.ts";
import type { SchemaDraft } from "./json-schema/keyword.ts";
import { keywordProblem } from "./json-schema/keywords.ts";
import { evaluate, type Node } from "./json-schema/node.ts";
import type { Backtracking } from "./json-schema/pattern.ts";
import { StateCache } from "./json-schema/regex-automaton.ts";
import { Run } from "./json-schema/run.ts";
import { failure, type Validation } from "./validation.ts";

export { remoteBudget } from "./json-schema/budget.ts";
export { StateCache } from "./json-schema/regex-automaton.ts";

const drafts: Readonly<Record<string, SchemaDraft>> = {
  "https://json-schema.org/draft/2020-12/schema": 2020,
  "https://json-schema.org/draft/2019-09/schema": 2019,
  "http://json-schema.org/draft-07/schema": 7,
  "http://json-schema.org/draft-04/schema": 4,
};

/** Why `schema` is invalid, or undefined: an unknown dialect, or a keyword with a wrong value. */
export function jsonSchemaProblem(schema: JsonObject): string | undefined {
  if (dialectOf(schema) === undefined) {
    return `has the dialect ${JSON.stringify(schema["$schema"])}, which is not supported: use ${Object.keys(drafts)[0]}`;
  }
  return keywordProblem(schema);
}

export interface CompiledJsonSchema {
  readonly validate: (value: unknown) => Validation;
  /** Patterns that only a backtracking matcher can match. */
  readonly backtracking: readonly Backtracking[];
  /** The steps that compiling took. The result takes at most about 40 bytes for each. */
  readonly steps: number;
}

/** A compiled schema, and the steps that one validation may take. */
interface Validator {
  readonly root: Node;
  readonly maxSteps: number;
}

/**
 * Compiles a schema without problems. Throws if a reference has no target or refers to itself without end, or if the schema costs
 * more than the budget. `states`: where its patterns keep their states.
 */
export function compileJsonSchema(
  schema: JsonObject,
  budget: Budget = ownBudget,
  states: StateCache = new StateCache(),
): CompiledJsonSchema {
  const { root, backtracking, steps } = compileDocument(schema, dialectOf(schema) ?? 2020, budget, states);
  const validator = { root, maxSteps: budget.validateSteps };
  // Only evaluation finds a schema that refers to itself without end, so try one value now.
  evaluate(root, {}, new Run({}, budget.validateSteps));
  return { validate: (value) => validateAsJson(validator, value), backtracking, steps };
}

/** Validates a value that JSON cannot represent, such as one with an undefined member, as JSON would write it. */
function validateAsJson(validator: Validator, value: unknown): Validation {
  try {
    return validate(validator, value, value);
  } catch {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined
      ? failure(["is not JSON"], String)
      : validate(validator, JSON.parse(text) as unknown, value);
  }
}

function validate({ root, maxSteps }: Validator, value: unknown, given: unknown): Validation {
  const run = new Run(value, maxSteps);
  try {
    if (evaluate(root, value, run)) return { ok: true, value: given };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return failure([error.message], String);
  }
  return failure([run], describe);
}

/** How many characters of a name the message shows. */
const shownName = 100;

function describe({ problem, path }: Run): string {
  if (!path) return problem;
  const names = path.toReversed().map((key) => String(key).slice(0, shownName));
  return `${names.join(".")}: ${problem}`;
}

/** The draft by which a schema is read, or undefined if it names an unsupported one. */
export function dialectOf(schema: JsonObject): SchemaDraft | undefined {
  const dialect = schema["$schema"];
  if (dialect === undefined) return 2020;
  if (typeof dialect !== "string") return undefined;
  const name = dialect.replace(/#$/, "");
  return Object.hasOwn(drafts, name) ? drafts[name] : undefined;
}
