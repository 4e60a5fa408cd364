// One way in for every kind of schema: a compiled validator and the JSON Schema that is published for it.
import { ConfigurationError } from "../errors.ts";
import { isObject } from "../wire/message.ts";
import { compileJsonSchema, type JsonSchema, jsonSchemaProblem } from "./json-schema.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard.ts";
import { failure, type Validation } from "./validation.ts";

/** What `input`, `output` and `arguments` take: a Standard Schema (Zod, Valibot, ArkType) or a plain JSON Schema. */
export type AnySchema = StandardSchema | JsonSchema;

/** What a handler receives once a value has been validated against `S`. */
export type Validated<S> = S extends StandardSchema<infer _, infer Output> ? Output : Record<string, unknown>;

/** What has to be given so that it validates against `S`. */
export type Unvalidated<S> = S extends StandardSchema<infer Input, infer _> ? Input : unknown;

/** A schema made ready at registration, so that a call costs only its validation. */
export interface CompiledSchema {
  readonly json: JsonSchema;
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
}

const target = "draft-2020-12";

/** Compiles `schema`, or throws a {@link ConfigurationError} that says which field of what is at fault, and why. */
export function compileSchema(
  schema: AnySchema,
  direction: "input" | "output",
  where: { subject: string; field: string },
): CompiledSchema {
  const fail = (problem: string, cause?: unknown): ConfigurationError =>
    new ConfigurationError("INVALID_SCHEMA", where, problem, { cause });
  if (isStandardSchema(schema)) {
    return { json: published(schema, direction, fail), validate: (value) => validateStandard(schema, value) };
  }
  if (!isObject(schema)) throw fail("is neither a Standard Schema nor a JSON Schema object");
  const problem = jsonSchemaProblem(schema);
  if (problem !== undefined) throw fail(problem);
  try {
    return { json: schema, validate: compileJsonSchema(schema) };
  } catch (cause) {
    throw fail(`is not a valid JSON Schema: ${reason(cause)}`, cause);
  }
}

function published(
  schema: StandardSchema,
  direction: "input" | "output",
  fail: (problem: string, cause?: unknown) => ConfigurationError,
): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined) {
    throw fail(
      `(${vendor}) cannot be published as JSON Schema: wrap it, for Valibot with toStandardJsonSchema()`,
    );
  }
  try {
    return jsonSchema[direction]({ target });
  } catch (cause) {
    throw fail(`cannot be published as JSON Schema: ${reason(cause)}`, cause);
  }
}

function validateStandard(schema: StandardSchema, value: unknown): Validation | Promise<Validation> {
  const outcome = schema["~standard"].validate(value);
  return outcome instanceof Promise ? outcome.then(toValidation) : toValidation(outcome);
}

function toValidation(outcome: {
  value?: unknown;
  issues?: readonly StandardIssue[] | undefined;
}): Validation {
  return outcome.issues ? failure(outcome.issues, describe) : { ok: true, value: outcome.value };
}

function describe(issue: StandardIssue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
