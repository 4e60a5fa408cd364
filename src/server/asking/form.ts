// Converts the schema of a form, an object of plain fields, to the form of the client's revision.
import { askFailed, ConfigurationError } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  type SchemaSettings,
} from "../../protocol/schema/compile.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

type Field = Record<string, unknown>;

const labels = ["title", "description", "default"];

/** The keywords that each type of field may have. Others are left out of the form, but the answer is validated against them. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  string: [...labels, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"],
  number: [...labels, "minimum", "maximum"],
  integer: [...labels, "minimum", "maximum"],
  boolean: labels,
  array: [...labels, "minItems", "maxItems", "items"],
};

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);

const compiledForms = new WeakMap<object, CompiledSchema>();

/** Compiles the schema of a form, and caches it. */
export function compileForm(schema: AnySchema, settings: SchemaSettings): CompiledSchema {
  let compiled = compiledForms.get(schema);
  if (!compiled) {
    compiled = compileSchema(schema, "input", { subject: "elicitation", field: "schema" }, settings);
    compiledForms.set(schema, compiled);
  }
  return compiled;
}

/** Encodes the form for the client. Throws if the schema is not an object of plain fields that the revision supports. */
export function encodeForm(schema: JsonObject, revision: Revision): JsonObject {
  const { type, properties, required } = (inPlace(schema, schema) ?? {}) as JsonObject;
  if (type !== "object" || !isObject(properties)) throw unfit("schema", "must be the schema of an object");
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    fieldFor(name, inPlace(field, schema), revision),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) && required.length > 0 && { required }),
  };
}

/** A form is at most a list of choices deep, so this ends recursive references. */
const maxDepth = 8;

/** Resolves `$ref` in a field: libraries move named and reused schemas to `$defs`. */
function inPlace(field: unknown, schema: JsonObject, depth = 0): unknown {
  if (!isObject(field) || depth > maxDepth) return undefined;
  const { $ref, ...beside } = field;
  if (typeof $ref !== "string") {
    const { items } = field;
    return items === undefined ? field : { ...field, items: inPlace(items, schema, depth + 1) };
  }
  let target: unknown = schema;
  for (const name of $ref.split("/").slice(1)) target = isObject(target) ? target[name] : undefined;
  return isObject(target) ? inPlace({ ...target, ...beside }, schema, depth + 1) : undefined;
}

function fieldFor(name: string, given: unknown, revision: Revision): Field {
  const field = isObject(given) ? withChoices(given) : {};
  const type = String(field["type"]);
  const known = Object.hasOwn(keywords, type) ? keywords[type] : undefined;
  if (!known || (type === "array" && field["items"] === undefined)) {
    const allowed = "a string, number, integer, boolean, choice or list of choices";
    throw unfit(name, `must be ${allowed}: forms cannot be nested`);
  }
  const kept: Field = { type };
  for (const keyword of known) if (field[keyword] !== undefined) kept[keyword] = field[keyword];
  if (!formats.has(kept["format"])) delete kept["format"];
  if (!isListOf(kept["enum"], isText)) delete kept["enum"];
  // Libraries bound every integer by the safe integers, which would only clutter the form.
  for (const bound of ["minimum", "maximum"])
    if (Math.abs(Number(kept[bound])) === Number.MAX_SAFE_INTEGER) delete kept[bound];
  return revision.forms === "full" ? kept : plain(name, kept, revision);
}

/** Normalises a choice: schema libraries write it in several ways, the protocol in two. */
function withChoices(field: JsonObject): Field {
  const { oneOf, anyOf, ...rest } = field;
  const choices = field["const"] === undefined ? field["enum"] : [field["const"]];
  if (isListOf(choices, isText)) return { ...rest, type: "string", enum: choices };
  const titled = oneOf ?? anyOf;
  if (isListOf(titled, isConstant)) return { ...rest, type: "string", oneOf: titled.map(withTitle) };
  return field["type"] === "array" ? { ...rest, items: choicesOf(field["items"]) } : rest;
}

/** The items of a list of choices, in the protocol's form; undefined if they are anything else. */
function choicesOf(items: unknown): Field | undefined {
  if (!isObject(items)) return undefined;
  const { type, enum: choices, oneOf } = withChoices(items);
  if (type !== "string") return undefined;
  if (oneOf !== undefined) return { anyOf: oneOf };
  return choices === undefined ? undefined : { type, enum: choices };
}

function withTitle(option: JsonObject): Field {
  return { const: option["const"], title: option["title"] ?? option["const"] };
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isConstant(option: unknown): option is JsonObject {
  return isObject(option) && typeof option["const"] === "string";
}

/** Converts a field for older revisions: `enumNames`, no lists of choices, and defaults only for booleans. */
function plain(name: string, field: Field, revision: Revision): Field {
  const { oneOf, ...rest } = field;
  if (field["type"] === "array") {
    const problem = `protocol revision ${revision.date} has no lists of choices (field ${name})`;
    throw askFailed("elicitation/create", problem);
  }
  if (field["type"] !== "boolean") delete rest["default"];
  if (!Array.isArray(oneOf)) return rest;
  const choices = oneOf as readonly JsonObject[];
  return { ...rest, enum: choices.map((one) => one["const"]), enumNames: choices.map((one) => one["title"]) };
}

function unfit(field: string, problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_SCHEMA", { subject: "elicitation", field }, problem);
}
