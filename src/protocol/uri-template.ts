// RFC 6570 (level 4) URI templates: parsing, expansion and the public class; the matcher is next door.

import { compileMatcher } from "./uri-template-match.ts";
import type { MatchedValue } from "./uri-template-match.ts";
import type { Expression, Operator, TemplatePart, VariableSpec } from "./uri-template-program.ts";

/** A string, a list, or a map of names to values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

type TemplateValues = Readonly<Record<string, TemplateValue | undefined | null>>;

const SIMPLE: Operator = { first: "", sep: ",", named: false, ifEmpty: "", reserved: false };
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["+", { ...SIMPLE, reserved: true }],
  ["#", { ...SIMPLE, first: "#", reserved: true }],
  [".", { ...SIMPLE, first: ".", sep: "." }],
  ["/", { ...SIMPLE, first: "/", sep: "/" }],
  [";", { ...SIMPLE, first: ";", sep: ";", named: true }],
  ["?", { ...SIMPLE, first: "?", sep: "&", named: true, ifEmpty: "=" }],
  ["&", { ...SIMPLE, first: "&", sep: "&", named: true, ifEmpty: "=" }],
]);
const RESERVED_OPERATORS = "=,!@|";

// Both expressions have one way to match, so they never backtrack. The bounds keep them clear of the stack limit of
// regular expressions: a literal goes on in another round, and a name of more than 65536 characters is refused.
const VARIABLE =
  /((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2})){0,65535})(?:(\*)|:([1-9]\d{0,3})(?!\d))?/y;
// The apostrophe is legal by erratum 6937; the other gaps are the characters section 2.1 leaves out.
const LITERAL = /(?:[!#$&-;=?-[\]_a-z~]|%[\dA-Fa-f]{2}){1,65536}/y;

function fail(source: string, position: number, problem: string): never {
  throw new SyntaxError(`Invalid URI template ${JSON.stringify(source)}: ${problem} at position ${position}`);
}

/** The ucschar and iprivate ranges of RFC 3987: no controls, surrogates, noncharacters or specials. */
function isUnicodeLiteral(code: number): boolean {
  if (code < 0xa0 || (code >= 0xd800 && code <= 0xdfff)) return false;
  if ((code >= 0xfdd0 && code <= 0xfdef) || (code >= 0xfff0 && code <= 0xffff)) return false;
  return (code & 0xfffe) !== 0xfffe && (code < 0xe0000 || code > 0xe0fff);
}

function parseLiteral(source: string, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end;) {
    LITERAL.lastIndex = at;
    const run = LITERAL.exec(source)?.[0];
    if (run !== undefined) {
      text += run;
      at += run.length;
      continue;
    }
    const char = String.fromCodePoint(source.codePointAt(at) ?? 0);
    if (!isUnicodeLiteral(char.codePointAt(0) ?? 0))
      fail(source, at, `illegal character ${JSON.stringify(char)}`);
    text += encodeURIComponent(char);
    at += char.length;
  }
  return text;
}

/** Parses what stands between the braces; `end` is the position of the closing one. */
function parseExpression(source: string, start: number, end: number): Expression {
  const symbol = source.charAt(start);
  if (RESERVED_OPERATORS.includes(symbol)) fail(source, start, `reserved operator ${JSON.stringify(symbol)}`);
  const operator = OPERATORS.get(symbol);
  const variables: VariableSpec[] = [];
  let at = operator === undefined ? start : start + 1;
  for (;;) {
    VARIABLE.lastIndex = at;
    const [spec, name, star, max] = VARIABLE.exec(source) ?? [];
    if (spec === undefined || name === undefined) fail(source, at, "expected a variable name");
    at += spec.length;
    variables.push({ name, explode: star !== undefined, max: max === undefined ? undefined : Number(max) });
    if (at === end) return { operator: operator ?? SIMPLE, variables };
    if (source.charAt(at) !== ",") fail(source, at, `unexpected ${JSON.stringify(source.charAt(at))}`);
    at += 1;
  }
}

function parse(source: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{", at);
    const end = open === -1 ? source.length : open;
    if (end > at) parts.push(parseLiteral(source, at, end));
    if (open === -1) break;
    const close = source.indexOf("}", open);
    if (close === -1) fail(source, open, "unclosed brace");
    parts.push(parseExpression(source, open + 1, close));
    at = close + 1;
  }
  return parts;
}

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
function cutPrefix(value: string, max: number | undefined, { reserved }: Operator): string {
  if (max === undefined) return value;
  const characters = reserved ? value.match(/%[\da-f]{2}(?:%[89ab][\da-f])*|[^]/giu) : [...value];
  return (characters ?? []).slice(0, max).join("");
}

function withName(name: string, text: string, { ifEmpty }: Operator): string {
  return text === "" ? name + ifEmpty : `${name}=${text}`;
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
  operator: Operator,
  { name, explode, max }: VariableSpec,
  value: TemplateValue,
): string | undefined {
  if (typeof value !== "object") {
    const text = encode(cutPrefix(String(value), max, operator), operator);
    return operator.named ? withName(name, text, operator) : text;
  }
  if (max !== undefined) throw new TypeError(`Prefix modifier of "${name}" applied to a list or map`);
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

function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const printed: string[] = [];
  for (const variable of variables) {
    // Own properties only: a template may well name a variable `constructor`.
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    if (value === undefined || value === null) continue;
    const text = expandVariable(operator, variable, value);
    if (text !== undefined) printed.push(text);
  }
  return printed.length === 0 ? "" : operator.first + printed.join(operator.sep);
}

function namesIn(expressions: readonly Expression[]): string[] {
  return [...new Set(expressions.flatMap(({ variables }) => variables.map(({ name }) => name)))];
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
  readonly #match: (uri: string) => Record<string, MatchedValue> | undefined;

  /** Throws SyntaxError, naming the template and the position, when RFC 6570 makes `source` invalid. */
  constructor(source: string) {
    this.source = source;
    this.#parts = parse(source);
    const expressions = this.#parts.filter((part) => typeof part !== "string");
    this.variables = namesIn(expressions);
    this.unnamed = namesIn(expressions.filter(({ operator }) => !operator.named));
    this.#match = compileMatcher(this.#parts);
  }

  /** Throws TypeError for a prefix modifier on a list or map, and URIError for a lone surrogate. */
  expand(values: TemplateValues): string {
    return this.#parts
      .map((part) => (typeof part === "string" ? part : expandExpression(part, values)))
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
    return this.#match(uri);
  }
}
