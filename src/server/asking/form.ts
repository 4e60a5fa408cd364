// Converts the schema of a form, an object of plain fields, to the form of the client's revision.
import { askFailed, ConfigurationError } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { type Choice, choicesOf } from "../../protocol/forms/choices.ts";
import { fieldKeywords } from "../../protocol/forms/keywords.ts";
import { resolve } from "../../protocol/forms/resolve.ts";
import {
  type AnySchema,
  type CompiledSchema,
  compileSchema,
  type SchemaSettings,
} from "../../protocol/schema/compile.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

type Field = Record<string, unknown>;

/** Clients know no others. The answer is validated against every format. */
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
  const { type, properties, required } = inPlace(schema, schema) ?? {};
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

/** A field without references, which libraries write for named and reused schemas. */
function inPlace(field: unknown, schema: JsonObject): JsonObject | undefined {
  const resolved = isObject(field) ? resolve(field, schema) : undefined;
  const items = resolved?.["items"];
  return isObject(items) ? { ...resolved, items: resolve(items, schema) } : resolved;
}

function fieldFor(name: string, given: JsonObject | undefined, revision: Revision): Field {
  const field = given ? withChoices(given) : {};
  const type = field["type"];
  const known = fieldKeywords.get(type);
  if (!known || (type === "array" && field["items"] === undefined)) {
    const allowed = "a string, number, integer, boolean, choice or list of choices";
    throw unfit(name, `must be ${allowed}: forms cannot be nested`);
  }
  const kept: Field = { type };
  for (const keyword of Object.keys(known)) if (field[keyword] !== undefined) kept[keyword] = field[keyword];
  if (!formats.has(kept["format"])) delete kept["format"];
  // Libraries bound every integer by the safe integers, which would only clutter the form.
  for (const bound of ["minimum", "maximum"])
    if (Math.abs(Number(kept[bound])) === Number.MAX_SAFE_INTEGER) delete kept[bound];
  return revision.forms === "full" ? kept : plain(name, kept, revision);
}

/** Normalises a choice: schema libraries write it in several ways, the protocol in two. */
function withChoices(field: JsonObject): Field {
  const { oneOf: _oneOf, anyOf: _anyOf, enum: values, ...rest } = field;
  const choices = choicesOf(field);
  if (choices?.every(isText)) {
    const isTitled = field["const"] === undefined && values === undefined;
    const listed = isTitled
      ? { oneOf: choices.map(({ value, title = value }) => ({ const: value, title })) }
      : { enum: choices.map(({ value }) => value) };
    return { ...rest, type: "string", ...listed };
  }
  return field["type"] === "array" ? { ...rest, items: listedIn(field["items"]) } : rest;
}

/** The items of a list of choices, in the protocol's form; undefined if they are anything else. */
function listedIn(items: unknown): Field | undefined {
  if (!isObject(items)) return undefined;
  const { type, enum: choices, oneOf } = withChoices(items);
  if (type !== "string") return undefined;
  if (oneOf !== undefined) return { anyOf: oneOf };
  return choices === undefined ? undefined : { type, enum: choices };
}

function isText({ value }: Choice): boolean {
  return typeof value === "string";
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
