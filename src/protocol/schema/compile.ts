// Compiles any kind of schema to a validator and the JSON Schema that the server publishes.
import { isThenable } from "../../base/async/promises.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { mismatch } from "../../base/kinds.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { compileJsonSchema } from "./json-schema.ts";
import { isKeyword } from "./json-schema/keywords.ts";
import { nativeWarning } from "./json-schema/pattern.ts";
import { leastZod, libraryOf } from "./libraries.ts";
import { withObjectType } from "./object-schema.ts";
import { type Fail, inCurrentDraft, published, reason, type ToJsonSchema } from "./publish.ts";
import { isStandardSchema, type StandardIssue, type StandardSchema } from "./standard.ts";
import { failure, type Validation } from "./validation.ts";

/** A schema for `input`, `output` or `arguments`: a Standard Schema (Zod, Valibot, ArkType) or a plain JSON Schema. */
export type AnySchema = StandardSchema | JsonSchema;

/** A JSON Schema document, in the types of any package. */
export type JsonSchema = { readonly [keyword: string]: Json } | JsonSchemaKeywords;

type Json =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Json[]
  | { readonly [name: string]: Json };

/** Recognises documents whose type has no index signature. An object of other schemas has none of these keywords. */
interface JsonSchemaKeywords {
  readonly $schema?: string | undefined;
  readonly $ref?: string | undefined;
  readonly $defs?: object | undefined;
  readonly definitions?: object | undefined;
  readonly additionalProperties?: unknown;
  readonly type?: string | readonly string[] | undefined;
  readonly properties?: object | undefined;
  readonly items?: unknown;
  readonly required?: boolean | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly unknown[] | undefined;
  readonly oneOf?: readonly unknown[] | undefined;
  readonly allOf?: readonly unknown[] | undefined;
}

/** An object of schemas, which other packages accept. It is part of the constraint so that the compiler can name the fix. */
export type RawShape = { readonly [name: string]: StandardSchema };

/** Beside a schema `S`, it makes the compiler's error for a raw shape name the fix. */
export type Wrapped<S> = S extends RawShape
  ? keyof S extends never
    ? unknown
    : "This is a raw shape: wrap it in z.object({ … })"
  : unknown;

/** The arguments that a handler receives: none without a schema. */
// oxlint-disable-next-line typescript/no-empty-object-type
export type ValidatedArguments<S> = AnySchema extends S ? {} : Validated<S>;

/** The value that a handler receives after validation against `S`. */
export type Validated<S> = S extends StandardSchema<infer _, infer Output> ? Output : Record<string, unknown>;

/** A value that can be validated against `S`. */
export type Unvalidated<S> = S extends StandardSchema<infer Input, infer _> ? Input : unknown;

/** The server's options for schemas, and its log, which warns of patterns that may be slow. */
export interface SchemaSettings {
  readonly toJsonSchema?: ToJsonSchema | undefined;
  readonly logger: { warn(message: string): void };
}

/** A schema compiled at registration, so that a call costs only its validation. */
export interface CompiledSchema {
  readonly json: JsonObject;
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
}

/** Compiles `schema`, or throws a {@link ConfigurationError} that names the definition, the field and the problem. */
export function compileSchema(
  schema: AnySchema,
  direction: "input" | "output",
  where: { subject: string; field: string },
  settings: SchemaSettings,
): CompiledSchema {
  const fail: Fail = (problem, cause) => new ConfigurationError("INVALID_SCHEMA", where, problem, { cause });
  if (isStandardSchema(schema)) {
    const json = published(schema, direction, settings.toJsonSchema, fail);
    return { json: withObjectType(json), validate: (value) => validateStandard(schema, value) };
  }
  const problem = notJsonSchema(schema);
  if (problem) throw fail(problem);
  const json = withObjectType(inCurrentDraft(schema as JsonObject, fail));
  try {
    const { validate, backtracking } = compileJsonSchema(json);
    for (const pattern of backtracking)
      settings.logger.warn(`${where.subject}: ${where.field} ${nativeWarning(pattern)}`);
    return { json, validate };
  } catch (cause) {
    throw fail(`is not a valid JSON Schema: ${reason(cause)}`, cause);
  }
}

/** Compiles the schema in a field of a definition, if it has one. */
export function compileField(
  schema: AnySchema | undefined,
  direction: "input" | "output",
  where: { subject: string; field: string },
  settings: SchemaSettings,
): CompiledSchema | undefined {
  return schema === undefined ? undefined : compileSchema(schema, direction, where, settings);
}

/** Why `given` is not a JSON Schema, or undefined. Most often it is an object of schemas, which other packages accept. */
function notJsonSchema(given: unknown): string | undefined {
  if (typeof given === "function")
    return "ast" in given
      ? "is an Effect Schema: wrap it in Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(…))"
      : "is a function: pass what it returns, as in z.object({ … })";
  if (!isObject(given) || isThenable(given))
    return mismatch("a Standard Schema, such as z.object({ … }), or a JSON Schema object", given);
  const inside = Object.values(given);
  const shape = inside.find(isStandardSchema);
  if (shape !== undefined) return `is a raw shape: wrap it in ${libraryOf(shape).object}`;
  const isProperties =
    inside.length > 0 &&
    inside.every((value) => isObject(value) && typeof value["type"] === "string") &&
    !Object.entries(given).some(([name, value]) => isKeyword(name, value));
  if (isProperties) return 'is an object of properties: write { type: "object", properties: { … } }';
  const strange = strangeIn(given, "", new Set());
  return strange && `is not a JSON Schema: ${strange}`;
}

/** Finds a value that JSON cannot represent: the published schema would differ or fail. */
function strangeIn(node: unknown, path: string, known: Set<unknown>, depth = 0): string | undefined {
  const at = path === "" ? "it" : path.slice(1);
  if (depth > 100) return `${at} nests too deeply or contains itself`;
  if (isStandardSchema(node)) return `${at} is a Standard Schema: use one kind throughout`;
  if (!["object", "function", "symbol", "bigint"].includes(typeof node) || node === null) return undefined;
  const prototype: unknown = typeof node === "object" ? Object.getPrototypeOf(node) : node;
  const isPlain = Array.isArray(node) || prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return `${at} is not a plain object; if it is a Zod schema, use zod ${leastZod} or later`;
  // The same object may appear in many places, so each is visited once.
  if (known.has(node)) return undefined;
  for (const [name, value] of Object.entries(node as object)) {
    const found = strangeIn(value, `${path}.${name}`, known, depth + 1);
    if (found !== undefined) return found;
  }
  known.add(node);
  return undefined;
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
