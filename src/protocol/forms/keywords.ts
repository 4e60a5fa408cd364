// The keywords that each type of field has in a form, and the kinds of their values.
import { flag, type Kind, type Known, needed, text, texts as readonlyTexts } from "../../base/kinds.ts";
import { isObject } from "../../base/wire/message.ts";
import type {
  BooleanField,
  FormChoice,
  FormField,
  ListField,
  NumberField,
  TextField,
} from "./form-schema.ts";

const texts: Kind<string[]> = { is: readonlyTexts.is, mustBe: readonlyTexts.mustBe };
const number: Kind<number> = { is: Number.isFinite, mustBe: "a number" };
export const titledChoices: Kind<FormChoice[]> = {
  is: (value) => Array.isArray(value) && value.every(isTitledChoice),
  mustBe: "a list of choices with const and title, which are texts",
};
const items: Kind<ListField["items"]> = {
  is: (value) =>
    isObject(value) &&
    (value["type"] ?? "string") === "string" &&
    texts.is(value["enum"] ?? []) &&
    titledChoices.is(value["anyOf"] ?? []),
  mustBe: "an object with texts to choose from, as enum or anyOf",
};

function labelled<Standard>(standard: Kind<Standard>): {
  readonly title: Kind<string>;
  readonly description: Kind<string>;
  readonly default: Kind<Standard>;
} {
  return { title: text, description: text, default: standard };
}

const textKeywords: Known<Omit<TextField, "type">> = {
  ...labelled(text),
  minLength: number,
  maxLength: number,
  format: text,
  enum: texts,
  enumNames: texts,
  oneOf: titledChoices,
};
const numberKeywords: Known<Omit<NumberField, "type">> = {
  ...labelled(number),
  minimum: number,
  maximum: number,
};
const flagKeywords: Known<Omit<BooleanField, "type">> = labelled(flag);
const listKeywords: Known<Omit<ListField, "type">> = {
  ...labelled(texts),
  minItems: number,
  maxItems: number,
  items: needed(items),
};

/** By the type of the field. A field may have further keywords, which mean nothing to a form. */
export const fieldKeywords: ReadonlyMap<unknown, Readonly<Record<string, Kind>>> = new Map(
  Object.entries({
    string: textKeywords,
    number: numberKeywords,
    integer: numberKeywords,
    boolean: flagKeywords,
    array: listKeywords,
  } satisfies Record<FormField["type"], Readonly<Record<string, Kind>>>),
);

function isTitledChoice(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { const: chosen, title = "" } = value;
  return typeof chosen === "string" && typeof title === "string";
}
