// Matching a URI against a template: which instructions can reach the end, then one greedy walk.

import { maxUriLength } from "./uri.ts";
import { parse, type TemplatePart, type Variable } from "./uri-template-parse.ts";
import { plainPattern } from "./uri-template-plain.ts";
import { compile, type Instruction, type Program } from "./uri-template-program.ts";

type MatchedValue = string | string[] | Record<string, string>;
type MatchedValues = Record<string, MatchedValue>;

/** One list member, pair or plain value, still encoded; a pair has its equals sign. */
interface Item {
  readonly variable: Variable;
  readonly text: string;
}

/** What a server needs of a template; `UriTemplate` adds expansion. */
export interface TemplateMatcher {
  readonly source: string;
  readonly variables: readonly string[];
  readonly unnamed: readonly string[];
  match(uri: string): MatchedValues | undefined;
}

/** How many characters a run must still read before the rest of the URI can match; Infinity when it never does. */
type Distance = (instruction: Instruction, at: number) => number;

/**
 * Costs four bytes per instruction and character. Goes from the end to the start, and in the order of the code, so that
 * what an instruction leads to is known before it. `stride` is the most that an instruction reads.
 */
function distances({ code }: Program, uri: string, stride: number): Distance {
  const width = code.length;
  const table = new Float32Array((uri.length + 2) * width).fill(Infinity);
  const distance: Distance = ({ index }, at) => table[at * width + index] ?? Infinity;
  table[uri.length * width] = 0;
  // Once nothing within the stride leads to the end, nothing earlier does.
  for (let at = uri.length, alive = at; at >= 0 && alive - at <= stride; at--) {
    for (const { index, read, next, other, max } of code) {
      const value = distance(other, at) < Infinity ? 0 : distance(next, read(uri, at)) + 1;
      if (value < max + 1) {
        table[at * width + index] = value;
        alive = at;
      }
    }
  }
  return distance;
}

/**
 * The furthest end of a run from which the rest still matches. Only a query ends it sooner, where the template has
 * one: in `{+path}{?rev}` the path would take it too.
 */
function endOf(run: Instruction, distance: Distance, uri: string, start: number): number {
  for (let at = start, left = run.max; ; left--) {
    const end = run.read(uri, at);
    const isQuery = uri[at] === "?" && distance(run.other, at) < Infinity;
    if (isQuery || distance(run, end) >= left) return at;
    at = end;
  }
}

/** Follows the path that reaches the end, one end at each run, and cuts out the items. */
function walk(start: Instruction, distance: Distance, uri: string): Item[] {
  const items: Item[] = [];
  let text = "";
  let at = 0;
  for (let instruction = start; instruction.index > 0;) {
    const { read, next, other, variable } = instruction;
    if (next === instruction) {
      const end = endOf(instruction, distance, uri, at);
      text += uri.slice(at, end);
      if (variable === undefined) {
        text += "=";
      } else {
        items.push({ variable, text });
        text = "";
      }
      at = end;
      instruction = other;
    } else {
      const end = read(uri, at);
      const isRead = distance(next, end) < Infinity;
      if (isRead) at = end;
      instruction = isRead ? next : other;
    }
  }
  return items;
}

/** A list, or a record when all are pairs; undefined for a key given twice, which no record prints. */
function exploded(texts: readonly string[]): MatchedValue | undefined {
  if (!texts.every((text) => text.includes("="))) return texts.map(decodeURIComponent);
  const record: Record<string, string> = Object.create(null);
  for (const text of texts) {
    const cut = text.indexOf("=");
    const key = decodeURIComponent(text.slice(0, cut));
    if (key in record) return undefined;
    record[key] = decodeURIComponent(text.slice(cut + 1));
  }
  return record;
}

/** The values of a match; undefined when two appearances of a variable cannot come from one value. */
function collect(variables: readonly Variable[], items: readonly Item[]): MatchedValues | undefined {
  const result: MatchedValues = Object.create(null);
  for (const wanted of variables) {
    const { operator, name, explode, max } = wanted;
    const printed = items.filter(({ variable }) => variable.operator === operator);
    const texts = printed.filter(({ variable }) => variable === wanted).map(({ text }) => text);
    const [only] = texts;
    // Nothing printed: the variable was empty or absent, and absent is what callers can act on.
    if (only === undefined || (printed.length === 1 && operator.first + only === "")) continue;
    const value = explode ? exploded(texts) : decodeURIComponent(only);
    if (value === undefined) return undefined;
    result[name] ??= value;
    const kept = result[name];
    const isPrefix = max < Infinity && typeof kept === "string" && kept.startsWith(String(value));
    if (kept === value || isPrefix) continue;
    // A list of one prints like a plain value.
    if (JSON.stringify([kept].flat()) !== JSON.stringify([value].flat())) return undefined;
  }
  return result;
}

function namesOf(variables: readonly Variable[]): string[] {
  return [...new Set(variables.map(({ name }) => name))];
}

/** Throws SyntaxError for an invalid template. Its match never backtracks and takes time linear in the URI. */
export function readTemplate(
  source: string,
  parts: readonly TemplatePart[] = parse(source),
): TemplateMatcher {
  // Most URIs belong to some other template, and differ from this one before its first brace.
  const prefix = parts[0]?.literal ?? "";
  const variables = parts.flatMap((part) => part.variables);
  const program = compile(parts, variables);
  const plain = plainPattern(parts);
  const plainItems = (rest: string): Item[] | undefined => {
    const found = plain?.exec(rest);
    return found ? variables.map((variable, at) => ({ variable, text: found[at + 1] ?? "" })) : undefined;
  };
  const readItems = (rest: string): Item[] | undefined => {
    // A character of the template is at most three bytes, which are nine characters when escaped.
    const distance = distances(program, rest, 9 * source.length);
    return distance(program.start, 0) < Infinity ? walk(program.start, distance, rest) : undefined;
  };
  // Those without prefix modifier first, then by falling length: what is cut short is compared with what is less so.
  const sorted = variables.toReversed().toSorted((a, b) => b.max - a.max);
  return {
    source,
    variables: namesOf(variables),
    unnamed: namesOf(variables.filter(({ operator }) => !operator.named)),
    match(uri) {
      if (!uri.startsWith(prefix)) return undefined;
      const rest = uri.slice(prefix.length);
      // Past that length, a regular expression may run out of stack.
      const isPlain = plain !== undefined && rest.length <= maxUriLength;
      const items = isPlain ? plainItems(rest) : readItems(rest);
      try {
        return items && collect(sorted, items);
      } catch (error) {
        if (error instanceof URIError) return undefined; // escapes that are not UTF-8
        throw error;
      }
    },
  };
}
