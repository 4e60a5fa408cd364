// The fields of a form, made from a JSON Schema. Parts that a form cannot show become a field for JSON.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";
import { type Choice, choicesOf } from "../../../protocol/forms/choices.ts";
import { entriesOf, listOf, resolve } from "../../../protocol/forms/resolve.ts";
import { alternativesOf, countAlternatives, numberOf, textOf } from "./schema.ts";

/** What kind of value a field takes, with the keywords of its rules. Inner fields are made when they are needed: schemas may be recursive. */
export type Shape =
  | { readonly kind: "text"; readonly rules: JsonObject; readonly isLong: boolean }
  | { readonly kind: "number"; readonly rules: JsonObject }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly Choice[] }
  | { readonly kind: "choices"; readonly rules: JsonObject; readonly options: readonly Choice[] }
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "group"; readonly members: () => readonly Field[] }
  | { readonly kind: "list"; readonly rules: JsonObject; readonly item: () => Field }
  | { readonly kind: "variants"; readonly variants: () => readonly Field[] }
  /** `reason`: why it takes JSON only; undefined if its schema allows anything. */
  | { readonly kind: "json"; readonly reason?: string | undefined };

export interface Field {
  /** The name of the property; empty for a whole form and for the items of a list. */
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The default of the schema. */
  readonly standard: unknown;
  readonly shape: Shape;
}

/** A form with more fields is written as JSON. */
export const maxMembers = 200;
/** A longer list of options, or of alternatives, takes JSON. */
const maxOptions = 1000;
const maxVariants = 50;

/** The form for a JSON Schema, such as the input schema of a tool. */
export function formOf(schema: unknown): Field {
  const root = isObject(schema) ? schema : {};
  return fieldOf({ name: "", isRequired: true }, root, root);
}

/** A form of texts, such as the arguments of a prompt. */
export function textForm(
  texts: readonly {
    readonly name: string;
    readonly title?: string | undefined;
    readonly description?: string | undefined;
    readonly required?: boolean | undefined;
  }[],
): Field {
  const properties = texts.map(({ name, title, description }) => [
    name,
    { type: "string", title, description },
  ]);
  const required = texts.flatMap(({ name, required: isRequired }) => (isRequired ? [name] : []));
  return formOf({ type: "object", properties: Object.fromEntries(properties), required });
}

type Place = Pick<Field, "name" | "isRequired">;

function fieldOf(place: Place, schema: unknown, root: JsonObject): Field {
  const given = isObject(schema) ? schema : undefined;
  const resolved = given && resolve(given, root);
  const unresolved = {
    kind: "json",
    reason: given && "Its schema refers to something that is not there",
  } as const;
  return {
    ...place,
    label: textOf(resolved?.["title"]) ?? place.name,
    description: textOf(resolved?.["description"]),
    standard: resolved?.["default"],
    shape: resolved ? shapeOf(resolved, root) : unresolved,
  };
}

function shapeOf(schema: JsonObject, root: JsonObject): Shape {
  const options = choicesOf(schema);
  if (options?.length === 1) return { kind: "constant", value: options[0]?.value };
  if (options) return options.length > maxOptions ? tooMany("options") : { kind: "choice", options };
  const count = countAlternatives(schema);
  if (count > maxVariants) return tooMany("alternatives");
  if (count > 0) return { kind: "variants", variants: once(() => variantsOf(schema, root)) };
  return shapes[typeOf(schema)]?.(schema, root) ?? { kind: "json" };
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === "string") return type;
  if (Object.hasOwn(schema, "properties")) return "object";
  return Object.hasOwn(schema, "items") ? "array" : "";
}

const shapes: Readonly<Record<string, (schema: JsonObject, root: JsonObject) => Shape>> = Object.assign(
  Object.create(null) as object,
  {
    string: textShape,
    number: numberShape,
    integer: numberShape,
    boolean: (): Shape => ({ kind: "flag" }),
    null: (): Shape => ({ kind: "constant", value: null }),
    object: groupShape,
    array: listShape,
  },
);

function textShape(schema: JsonObject): Shape {
  const { format, pattern, maxLength } = schema;
  const isFree = textOf(format) === undefined && textOf(pattern) === undefined;
  return { kind: "text", rules: schema, isLong: isFree && (numberOf(maxLength) ?? Infinity) > 100 };
}

function numberShape(schema: JsonObject): Shape {
  return { kind: "number", rules: schema };
}

function groupShape(schema: JsonObject, root: JsonObject): Shape {
  const properties = entriesOf(schema["properties"]);
  if (properties.length > maxMembers) return tooMany("properties");
  // A record: its names are the user's.
  if (properties.length === 0 && (schema["additionalProperties"] || schema["patternProperties"]))
    return { kind: "json" };
  const required = new Set(listOf(schema["required"]));
  const members = once(() =>
    properties.map(([name, property]) => fieldOf({ name, isRequired: required.has(name) }, property, root)),
  );
  return { kind: "group", members };
}

function listShape(schema: JsonObject, root: JsonObject): Shape {
  const { items, prefixItems } = schema;
  if (!isObject(items) || prefixItems !== undefined) return { kind: "json" };
  const rules = { ...schema, type: "array" };
  const options = choicesOf(resolve(items, root) ?? {});
  if (options && options.length <= maxMembers) return { kind: "choices", options, rules };
  return { kind: "list", item: once(() => fieldOf({ name: "", isRequired: true }, items, root)), rules };
}

function variantsOf(schema: JsonObject, root: JsonObject): readonly Field[] {
  return alternativesOf(schema).map((one, index) => {
    const field = fieldOf({ name: "", isRequired: true }, one, root);
    const label = field.label || variantLabel(field.shape) || `Alternative ${index + 1}`;
    return Object.assign(field, { label });
  });
}

const kindWords: Readonly<Record<Shape["kind"], string>> = {
  text: "Text",
  number: "Number",
  flag: "Yes or no",
  choice: "Choice",
  choices: "Choices",
  constant: "",
  group: "",
  list: "List",
  variants: "",
  json: "JSON",
};

/** What an alternative without a title is called: by the constant that tells it from the others, or by its kind. */
function variantLabel(shape: Shape): string {
  if (shape.kind === "constant") return String(shape.value);
  if (shape.kind !== "group") return kindWords[shape.kind];
  const constants = shape
    .members()
    .flatMap((member) => (member.shape.kind === "constant" ? [member.shape.value] : []));
  return constants.length > 0
    ? constants.join(", ")
    : shape
        .members()
        .slice(0, 3)
        .map(({ name }) => name)
        .join(", ");
}

/** How a choice is shown. */
export function labelOf({ title, value }: Choice): string {
  return title ?? (typeof value === "string" ? value : JSON.stringify(value));
}

function tooMany(what: string): Shape {
  return { kind: "json", reason: `It has too many ${what} for a form` };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
