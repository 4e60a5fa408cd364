// Expansion of RFC 6570 (level 4) URI templates, and the public class; a server needs only the matcher next door.

import { readTemplate, type TemplateMatcher } from "./uri-template-match.ts";
import { type Operator, parse, type TemplatePart, type Variable } from "./uri-template-parse.ts";

/** A string, a list, or a map of names to values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

type TemplateValues = Readonly<Record<string, TemplateValue | undefined | null>>;

/** Throws URIError for a lone surrogate, which has no UTF-8 form. */
function encode(value: string, { reserved }: Operator): string {
  if (reserved) {
    // encodeURI knows neither brackets nor escapes that are already there: both go back to what they were.
    return encodeURI(value).replace(/%5B|%5D|%25([\dA-Fa-f]{2})/g, (found, hex: string | undefined) =>
      hex === undefined ? decodeURIComponent(found) : `%${hex}`,
    );
  }
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The first `max` characters; where escapes pass through, an escaped character counts as the one it stands for. */
function cutPrefix(value: string, max: number, { reserved }: Operator): string {
  if (max === Infinity) return value;
  const characters = reserved ? value.match(/%[\da-f]{2}(?:%[89ab][\da-f])*|[^]/giu) : [...value];
  return (characters ?? []).slice(0, max).join("");
}

/** Of an empty value, `;` prints only the name. */
function withName(name: string, text: string, { sep }: Operator): string {
  return text === "" && sep === ";" ? name : `${name}=${text}`;
}

function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}

/** Members of a list have no key. Undefined members, which only untyped callers have, count as absent. */
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
  if (max !== Infinity) throw new TypeError(`Prefix modifier of "${name}" applied to a list or map`);
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
    // Own properties only: a template may well name a variable `constructor`.
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) continue;
    const text = expandVariable(variable, value);
    if (text !== undefined) printed.push(printed.length === 0 ? operator.first : operator.sep, text);
  }
  return printed.join("");
}

/**
 * A URI template per RFC 6570, level 4, that expands and matches.
 *
 * @example
 * ```ts
 * import { UriTemplate } from "halyard";
 *
 * const template = new UriTemplate("note:///{id}{?rev}");
 * const params = template.match("note:///a%20b?rev=2"); // { id: "a b", rev: "2" }
 * ```
 */
export class UriTemplate {
  readonly source: string;
  /** Variable names in order of appearance, each once. */
  readonly variables: readonly string[];
  /** Those that an expansion has no other trace of: without a value they are part of no useful URI. */
  readonly unnamed: readonly string[];
  readonly #parts: readonly TemplatePart[];
  readonly #matcher: TemplateMatcher;

  /** Throws SyntaxError, naming the template and the position, when RFC 6570 makes `source` invalid. */
  constructor(source: string) {
    this.#parts = parse(source);
    this.#matcher = readTemplate(source, this.#parts);
    this.source = source;
    this.variables = this.#matcher.variables;
    this.unnamed = this.#matcher.unnamed;
  }

  /** Throws TypeError for a prefix modifier on a list or map, and URIError for a lone surrogate. */
  expand(values: TemplateValues): string {
    return this.#parts
      .map(({ literal, variables }) => literal + expandExpression(variables, values))
      .join("");
  }

  /**
   * Finds values whose expansion is `uri`, undefined when there are none. Where several readings exist,
   * earlier variables take as much as they can. Values are fully decoded, also where `+` and `#` let
   * reserved characters through: `%2F` and `/` come back alike. Only exploded variables give lists and
   * records, in the order of the template. The result has no prototype. Costs time and memory linear in
   * the length of `uri`.
   */
  match(uri: string): Record<string, string | string[] | Record<string, string>> | undefined {
    return this.#matcher.match(uri);
  }
}
