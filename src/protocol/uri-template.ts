// Expands RFC 6570 (level 4) URI templates, and the public class. A server needs only the matcher.

import { readTemplate, type TemplateMatcher } from "./uri-template-match.ts";
import { type Operator, parse, type TemplatePart, type Variable } from "./uri-template-parse.ts";

/** A string, a list, or a map of names to values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

type TemplateValues = Readonly<Record<string, TemplateValue | undefined | null>>;

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

/**
 * A URI template (RFC 6570, level 4) that expands values to a URI and matches a URI to values.
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
  /** The variables that are written without their name: without a value, an expansion shows no trace of them. */
  readonly unnamed: readonly string[];
  readonly #parts: readonly TemplatePart[];
  readonly #matcher: TemplateMatcher;

  /** Throws SyntaxError with the template and the position if `source` is invalid by RFC 6570. */
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
   * Returns values whose expansion is `uri`, or undefined if there are none. If several readings are possible, earlier
   * variables take as much as they can. Values are fully decoded, even where `+` and `#` keep reserved characters: both
   * `%2F` and `/` return `/`. A separator belongs to a value only if the rest does not match otherwise. Only exploded
   * variables return lists and records, in the order of the template: a record has no key twice, and none that is the name of
   * another named variable. The result has no prototype. Takes time and memory linear in the length of `uri`.
   */
  match(uri: string): Record<string, string | string[] | Record<string, string>> | undefined {
    return this.#matcher.match(uri);
  }
}

/**
 * The values that a template captures: a `string`, or a list for an exploded variable. Query variables may be absent.
 *
 * @example
 * ```ts
 * import type { TemplateParams } from "halyard";
 *
 * const params: TemplateParams<"file:///{dir}/{+path}{?rev}"> = { dir: "src", path: "a/b.ts" };
 * ```
 */
export type TemplateParams<Template extends string> = string extends Template
  ? Readonly<Record<string, string>>
  : {
      readonly [Name in Marked<Template> as Name extends `?${string}` ? never : Bare<Name>]: Value<Name>;
    } & {
      readonly [
        Name in Marked<Template> as Name extends `?${infer Optional}` ? Bare<Optional> : never
      ]?: Value<Name>;
    };

/** Every variable with its modifier; those that may be absent begin with a question mark. */
type Marked<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? MarkedList<Expression> | Marked<Rest>
  : never;

type MarkedList<Expression extends string> = Expression extends `${"?" | "&" | ";"}${infer List}`
  ? `?${Split<List>}`
  : Expression extends `${"+" | "#" | "." | "/"}${infer List}`
    ? Split<List>
    : Split<Expression>;

type Split<List extends string> = List extends `${infer First},${infer Rest}` ? First | Split<Rest> : List;

type Bare<Name extends string> = Name extends `${infer Plain}:${string}` | `${infer Plain}*` ? Plain : Name;

type Value<Name extends string> = Name extends `${string}*` ? readonly string[] : string;
