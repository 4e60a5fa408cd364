// Matching a URI against a compiled template: which instructions can reach the end, then one greedy walk.

import { ANY, CATEGORY, compile, UNRESERVED } from "./uri-template-program.ts";
import type { Instruction, Program, Slot, TemplatePart, VariableSpec } from "./uri-template-program.ts";

export type MatchedValue = string | string[] | Record<string, string>;

/** Raw, still encoded text of one list member, pair or plain value. */
interface Item {
  key: string | undefined;
  text: string;
}

const PERCENT = 37;

function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

/** The category of the character at `at`; a percent-escape has them all, as every run admits it. */
function categoryAt(uri: string, at: number): number {
  const code = uri.charCodeAt(at);
  if (code !== PERCENT) return CATEGORY[code] ?? 0;
  return isHex(uri.charCodeAt(at + 1)) && isHex(uri.charCodeAt(at + 2)) ? ANY : 0;
}

/** 0 for an escaped UTF-8 continuation byte (%80 to %BF), which belongs to the character before it. */
function weight(uri: string, at: number): number {
  return uri.charCodeAt(at) === PERCENT && "89ABab".includes(uri.charAt(at + 1)) ? 0 : 1;
}

/** Whether an instruction lets pass what is at `at`; only literals and guards look. */
function passes({ kind, text, names }: Instruction, uri: string, at: number): boolean {
  if (kind === "literal") return text === "" || uri.startsWith(text, at);
  if (kind === "run") return true;
  return !names.some(
    (name) => uri.startsWith(name, at) && (categoryAt(uri, at + name.length) & UNRESERVED) === 0,
  );
}

/** The reach of a run that takes the character at `at` when it has `rest` behind it. */
function prolong({ max }: Instruction, rest: number, uri: string, at: number): number {
  if (rest === 0 || max === undefined) return rest;
  const taken = rest + weight(uri, at);
  return taken > max + 1 ? 0 : taken;
}

/**
 * For each position and instruction: 0 when the end is out of reach, else 1; for a run under a prefix
 * modifier 1 + the characters it must still take. Costs two bytes per instruction and character.
 */
function reachability(program: Program, uri: string, start: number): Uint16Array {
  const { code, stride, offset, other, mask } = program;
  const width = code.length;
  const reach = new Uint16Array((uri.length + 1 + stride) * width);
  reach[uri.length * width] = 1;
  // Once no position within the stride of an instruction reaches the end, no earlier one will.
  for (let at = uri.length, alive = at; at >= start && alive - at <= stride; at--) {
    const row = at * width;
    const category = categoryAt(uri, at);
    const behind = category === ANY ? row + 3 * width : row + width;
    for (let pc = 1; pc < width; pc++) {
      const instruction = code[pc];
      if (instruction === undefined) continue;
      let value = 0;
      if (reach[row + (offset[pc] ?? 0)] !== 0 && passes(instruction, uri, at)) value = 1;
      else if (reach[row + (other[pc] ?? 0)] !== 0) value = 1;
      else if ((category & (mask[pc] ?? 0)) !== 0)
        value = prolong(instruction, reach[behind + pc] ?? 0, uri, at);
      if (value === 0) continue;
      reach[row + pc] = value;
      alive = at;
    }
  }
  return reach;
}

/**
 * The furthest end of a run from which the rest still matches; scans each character once per run. Only a query ends it
 * sooner, where the template has one: in `{+path}{?rev}` the path would take it too.
 */
function endOf(run: Instruction, width: number, reach: Uint16Array, uri: string, start: number): number {
  let end = start;
  let left = run.max ?? Number.POSITIVE_INFINITY;
  let at = start;
  for (;;) {
    if (reach[at * width + run.next] !== 0) {
      end = at;
      if (run.mask > UNRESERVED && uri[at] === "?") return end;
    }
    const category = categoryAt(uri, at);
    left -= weight(uri, at);
    if ((category & run.mask) === 0 || left < 0) return end;
    at += category === ANY ? 3 : 1;
  }
}

/** Follows the path that reaches the end, one end at each run, and cuts out what each slot covers. */
function walk(
  { code, entry, slots, offset }: Program,
  reach: Uint16Array,
  uri: string,
  start: number,
): Item[][] {
  const width = code.length;
  const found = slots.map((): Item[] => []);
  let at = start;
  let pc = entry;
  for (let instruction = code[pc]; instruction !== undefined && pc !== 0; instruction = code[pc]) {
    const { kind, next, other, text, slot, opens, isKey } = instruction;
    const taken =
      other === undefined || (reach[at * width + (offset[pc] ?? 0)] !== 0 && uri.startsWith(text, at));
    if (opens) found[slot]?.push({ key: undefined, text: "" });
    if (kind === "run") {
      const end = endOf(instruction, width, reach, uri, at);
      const item = found[slot]?.at(-1);
      if (item !== undefined) item[isKey ? "key" : "text"] = uri.slice(at, end);
      at = end;
    }
    if (taken) at += text.length;
    pc = taken ? next : other;
  }
  return found;
}

/** A list, or a record when all items are pairs; undefined for a key given twice, which no record prints. */
function exploded({ operator }: Slot, items: readonly Item[]): MatchedValue | undefined {
  const isPaired = items.every(
    ({ key, text }) => key !== undefined || (operator.reserved && text.includes("=")),
  );
  if (!isPaired) return items.map(({ text }) => decodeURIComponent(text));
  const record: Record<string, string> = Object.create(null);
  for (const { key, text } of items) {
    const cut = key === undefined ? text.indexOf("=") : -1;
    const name = decodeURIComponent(key ?? text.slice(0, cut));
    if (name in record) return undefined;
    record[name] = decodeURIComponent(text.slice(cut + 1));
  }
  return record;
}

/** Whether two appearances of one variable can come from one value; `a` is the one less cut short. */
function agrees(a: MatchedValue, b: MatchedValue, { max }: VariableSpec): boolean {
  if (max !== undefined && typeof a === "string" && typeof b === "string") return a.startsWith(b);
  return JSON.stringify([a].flat()) === JSON.stringify([b].flat());
}

function collect(program: Program, found: readonly Item[][]): Record<string, MatchedValue> | undefined {
  for (const [from, to] of program.silent) {
    const given = found.slice(from, to).flat();
    // Nothing printed: the variable was empty or absent, and absent is what callers can act on.
    if (given.length === 1 && given[0]?.text === "")
      for (const items of found.slice(from, to)) items.length = 0;
  }
  const result: Record<string, MatchedValue> = Object.create(null);
  for (const slot of program.slots) {
    const items = found[slot.index] ?? [];
    const [only] = items;
    if (only === undefined) continue;
    const { name, explode } = slot.variable;
    const value = explode ? exploded(slot, items) : decodeURIComponent(only.text);
    if (value === undefined) return undefined;
    const earlier = result[name];
    if (earlier !== undefined && !agrees(earlier, value, slot.variable)) return undefined;
    result[name] = earlier ?? value;
  }
  return result;
}

/** Returns the match function of a template: no backtracking, time linear in the URI. */
export function compileMatcher(
  parts: readonly TemplatePart[],
): (uri: string) => Record<string, MatchedValue> | undefined {
  // Most URIs belong to some other template, and differ from this one before its first brace.
  const prefix = typeof parts[0] === "string" ? parts[0] : "";
  const program = compile(prefix === "" ? parts : parts.slice(1));
  return (uri) => {
    if (!uri.startsWith(prefix)) return undefined;
    const reach = reachability(program, uri, prefix.length);
    if (reach[prefix.length * program.code.length + program.entry] === 0) return undefined;
    try {
      return collect(program, walk(program, reach, uri, prefix.length));
    } catch (error) {
      if (error instanceof URIError) return undefined; // escapes that are not UTF-8
      throw error;
    }
  };
}
