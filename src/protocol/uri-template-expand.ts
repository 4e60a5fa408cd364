// Expands RFC 6570 (level 4) URI templates.
import type { Operator, TemplatePart, Variable } from "./uri-template-parse.ts";

/** A string, a list, or a map of names to values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

export type TemplateValues = Readonly<Record<string, TemplateValue | undefined | null>>;

/** Throws URIError for a lone surrogate, which has no UTF-8 form. */
function encode(value: string, { reserved }: Operator): string {
  if (reserved) {
    // `encodeURI` escapes brackets and existing escapes: this restores both.
    return encodeURI(value).replace(/%5B|%5D|%25([\dA-Fa-f]{2})/g, (found, hex: string | undefined) =>
      hex === undefined ? decodeURIComponent(found) : `%${hex}`,
    );
  }
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The first `max` characters. Where escapes stay as they are, an escaped character counts as one. */
function cutPrefix(value: string, max: number, { reserved }: Operator): string {
  if (max === Infinity) return value;
  const characters = reserved ? value.match(/%[\da-f]{2}(?:%[89ab][\da-f])*|[^]/giu) : [...value];
  return (characters ?? []).slice(0, max).join("");
}

/** For an empty value, `;` writes only the name. */
function withName(name: string, text: string, { sep }: Operator): string {
  return text === "" && sep === ";" ? name : `${name}=${text}`;
}

function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}

/** Members of a list have no key. Undefined members, which only untyped code passes, count as absent. */
function members(
  value: readonly string[] | Readonly<Record<string, string>>,
): [string | undefined, string][] {
  const all: [string | undefined, string][] = isList(value)
    ? value.map((member) => [undefined, member])
    : Object.entries(value);
  return all.filter(([, member]) => member !== undefined && member !== null);
}

function expandVariable(
  { operator, name, explode, max }: Variable,
  value: TemplateValue,
): string | undefined {
  if (typeof value !== "object") {
    const text = encode(cutPrefix(String(value), max, operator), operator);
    return operator.named ? withName(name, text, operator) : text;
  }
  if (max !== Infinity)
    throw new TypeError(
      `"${name}" has a prefix modifier, which cannot apply to a list or map: pass a string`,
    );
  const given = members(value);
  if (given.length === 0) return undefined;
  if (!explode) {
    const flat = given.flatMap(([key, member]) => (key === undefined ? [member] : [key, member]));
    const text = flat.map((member) => encode(member, operator)).join(",");
    return operator.named ? withName(name, text, operator) : text;
  }
  const printed = given.map(([key, member]) => {
    const text = encode(member, operator);
    if (operator.named) return withName(key === undefined ? name : encode(key, operator), text, operator);
    return key === undefined ? text : `${encode(key, operator)}=${text}`;
  });
  return printed.join(operator.sep);
}

function expandExpression(variables: readonly Variable[], values: TemplateValues): string {
  const printed: string[] = [];
  for (const variable of variables) {
    const { name, operator } = variable;
    // Own properties only, because a template may name a variable `constructor`.
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) continue;
    const text = expandVariable(variable, value);
    if (text !== undefined) printed.push(printed.length === 0 ? operator.first : operator.sep, text);
  }
  return printed.join("");
}

/** Throws TypeError for a prefix modifier on a list or map, and URIError for a lone surrogate. */
export function expand(parts: readonly TemplatePart[], values: TemplateValues): string {
  return parts.map(({ literal, variables }) => literal + expandExpression(variables, values)).join("");
}
