// The public class of URI templates. A server needs only the matcher, and a form only expansion.

import { expand, type TemplateValues } from "./uri-template-expand.ts";
import { readTemplate, type TemplateMatcher } from "./uri-template-match.ts";
import { parse, type TemplatePart } from "./uri-template-parse.ts";

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
    return expand(this.#parts, values);
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
