// Forms: fills in the defaults of a requested schema, and checks content against it. Forms are flat, so no validator is needed.
import type { JsonObject } from "../../base/wire/message.ts";
import { choicesOf } from "../../protocol/forms/choices.ts";
import type { FormField, FormSchema } from "../../protocol/forms/form-schema.ts";
import { brokenRule, type Rule } from "../../protocol/forms/rules.ts";

/** The content with the defaults of the schema for fields that it lacks. */
export function withFieldDefaults(content: JsonObject, schema: FormSchema): JsonObject {
  const missing = fieldsOf(schema).filter(
    ([name, field]) => given(content, name) === undefined && field["default"] !== undefined,
  );
  return missing.length === 0
    ? content
    : { ...content, ...Object.fromEntries(missing.map(([name, field]) => [name, field["default"]])) };
}

/** What is wrong with the content of a form; undefined if it matches the schema. */
export function contentProblem(content: JsonObject, schema: FormSchema): string | undefined {
  for (const name of schema.required ?? [])
    if (given(content, name) === undefined) return `${name} is required`;
  const fields = new Map(fieldsOf(schema));
  for (const [name, value] of Object.entries(content)) {
    if (value === undefined) continue;
    const problem = isPlain(value) ? valueProblem(value, fields.get(name)) : "must be a plain value";
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

function valueProblem(value: unknown, field: JsonObject | undefined): string | undefined {
  if (field === undefined) return undefined;
  const rule = brokenRule(field, value);
  return rule === undefined ? choiceProblem(value, field) : worded(rule, field);
}

const types: Readonly<Record<FormField["type"], string>> = {
  string: "a text",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "a list",
};

function worded(rule: Rule, field: JsonObject): string {
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, format } = field;
  if (rule === "type") return `must be ${types[type as FormField["type"]]}`;
  if (rule === "format") return `must be of the format ${String(format)}`;
  if (rule === "minLength" || rule === "maxLength")
    return `must have ${range(minLength, maxLength)} characters`;
  if (rule === "minItems" || rule === "maxItems") return `must have ${range(minItems, maxItems)} items`;
  return `must be ${range(minimum, maximum)}`;
}

function choiceProblem(value: unknown, field: JsonObject): string | undefined {
  const isList = Array.isArray(value);
  const choices = choicesOf(isList ? (field["items"] as JsonObject) : field)?.map((choice) => choice.value);
  if (choices === undefined || [value].flat().every((one) => choices.includes(one))) return undefined;
  return `must ${isList ? "have items of" : "be one of"} ${choices.join(", ")}`;
}

/** The values that a form can carry. */
function isPlain(value: unknown): boolean {
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isList || ["string", "number", "boolean"].includes(typeof value);
}

function range(least: unknown, most: unknown): string {
  if (typeof least !== "number") return `at most ${String(most)}`;
  return typeof most === "number" ? `${least} to ${most}` : `at least ${least}`;
}

function fieldsOf(schema: FormSchema): [name: string, field: JsonObject][] {
  return Object.entries(schema.properties);
}

/** An own member: a form may have a field that every object inherits. */
function given(content: JsonObject, name: string): unknown {
  return Object.hasOwn(content, name) ? content[name] : undefined;
}
