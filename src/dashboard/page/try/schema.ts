// Spreads the alternatives of a JSON Schema out, for a form that shows one of them.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";
import { listOf, merged } from "../../../protocol/forms/resolve.ts";

/** Keywords that describe a value. An alternative with none of them only restricts which values go together. */
const shaping = ["type", "properties", "items", "enum", "const", "$ref", "oneOf", "anyOf", "allOf"];

/** How many alternatives a schema has that a form can show: 0 if they only say which values go together. */
export function countAlternatives({ type, oneOf, anyOf }: JsonObject): number {
  if (Array.isArray(type)) return type.length;
  const alternatives = listOf(oneOf ?? anyOf);
  const areShapes = alternatives.every(
    (one) => isObject(one) && shaping.some((keyword) => Object.hasOwn(one, keyword)),
  );
  return areShapes ? alternatives.length : 0;
}

/** The alternatives of a schema, each with what they share. */
export function alternativesOf(schema: JsonObject): readonly JsonObject[] {
  // The title and the default of the whole are not those of each alternative.
  const { oneOf, anyOf, title: _title, description: _description, default: _default, ...shared } = schema;
  const { type } = shared;
  if (Array.isArray(type)) return type.map((one: unknown) => merged(shared, { type: one }));
  return (listOf(oneOf ?? anyOf) as readonly JsonObject[]).map((one) => {
    const { allOf } = one;
    return Object.assign({}, one, { allOf: [shared, ...listOf(allOf)] });
  });
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
