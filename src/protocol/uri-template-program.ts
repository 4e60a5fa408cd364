// Compiles a URI template to the automaton that the matcher runs.

import type { TemplatePart, Variable } from "./uri-template-parse.ts";

/** The characters that an instruction reads: 1 at each kind that it accepts. */
type Reads = Uint8Array;

/** Kinds of characters: the code of a printable ASCII character, one kind for all other characters, and two special ones. */
export const characterKinds = { escape: 0, end: 1, other: 2, first: 32, last: 126, count: 127 };

interface Draft {
  readonly code: TemplateInstruction[];
  /** In the order of the template. */
  readonly variables: readonly Variable[];
  /** By name: an instruction that matches where a key is exactly this name. */
  readonly names: Map<string, TemplateInstruction>;
}

export interface TemplateProgram {
  readonly code: readonly TemplateInstruction[];
  readonly start: TemplateInstruction;
  /** The instructions before it in `code` only look ahead. */
  readonly accept: TemplateInstruction;
}

/**
 * Reads one character and goes to `next`, or goes to `other` without reading. If `next` is the instruction itself, it is a
 * run, which reads any number of characters. If `other` is the instruction itself, there is no alternative. Without `reads`
 * it goes to `next` without reading, except where one of `unless` matches.
 */
export class TemplateInstruction {
  readonly index: number;
  readonly reads: Reads | undefined;
  next: TemplateInstruction;
  readonly other: TemplateInstruction;
  /** The variable whose value a run reads; undefined for a run that reads a key. */
  readonly variable: Variable | undefined;
  /** How many characters a run may read. */
  readonly max: number;
  readonly unless: readonly TemplateInstruction[];

  constructor(
    { code }: Draft,
    reads: Reads | undefined,
    next?: TemplateInstruction,
    other?: TemplateInstruction,
    variable?: Variable,
    unless: readonly TemplateInstruction[] = [],
  ) {
    this.index = code.push(this) - 1;
    this.reads = reads;
    this.next = next ?? this;
    this.other = other ?? this;
    this.variable = variable;
    this.max = variable?.max ?? Infinity;
    this.unless = unless;
  }
}

const unreserved = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
const reserved = ":/?#[]@!$&'()*+,;=";

function readsOf(characters: string, ...others: number[]): Reads {
  const reads = new Uint8Array(characterKinds.count);
  for (const kind of others) reads[kind] = 1;
  for (let at = 0; at < characters.length; at++) reads[characters.charCodeAt(at)] = 1;
  return reads;
}

/** The characters of a value. The escapes of one character, up to four bytes in UTF-8, are read together. */
function inValue(characters: string): Reads {
  return readsOf(characters, characterKinds.escape);
}

/** Shared, since many instructions read the same character. */
const single = Array.from({ length: characterKinds.count }, (_, code) =>
  readsOf(String.fromCharCode(code), ...(code === 0x25 ? [characterKinds.escape] : [])),
);
const inPair = inValue(unreserved);
const beyondKey = inPair.map((isRead) => 1 - isRead);
const nothing = readsOf("");

/** Reads `text`, or goes to `other`. */
function literal(
  draft: Draft,
  text: string,
  next: TemplateInstruction,
  other?: TemplateInstruction,
): TemplateInstruction {
  if (text === "") return new TemplateInstruction(draft, undefined, next, other);
  let to = next;
  for (let at = text.length - 1; at >= 0; at--) {
    to = new TemplateInstruction(draft, single[text.charCodeAt(at)], to, at === 0 ? other : undefined);
  }
  return to;
}

/** One list member, pair or plain value, with its name before it if the operator is named. */
function compileItem(
  draft: Draft,
  variable: Variable,
  admitted: string,
  next: TemplateInstruction,
  isPair: boolean,
): TemplateInstruction {
  const { name, operator } = variable;
  const value = new TemplateInstruction(
    draft,
    isPair ? inPair : inValue(admitted),
    undefined,
    next,
    variable,
  );
  if (!isPair && !operator.named) return value;
  // `;x` and `;x=` both mean an empty value; `?x` does not.
  const bare =
    operator.sep === ";" ? new TemplateInstruction(draft, nothing, undefined, next, variable) : undefined;
  const equals = literal(draft, "=", value, bare);
  if (!isPair) return literal(draft, name, equals);
  // The name of another named variable is not a key, or that variable would never get its value.
  const others = draft.variables.filter(
    (other) => operator.named && other.operator.named && other.name !== name,
  );
  const names = others.flatMap((other) => draft.names.get(other.name) ?? []);
  const key = new TemplateInstruction(draft, inValue(admitted), undefined, equals);
  return new TemplateInstruction(draft, undefined, key, undefined, undefined, names);
}

/** Reads an exploded variable as a list if that matches, otherwise as pairs of key and value. */
function compileVariable(
  draft: Draft,
  variable: Variable,
  next: TemplateInstruction,
  isLast: boolean,
): TemplateInstruction {
  const { operator } = variable;
  const admitted = unreserved + (operator.reserved ? reserved : "");
  const divided = admitted.replace(operator.sep, "");
  if (!variable.explode) {
    const whole = compileItem(draft, variable, admitted, next, false);
    // A separator ends the value, except in the last variable, or where the rest matches only if it belongs to the value.
    if (isLast || divided === admitted) return whole;
    return literal(draft, "", compileItem(draft, variable, divided, next, false), whole);
  }
  const loop = (isPair: boolean): TemplateInstruction => {
    // The only loop besides runs. It reads a character, so it cannot repeat at one position.
    const again = literal(draft, operator.sep, next, next);
    again.next = compileItem(draft, variable, isPair ? admitted : divided, again, isPair);
    return again.next;
  };
  const list = loop(false);
  // Reserved characters include the equals sign, so here only the matcher can tell pairs from list members.
  return operator.reserved ? list : literal(draft, "", list, loop(true));
}

/**
 * Matches `{a,b}` with any of the variables missing: `idle` is where it continues before the first one that is there, `started`
 * after it. Both try first that the variable is there.
 */
function compileExpression(
  draft: Draft,
  variables: readonly Variable[],
  next: TemplateInstruction,
): TemplateInstruction {
  let idle = next;
  let started = next;
  for (const variable of variables.toReversed()) {
    const { first, sep } = variable.operator;
    const item = compileVariable(draft, variable, started, started === next);
    if (variable !== variables[0]) started = literal(draft, sep, item, started);
    idle = literal(draft, first, item, idle);
  }
  return idle;
}

/**
 * The automaton of a template; its size is linear in the template. It is built from the end to the start, so that an
 * instruction that does not read leads to a lower index.
 */
export function compile(parts: readonly TemplatePart[], variables: readonly Variable[]): TemplateProgram {
  const draft: Draft = { code: [], variables, names: new Map() };
  const always = new TemplateInstruction(draft, nothing);
  for (const { name, operator } of variables) {
    if (!operator.named || draft.names.has(name) || !variables.some(({ explode }) => explode)) continue;
    draft.names.set(name, literal(draft, name, new TemplateInstruction(draft, beyondKey, always)));
  }
  const accept = new TemplateInstruction(draft, readsOf("", characterKinds.end), always);
  let start = accept;
  for (const part of parts.toReversed()) {
    start = compileExpression(draft, part.variables, start);
    // The matcher compares the first literal itself.
    if (part !== parts[0] && part.literal !== "") start = literal(draft, part.literal, start);
  }
  return { code: draft.code, start, accept };
}
