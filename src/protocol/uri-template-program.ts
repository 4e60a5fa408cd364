// What a URI template compiles to: the parsed parts and the small automaton that the matcher runs.

/** What one RFC 6570 operator does (the table in appendix A of the RFC). */
export interface Operator {
  readonly first: string;
  readonly sep: string;
  readonly named: boolean;
  readonly ifEmpty: string;
  /** True when reserved characters and existing percent-escapes pass through unencoded. */
  readonly reserved: boolean;
}

export interface VariableSpec {
  readonly name: string;
  readonly explode: boolean;
  /** The prefix modifier: at most this many characters of the value. */
  readonly max: number | undefined;
}

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly VariableSpec[];
}

/** A literal, already percent-encoded, or an expression. */
export type TemplatePart = string | Expression;

/** One appearance of a variable; a name that appears twice has two slots. */
export interface Slot {
  readonly index: number;
  readonly variable: VariableSpec;
  readonly operator: Operator;
}

export interface Instruction {
  readonly kind: "accept" | "literal" | "guard" | "run";
  next: number;
  /** literal: what to read, and where to go when it is not there or leads nowhere. */
  readonly text: string;
  readonly other: number | undefined;
  /** run: the characters it admits, its prefix modifier, and whether it reads a key. */
  readonly mask: number;
  readonly max: number | undefined;
  readonly isKey: boolean;
  /** The slot a run fills; with `opens`, reaching the instruction starts a new item there. */
  readonly slot: number;
  readonly opens: boolean;
  /** guard: the keys that belong to another variable. */
  readonly names: readonly string[];
}

export interface Program {
  readonly code: readonly Instruction[];
  readonly entry: number;
  /** Those without prefix modifier first, then by falling length, so that longer values come first. */
  readonly slots: readonly Slot[];
  /** Slot ranges of expressions whose expansion can be empty although a variable was given. */
  readonly silent: readonly (readonly [number, number])[];
  /** The most characters one instruction can read. */
  readonly stride: number;
  /** The columns of `code` that the inner loop reads for every character, as typed arrays for speed. */
  readonly offset: Int32Array;
  readonly other: Int32Array;
  readonly mask: Int32Array;
}

/** Character categories, one bit each; the separators that also occur inside values have their own. */
const CATEGORIES = [
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~",
  ".",
  ",",
  ":/?#[]@!$&'()*+;=",
];
export const UNRESERVED = 3;
/** Every category at once: reserved and unreserved, or a percent-escape. */
export const ANY = 15;
export const CATEGORY: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const index = CATEGORIES.findIndex((chars) => chars.includes(String.fromCharCode(code)));
  return index === -1 ? 0 : 1 << index;
});

function without(mask: number, char: string): number {
  return mask & ~(CATEGORY[char.charCodeAt(0)] ?? 0);
}

/**
 * Builds the program from its end to its start, so that every successor has a lower index. The one
 * exception, the loop of an exploded variable, reads a separator first, so it never stays at one position.
 */
class Compiler {
  readonly code: Instruction[] = [];
  readonly slots: Slot[] = [];
  readonly silent: (readonly [number, number])[] = [];
  readonly #names: ReadonlySet<string>;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
    this.#add("accept", 0, {});
  }

  part(part: TemplatePart, next: number): number {
    return typeof part === "string"
      ? this.#add("literal", next, { text: part })
      : this.#expression(part, next);
  }

  #add(kind: Instruction["kind"], next: number, fields: Partial<Instruction>): number {
    const { text = "", other, mask = 0, max, isKey = false, slot = 0, opens = false, names = [] } = fields;
    return this.code.push({ kind, next, text, other, mask, max, isKey, slot, opens, names }) - 1;
  }

  /** `idle` has printed nothing yet, `started` has; both prefer a present variable to an absent one. */
  #expression({ operator, variables }: Expression, next: number): number {
    const { first, sep } = operator;
    let idle = next;
    let started = next;
    const from = this.slots.length;
    for (let index = variables.length; index > 0; index--) {
      const variable = variables[index - 1];
      if (variable === undefined) continue;
      const item = this.#variable(operator, variable, index === variables.length, started);
      idle = this.#add("literal", item, { text: first, other: idle });
      if (index > 1) started = this.#add("literal", item, { text: sep, other: started });
    }
    if (first === "") this.silent.push([from, this.slots.length]);
    return idle;
  }

  /** An exploded variable is a list where that leads to the end, else pairs of key and value. */
  #variable(operator: Operator, variable: VariableSpec, isLast: boolean, next: number): number {
    const index = this.slots.length;
    const slot = { index, variable, operator };
    this.slots.push(slot);
    if (!variable.explode) return this.#member(slot, isLast, next);
    const list = this.#loop(operator.sep, next, (again) => this.#member(slot, false, again));
    // Reserved characters include the equals sign, so there what is a pair shows only after the fact.
    if (operator.reserved) return list;
    const pairs = this.#loop(operator.sep, next, (again) => this.#pair(slot, again));
    return this.#add("literal", list, { other: pairs });
  }

  #loop(sep: string, next: number, build: (again: number) => number): number {
    const again = this.#add("literal", next, { text: sep, other: next });
    const item = build(again);
    const loop = this.code[again];
    if (loop !== undefined) loop.next = item;
    return item;
  }

  #member({ index: slot, variable, operator }: Slot, isLast: boolean, next: number): number {
    const { named, reserved, sep } = operator;
    const admitted = reserved ? ANY : UNRESERVED;
    // A separator inside a value reads as a separator, except where nothing could follow it.
    const mask = isLast ? admitted : without(admitted, sep);
    const value = this.#add("run", next, { mask, max: variable.max, slot, opens: !named });
    if (!named) return value;
    return this.#add("literal", this.#equals(operator, value, next), {
      text: variable.name,
      slot,
      opens: true,
    });
  }

  #pair({ index: slot, variable, operator }: Slot, next: number): number {
    const { named, sep } = operator;
    const equals = this.#equals(operator, this.#add("run", next, { mask: UNRESERVED, slot }), next);
    const key = this.#add("run", equals, { mask: without(UNRESERVED, sep), slot, isKey: true, opens: true });
    if (!named) return key;
    // The names of the other named variables are no keys: those would otherwise never see their value.
    return this.#add("guard", key, { names: [...this.#names].filter((name) => name !== variable.name) });
  }

  /** `;x` and `;x=` both stand for an empty value; `?x` does not. */
  #equals({ named, ifEmpty }: Operator, value: number, next: number): number {
    return this.#add("literal", value, { text: "=", other: named && ifEmpty === "" ? next : undefined });
  }
}

/** The automaton of a template; its size is linear in the template, but for guards. */
export function compile(parts: readonly TemplatePart[]): Program {
  const named = new Set<string>();
  for (const part of parts) {
    if (typeof part === "string" || !part.operator.named) continue;
    for (const { name } of part.variables) named.add(name);
  }
  const compiler = new Compiler(named);
  let entry = 0;
  for (const part of parts.toReversed()) entry = compiler.part(part, entry);
  const { code, silent } = compiler;
  return {
    code,
    entry,
    slots: compiler.slots.toSorted((a, b) => (b.variable.max ?? 1e5) - (a.variable.max ?? 1e5)),
    silent,
    stride: code.reduce((most, { text }) => Math.max(most, text.length), "%00".length),
    offset: Int32Array.from(code, ({ text, next }) => text.length * code.length + next),
    other: Int32Array.from(code, ({ other }, pc) => other ?? pc),
    mask: Int32Array.from(code, ({ mask }) => mask),
  };
}
