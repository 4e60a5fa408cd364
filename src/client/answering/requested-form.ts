// Reads the form that a server requests, and checks it, so that handlers receive a form of the declared type.
import { clip } from "../../base/errors.ts";
import { type Kind, mismatch, problemOf, texts } from "../../base/kinds.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { FormSchema } from "../../protocol/forms/form-schema.ts";
import { fieldKeywords, titledChoices } from "../../protocol/forms/keywords.ts";

/** Fields of a form. Past it, the client refuses the question. */
const maxFields = 1000;

/** The form, or why the schema is not a form. */
export type ReadForm =
  | { readonly ok: true; readonly form: FormSchema }
  | { readonly ok: false; readonly problem: string };

export function readFormSchema(schema: unknown): ReadForm {
  const { type = "object", properties, required } = isObject(schema) ? schema : {};
  if (type !== "object" || !isObject(properties))
    return none("requestedSchema must be an object schema with properties");
  const named = Object.entries(properties);
  if (named.length > maxFields) return none(`requestedSchema has more than ${maxFields} properties`);
  if (required !== undefined && !texts.is(required))
    return none(`requestedSchema.required ${mismatch(texts.mustBe, required)}`);
  const fields = named.map(([name, field]): [string, unknown] => [name, withType(field)]);
  for (const [name, field] of fields) {
    const problem = kindProblem(field);
    if (problem !== undefined) return none(`requestedSchema.properties.${clip(name)}${problem}`);
  }
  const form = { ...(schema as JsonObject), type, properties: Object.fromEntries(fields) };
  return { ok: true, form: form as unknown as FormSchema };
}

function none(problem: string): ReadForm {
  return { ok: false, problem };
}

/** Some servers leave out the type of a choice of texts, or write it as `anyOf`, which means the same. */
function withType(field: unknown): unknown {
  if (!isObject(field)) return field;
  const { anyOf, ...others } = field;
  const { type, oneOf: titled = anyOf } = others;
  const isChoices = texts.is(field["enum"]) || titledChoices.is(titled);
  if (!isChoices || (type !== undefined && type !== "string")) return field;
  return { ...others, type: "string", ...(titled !== undefined && { oneOf: titled }) };
}

/** What is wrong with a field, as text that continues its path. */
function kindProblem(field: unknown): string | undefined {
  if (!isObject(field)) return " must be an object";
  const known = fieldKeywords.get(field["type"]);
  return known ? fieldProblem(field, known) : `.type ${mismatch(allTypes, field["type"])}`;
}

const allTypes = `one of ${[...fieldKeywords.keys()].join(", ")}`;

function fieldProblem(field: JsonObject, known: Readonly<Record<string, Kind>>): string | undefined {
  for (const [keyword, kind] of Object.entries(known)) {
    const value = Object.hasOwn(field, keyword) ? field[keyword] : undefined;
    if (value === undefined && !kind.isNeeded) continue;
    const problem = problemOf(kind, value);
    if (problem !== undefined) return `.${keyword} ${problem}`;
  }
  return undefined;
}
