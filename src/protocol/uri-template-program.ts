// What a URI template compiles to: the small automaton that the matcher runs.

import type { TemplatePart, Variable } from "./uri-template-parse.ts";

/** Where in `uri` an instruction gets to by reading at a position: `nowhere` when it cannot read what is there. */
type Reader = (uri: string, at: number) => number;

interface Draft {
  /** The first instruction accepts. */
  readonly code: Instruction[];
  /** In the order of the template. */
  readonly variables: readonly Variable[];
}

export interface Program {
  readonly code: readonly Instruction[];
  readonly start: Instruction;
}

/**
 * Reads something and goes to `next`, or goes to `other` without reading. Both are itself when not given: for `next` that
 * makes it a run, which reads one character after the other, for `other` it means that there is no other way.
 */
export class Instruction {
  readonly index: number;
  readonly read: Reader;
  next: Instruction;
  readonly other: Instruction;
  /** Whose value a run reads; none for one that reads a key. */
  readonly variable: Variable | undefined;
  /** The most characters of a run. */
  readonly max: number;

  constructor({ code }: Draft, read: Reader, next?: Instruction, other?: Instruction, variable?: Variable) {
    this.index = code.push(this) - 1;
    this.read = read;
    this.next = next ?? this;
    this.other = other ?? this;
    this.variable = variable;
    this.max = variable?.max ?? Infinity;
  }
}

// What values consist of besides escapes, as inside a character class.
export const UNRESERVED = "-\\w.~";
export const RESERVED = ":/?#[\\]@!$&'()*+,;=";

/** Beyond the end, where no distance is known. */
function nowhere(uri: string): number {
  return uri.length + 1;
}

function literal(text: string): Reader {
  return (uri, at) => (uri.startsWith(text, at) ? at + text.length : nowhere(uri));
}

/** The escapes of one character, up to four bytes in UTF-8, are read together. */
function character(admitted: string): Reader {
  const pattern = new RegExp(`[${admitted}]|%[\\dA-F]{2}(?:%[89AB].){0,3}`, "iy");
  return (uri, at) => {
    pattern.lastIndex = at;
    return pattern.test(uri) ? pattern.lastIndex : nowhere(uri);
  };
}

/** Reads nothing, but cannot where the key is the name of one of the variables. */
function noNameOf(variables: readonly Variable[], readKey: Reader): Reader {
  return (uri, at) =>
    variables.some(({ name }) => uri.startsWith(name, at) && readKey(uri, at + name.length) > uri.length)
      ? nowhere(uri)
      : at;
}

/** One list member, pair or plain value, with the name that belongs before it. */
function compileItem(
  draft: Draft,
  variable: Variable,
  admitted: string,
  next: Instruction,
  isPair: boolean,
): Instruction {
  const { name, operator } = variable;
  const read = character(isPair ? UNRESERVED : admitted);
  const value = new Instruction(draft, read, undefined, next, variable);
  if (!isPair && !operator.named) return value;
  // `;x` and `;x=` both stand for an empty value; `?x` does not.
  const bare = operator.sep === ";" ? new Instruction(draft, nowhere, undefined, next, variable) : undefined;
  const equals = new Instruction(draft, literal("="), value, bare);
  if (!isPair) return new Instruction(draft, literal(name), equals);
  // The names of the other named variables are no keys: those would otherwise never see their value.
  const others = draft.variables.filter(
    (other) => operator.named && other.operator.named && other.name !== name,
  );
  const key = new Instruction(draft, character(admitted), undefined, equals);
  return new Instruction(draft, noNameOf(others, read), key);
}

/** An exploded variable is a list where that leads to the end, else pairs of key and value. */
function compileVariable(draft: Draft, variable: Variable, next: Instruction, isLast: boolean): Instruction {
  const { sep, reserved } = variable.operator;
  const admitted = UNRESERVED + (reserved ? RESERVED : "");
  // A separator inside a value reads as a separator, except where nothing could follow it.
  const divided = admitted.replace(sep, "");
  if (!variable.explode) return compileItem(draft, variable, isLast ? admitted : divided, next, false);
  const loop = (isPair: boolean): Instruction => {
    // The only way back; it reads, so the automaton never turns in a circle at one position.
    const again = new Instruction(draft, literal(sep), undefined, next);
    again.next = compileItem(draft, variable, divided, again, isPair);
    return again.next;
  };
  const list = loop(false);
  // Reserved characters include the equals sign, so there what is a pair shows only after the fact.
  return reserved ? list : new Instruction(draft, literal(""), list, loop(true));
}

/** `idle` has printed nothing yet, `started` has; both prefer a present variable to an absent one. */
function compileExpression(draft: Draft, variables: readonly Variable[], next: Instruction): Instruction {
  let idle = next;
  let started = next;
  for (const variable of variables.toReversed()) {
    const { first, sep } = variable.operator;
    const item = compileVariable(draft, variable, started, started === next);
    if (variable !== variables[0]) started = new Instruction(draft, literal(sep), item, started);
    idle = new Instruction(draft, literal(first), item, idle);
  }
  return idle;
}

/**
 * The automaton of a template; its size is linear in the template, but for the names that are no keys. It is built from
 * its end to its start, so that what does not read leads to a lower index.
 */
export function compile(parts: readonly TemplatePart[], variables: readonly Variable[]): Program {
  const draft: Draft = { code: [], variables };
  let start = new Instruction(draft, literal(""));
  for (const part of parts.toReversed()) {
    start = compileExpression(draft, part.variables, start);
    // The first literal is no part of it: the matcher looks at that before anything else.
    if (part !== parts[0] && part.literal !== "")
      start = new Instruction(draft, literal(part.literal), start);
  }
  return { code: draft.code, start };
}
