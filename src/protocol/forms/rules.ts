// Checks a value against the rules of its field, so that a form says the same wherever it is filled in or answered.
import type { JsonObject } from "../../base/wire/message.ts";
import { isDate, isDateTime, isTime } from "../formats/dates.ts";
import { isEmail } from "../formats/hosts.ts";
import { isUri } from "../formats/uris.ts";

/** The keyword whose rule a value breaks. The caller words it. */
export type Rule =
  | "type"
  | "minLength"
  | "maxLength"
  | "format"
  | "minimum"
  | "maximum"
  | "exclusiveMinimum"
  | "exclusiveMaximum"
  | "multipleOf"
  | "minItems"
  | "maxItems";

type Check = (value: unknown, rules: JsonObject) => Rule | undefined;

/** The formats that people are asked for. Forms of the protocol have all but `time`. */
const formats: ReadonlyMap<unknown, (text: string) => boolean> = new Map([
  ["email", isEmail],
  ["uri", isUri],
  ["date", isDate],
  ["date-time", isDateTime],
  ["time", isTime],
]);

const checks: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ["string", ofText],
  ["number", ofNumber],
  ["integer", (value, rules) => (Number.isInteger(value) ? ofNumber(value, rules) : "type")],
  ["boolean", (value) => (typeof value === "boolean" ? undefined : "type")],
  ["array", ofList],
]);

/** The rule of a field that the value breaks; undefined if it breaks none. Rules of wrong types do not count. */
export function brokenRule(field: JsonObject, value: unknown): Rule | undefined {
  return checks.get(field["type"])?.(value, field);
}

/** Its length as JSON Schema counts it. */
export function charactersOf(text: string): number {
  return [...text].length;
}

function ofText(value: unknown, rules: JsonObject): Rule | undefined {
  if (typeof value !== "string") return "type";
  const { minLength, maxLength, format } = rules;
  const length = charactersOf(value);
  if (isBelow(length, minLength)) return "minLength";
  if (isAbove(length, maxLength)) return "maxLength";
  return formats.get(format)?.(value) === false ? "format" : undefined;
}

function ofNumber(value: unknown, rules: JsonObject): Rule | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "type";
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules;
  if (isBelow(value, minimum)) return "minimum";
  if (isAbove(value, maximum)) return "maximum";
  if (value === exclusiveMinimum || isBelow(value, exclusiveMinimum)) return "exclusiveMinimum";
  if (value === exclusiveMaximum || isAbove(value, exclusiveMaximum)) return "exclusiveMaximum";
  const quotient = typeof multipleOf === "number" && multipleOf > 0 ? value / multipleOf : 0;
  return Math.abs(quotient - Math.round(quotient)) > 1e-9 ? "multipleOf" : undefined;
}

function ofList(value: unknown, { minItems, maxItems }: JsonObject): Rule | undefined {
  if (!Array.isArray(value)) return "type";
  if (isBelow(value.length, minItems)) return "minItems";
  return isAbove(value.length, maxItems) ? "maxItems" : undefined;
}

function isBelow(value: number, least: unknown): boolean {
  return typeof least === "number" && value < least;
}

function isAbove(value: number, most: unknown): boolean {
  return typeof most === "number" && value > most;
}
