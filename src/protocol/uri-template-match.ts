// Matches a URI against a template: finds the instructions that can reach the end, then makes one greedy walk.

import { type Operator, parse, type TemplatePart, type Variable } from "./uri-template-parse.ts";
import { compile, type TemplateProgram } from "./uri-template-program.ts";
import { type UriRows, UriTable } from "./uri-template-rows.ts";

type MatchedValue = string | string[] | Record<string, string>;
type MatchedValues = Record<string, MatchedValue>;

/** The part of a template that a server needs; `UriTemplate` adds expansion. */
export interface TemplateMatcher {
  readonly source: string;
  readonly variables: readonly string[];
  readonly unnamed: readonly string[];
  match(uri: string): MatchedValues | undefined;
}

/** The list members, pairs or plain value of each variable, still encoded; a pair includes its equals sign. */
type Items = Map<Variable, string[]>;

/** Follows the path that reaches the end, and cuts out the items. */
function walk({ start, accept }: TemplateProgram, reading: UriRows, uri: string): Items {
  const items: Items = new Map();
  let key: { readonly start: number; readonly end: number } | undefined;
  let at = 0;
  for (let instruction = start; instruction !== accept;) {
    const { reads, next, other, variable } = instruction;
    if (next === instruction) {
      const end = reading.endOf(instruction, at);
      if (!variable) {
        key = { start: at, end };
      } else {
        // A key without an equals sign is a pair too: `;x`.
        const text = uri.slice(key?.start ?? at, end) + (key?.end === end ? "=" : "");
        const texts = items.get(variable);
        if (!texts) items.set(variable, [text]);
        else texts.push(text);
        key = undefined;
      }
      at = end;
      instruction = other;
    } else {
      const isRead = reading.isRead(instruction, at);
      if (isRead && reads) at += 1;
      instruction = isRead ? next : other;
    }
  }
  return items;
}

/** Throws URIError for escapes that are not UTF-8. */
function decode(text: string): string {
  return text.includes("%") ? decodeURIComponent(text) : text;
}

/**
 * A list, or a record if all texts are pairs. No record expands to a key that appears twice: then it is a list, if its members may
 * contain an equals sign, or undefined.
 */
function exploded(texts: readonly string[], { reserved }: Operator): MatchedValue | undefined {
  if (!texts.every((text) => text.includes("="))) return texts.map(decode);
  const record: Record<string, string> = Object.create(null);
  for (const text of texts) {
    const cut = text.indexOf("=");
    const key = decode(text.slice(0, cut));
    if (key in record) return reserved ? texts.map(decode) : undefined;
    record[key] = decode(text.slice(cut + 1));
  }
  return record;
}

/** Whether no other variable of its expression has a value. */
function isAlone(variable: Variable, items: Items): boolean {
  return ![...items.keys()].some((other) => other !== variable && other.operator === variable.operator);
}

/** The values of a match; undefined if two appearances of a variable contradict each other. */
function collect(variables: readonly Variable[], items: Items): MatchedValues | undefined {
  const result: MatchedValues = Object.create(null);
  for (const wanted of variables) {
    const { operator, name, explode, max } = wanted;
    const texts = items.get(wanted);
    const [only] = texts ?? [];
    // An empty variable expands like an absent one; report it as absent, which callers can act on.
    if (!texts || only === undefined) continue;
    if (texts.length === 1 && operator.first + only === "" && isAlone(wanted, items)) continue;
    const value = explode ? exploded(texts, operator) : decode(only);
    if (value === undefined) return undefined;
    result[name] ??= value;
    const kept = result[name];
    const isPrefix = max < Infinity && typeof kept === "string" && kept.startsWith(String(value));
    if (kept === value || isPrefix) continue;
    // A list of one expands like a plain value.
    if (JSON.stringify([kept].flat()) !== JSON.stringify([value].flat())) return undefined;
  }
  return result;
}

function namesOf(variables: readonly Variable[]): string[] {
  return [...new Set(variables.map(({ name }) => name))];
}

/** Throws SyntaxError for an invalid template. `match` never backtracks and takes time linear in the URI. */
export function readTemplate(
  source: string,
  parts: readonly TemplatePart[] = parse(source),
): TemplateMatcher {
  // Most URIs belong to another template and differ before the first brace: this rejects them early.
  const prefix = parts[0]?.literal ?? "";
  const variables = parts.flatMap((part) => part.variables);
  const program = compile(parts, variables);
  const rows = new UriTable(program);
  // Longest first, so that `collect` compares each prefix with a value that is at least as long.
  const sorted = variables.toReversed().toSorted((a, b) => b.max - a.max);
  return {
    source,
    variables: namesOf(variables),
    unnamed: namesOf(variables.filter(({ operator }) => !operator.named)),
    match(uri) {
      if (!uri.startsWith(prefix)) return undefined;
      const rest = uri.slice(prefix.length);
      const reading = rows.read(rest);
      if (!reading.leads(program.start, 0)) return undefined;
      try {
        return collect(sorted, walk(program, reading, rest));
      } catch (error) {
        if (error instanceof URIError) return undefined; // escapes that are not UTF-8
        throw error;
      }
    },
  };
}
