// Forms: fills in the defaults of a requested schema, and checks content against it. Forms are flat, so no validator is needed.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { FormField, FormSchema } from "../settings/form-schema.ts";

type Check = (value: unknown, field: JsonObject) => string | undefined;

/** The formats that a text of a form may have. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d/i.test(text) && !Number.isNaN(Date.parse(text)),
};

/** What is wrong with a value, by the type of its field. */
const checks: Readonly<Record<FormField["type"], Check>> = {
  string: checkText,
  number: checkNumber,
  integer: (value, field) => (Number.isInteger(value) ? checkNumber(value, field) : "must be an integer"),
  boolean: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
  array: checkList,
};

/** The content with the defaults of the schema for fields that it lacks. */
export function withDefaults(content: JsonObject, schema: FormSchema): JsonObject {
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
  return checks[field["type"] as FormField["type"]](value, field);
}

function checkText(value: unknown, field: JsonObject): string | undefined {
  if (typeof value !== "string") return "must be a text";
  const { minLength, maxLength, format } = field;
  if (isBeyond([...value].length, minLength, maxLength))
    return `must have ${range(minLength, maxLength)} characters`;
  const choices = choicesOf(field);
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(", ")}`;
  const fits = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
  return fits?.(value) === false ? `must be of the format ${String(format)}` : undefined;
}

function checkNumber(value: unknown, { minimum, maximum }: JsonObject): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  return isBeyond(value, minimum, maximum) ? `must be ${range(minimum, maximum)}` : undefined;
}

function checkList(value: unknown, { items, minItems, maxItems }: JsonObject): string | undefined {
  if (!Array.isArray(value)) return "must be a list";
  if (isBeyond(value.length, minItems, maxItems)) return `must have ${range(minItems, maxItems)} items`;
  const choices = isObject(items) ? choicesOf(items) : undefined;
  const isChosen = (item: unknown): boolean => choices === undefined || choices.includes(item);
  return value.every(isChosen) ? undefined : `must have items of ${choices?.join(", ")}`;
}

/** The values of a choice, with titles or without; undefined if the field is none. */
function choicesOf(field: JsonObject): readonly unknown[] | undefined {
  if (Array.isArray(field["enum"])) return field["enum"];
  const titled = field["oneOf"] ?? field["anyOf"];
  return Array.isArray(titled) ? titled.map((one: unknown) => isObject(one) && one["const"]) : undefined;
}

/** The values that a form can carry. */
function isPlain(value: unknown): boolean {
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isList || ["string", "number", "boolean"].includes(typeof value);
}

function isBeyond(value: number, least: unknown, most: unknown): boolean {
  return (typeof least === "number" && value < least) || (typeof most === "number" && value > most);
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
