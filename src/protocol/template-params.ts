// The variables of a URI template, derived from its string type.

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
