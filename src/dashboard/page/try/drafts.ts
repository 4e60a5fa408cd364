// The values that the user has filled in so far: created from defaults or from a value, and converted back to a value.
import { isObject } from "../../../base/wire/message.ts";
import type { Field, Shape } from "./fields.ts";
import { problemOf } from "./rules.ts";
import { numberOf } from "./schema.ts";

/** The content of a field so far. Any field can hold JSON for its whole value. */
export type Draft =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "flag"; readonly isOn: boolean }
  | { readonly kind: "choice"; readonly index: number }
  | { readonly kind: "choices"; readonly indexes: readonly number[] }
  | { readonly kind: "group"; readonly members: readonly Draft[] }
  | { readonly kind: "list"; readonly items: readonly Draft[] }
  | { readonly kind: "variant"; readonly index: number; readonly draft: Draft };

export const absent: Draft = { kind: "absent" };

/** How many drafts are created at once, and how deep. Larger forms are JSON from there. */
const maxDrafts = 400;
const maxDepth = 8;

/** Limits the creation of drafts: schemas may be recursive, and have many alternatives to try. */
class Budget {
  #left = maxDrafts;
  #depth = maxDepth;

  /** What `make` returns; undefined if nothing is left. */
  spend<Made>(make: () => Made): Made | undefined {
    if (this.#left <= 0 || this.#depth <= 0) return undefined;
    this.#left -= 1;
    this.#depth -= 1;
    const made = make();
    this.#depth += 1;
    return made;
  }
}

/** The initial content of a field: its default, or as little as possible. */
export function draftOf(field: Field): Draft {
  return begin(field, new Budget());
}

/** The draft for a value. Parts that the field cannot show are JSON. */
export function draftOfValue(field: Field, value: unknown): Draft {
  return take(field, value, new Budget()) ?? jsonDraft(value);
}

/** The draft of a part that the user adds: it has a value even if it is not required. */
export function addedDraft(field: Field): Draft {
  return begin({ ...field, isRequired: true }, new Budget());
}

export function jsonDraft(value: unknown): Draft {
  return { kind: "json", text: value === undefined ? "" : JSON.stringify(value, undefined, 2) };
}

function begin(field: Field, budget: Budget): Draft {
  const { standard } = field;
  if (standard !== undefined) return take(field, standard, budget) ?? jsonDraft(standard);
  return budget.spend(() => beginEmpty(field, budget)) ?? jsonDraft(undefined);
}

function beginEmpty({ shape, isRequired }: Field, budget: Budget): Draft {
  switch (shape.kind) {
    case "text":
    case "number":
      return { kind: "text", text: "" };
    case "json":
      return jsonDraft(undefined);
    case "flag":
      return isRequired ? { kind: "flag", isOn: false } : absent;
    case "constant":
      return isRequired ? { kind: "choice", index: 0 } : absent;
    case "choice":
      return absent;
    case "choices":
      return { kind: "choices", indexes: [] };
    default:
      return isRequired ? beginInner(shape, budget) : absent;
  }
}

function beginInner(shape: Extract<Shape, { kind: "group" | "list" | "variants" }>, budget: Budget): Draft {
  switch (shape.kind) {
    case "group":
      return { kind: "group", members: shape.members().map((member) => begin(member, budget)) };
    case "list": {
      const length = Math.min(numberOf(shape.rules["minItems"]) ?? 0, 20);
      return { kind: "list", items: Array.from({ length }, () => begin(shape.item(), budget)) };
    }
    case "variants": {
      const first = shape.variants()[0];
      return first ? { kind: "variant", index: 0, draft: begin(first, budget) } : absent;
    }
  }
}

/** The draft that holds this value; undefined if the field cannot show it. */
function take({ shape }: Field, value: unknown, budget: Budget): Draft | undefined {
  return value === undefined ? emptyDraft(shape) : budget.spend(() => takeValue(shape, value, budget));
}

function takeValue(shape: Shape, value: unknown, budget: Budget): Draft | undefined {
  switch (shape.kind) {
    case "text":
      return typeof value === "string" ? { kind: "text", text: value } : undefined;
    case "number":
      return typeof value === "number" ? { kind: "text", text: String(value) } : undefined;
    case "flag":
      return typeof value === "boolean" ? { kind: "flag", isOn: value } : undefined;
    case "json":
      return jsonDraft(value);
    case "constant":
      return isSame(value, shape.value) ? { kind: "choice", index: 0 } : undefined;
    case "choice": {
      const index = shape.options.findIndex((option) => isSame(option.value, value));
      return index < 0 ? undefined : { kind: "choice", index };
    }
    case "choices": {
      const indexes = Array.isArray(value)
        ? value.map((one) => shape.options.findIndex((option) => isSame(option.value, one)))
        : [-1];
      return indexes.includes(-1) ? undefined : { kind: "choices", indexes };
    }
    case "list":
      return Array.isArray(value)
        ? { kind: "list", items: value.map((item) => take(shape.item(), item, budget) ?? jsonDraft(item)) }
        : undefined;
    case "variants":
      return takeVariant(shape.variants(), value, budget);
    case "group":
      return takeGroup(shape.members(), value, budget);
  }
}

function takeVariant(variants: readonly Field[], value: unknown, budget: Budget): Draft | undefined {
  for (const [index, variant] of variants.entries()) {
    const draft = take(variant, value, budget);
    if (draft && draft.kind !== "json" && readDraft(variant, draft).problems.size === 0)
      return { kind: "variant", index, draft };
  }
  return undefined;
}

function takeGroup(members: readonly Field[], value: unknown, budget: Budget): Draft | undefined {
  if (!isObject(value)) return undefined;
  const known = new Set(members.map((member) => member.name));
  if (Object.keys(value).some((key) => !known.has(key))) return undefined;
  return {
    kind: "group",
    members: members.map((member) => {
      const inner = Object.hasOwn(value, member.name) ? value[member.name] : undefined;
      return take(member, inner, budget) ?? jsonDraft(inner);
    }),
  };
}

/** The content of a field without a value. */
function emptyDraft({ kind }: Shape): Draft {
  if (kind === "text" || kind === "number") return { kind: "text", text: "" };
  if (kind === "choices") return { kind: "choices", indexes: [] };
  return kind === "json" ? jsonDraft(undefined) : absent;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The result of reading a draft: the value, undefined if there is none, and the problems by the path of the field. */
export interface Reading {
  readonly value: unknown;
  readonly problems: ReadonlyMap<string, string>;
}

/** The path of a part of a form: the name of a member, or the number of an item. The path of the form is empty. */
export function pathOf(path: string, part: string | number): string {
  return `${path}/${encodeURIComponent(part)}`;
}

/** Converts a draft to its value. */
export function readDraft(field: Field, draft: Draft): Reading {
  const problems = new Map<string, string>();
  const value = read(field, draft, "", problems);
  return { value, problems };
}

function read(field: Field, draft: Draft, path: string, problems: Map<string, string>): unknown {
  const value = valueOf(field, draft, path, problems);
  const problem = problems.has(path) ? undefined : problemOf(field, value);
  if (problem !== undefined) problems.set(path, problem);
  return value;
}

function valueOf(field: Field, draft: Draft, path: string, problems: Map<string, string>): unknown {
  const { shape } = field;
  if (draft.kind === "absent") return undefined;
  if (draft.kind === "json") return parsed(draft.text, path, problems);
  if (draft.kind === "flag") return draft.isOn;
  if (draft.kind === "text") return draft.text === "" ? undefined : ofText(shape, draft.text);
  if (draft.kind === "choice") return optionAt(shape, draft.index);
  if (draft.kind === "choices") {
    const isEmpty = draft.indexes.length === 0 && !field.isRequired;
    return isEmpty ? undefined : draft.indexes.map((index) => optionAt(shape, index));
  }
  if (draft.kind === "variant" && shape.kind === "variants") {
    const variant = shape.variants()[draft.index];
    return variant && read(variant, draft.draft, pathOf(path, draft.index), problems);
  }
  if (draft.kind === "list" && shape.kind === "list")
    return draft.items.map((item, index) => read(shape.item(), item, pathOf(path, index), problems));
  if (draft.kind !== "group" || shape.kind !== "group") return undefined;
  // Defines each property, so that one named `__proto__` is a property too.
  return Object.fromEntries(
    shape
      .members()
      .map((member, index) => [
        member.name,
        read(member, draft.members[index] ?? absent, pathOf(path, member.name), problems),
      ])
      .filter(([, value]) => value !== undefined),
  );
}

function optionAt(shape: Shape, index: number): unknown {
  if (shape.kind === "constant") return shape.value;
  return shape.kind === "choice" || shape.kind === "choices" ? shape.options[index]?.value : undefined;
}

/** A number, if the field takes one and the text is one; otherwise the text, which the rules reject. */
function ofText(shape: Shape, text: string): unknown {
  if (shape.kind !== "number") return text;
  const number = Number(text.trim());
  return text.trim() === "" || !Number.isFinite(number) ? text : number;
}

function parsed(text: string, path: string, problems: Map<string, string>): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    problems.set(path, `This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
