// Parses an ECMAScript regular expression with the flag u to a tree. The engine has already accepted its syntax.
import {
  classEscapes,
  type CodePoints,
  complement,
  notLineEnds,
  pairsOf,
  propertySet,
  union,
} from "./code-points.ts";

export type Assertion = "start" | "end" | "boundary" | "no boundary";

export type Tree =
  | { readonly kind: "set"; readonly set: CodePoints }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Tree[] }
  | { readonly kind: "choice"; readonly options: readonly Tree[] }
  | { readonly kind: "repeat"; readonly part: Tree; readonly min: number; readonly max: number };

/** Thrown for an expression that this automaton cannot match. */
export class NotRegular extends Error {}

const maxDepth = 100;

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

/** Parses an expression. Throws {@link NotRegular} for look-around and back-references. */
export function parseRegex(source: string): Tree {
  return new Parser(source).choice(0);
}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(depth: number): Tree {
    if (depth > maxDepth) throw new NotRegular();
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    return options.length === 1 ? (options[0] as Tree) : { kind: "choice", options };
  }

  #sequence(depth: number): Tree {
    const parts: Tree[] = [];
    while (this.#at < this.#source.length && !this.#sees("|") && !this.#sees(")")) {
      parts.push(this.#quantified(this.#atom(depth)));
    }
    return parts.length === 1 ? (parts[0] as Tree) : { kind: "sequence", parts };
  }

  #quantified(part: Tree): Tree {
    const range = this.#quantifier();
    if (range === undefined) return part;
    // Lazy and greedy quantifiers match the same texts.
    this.#take("?");
    return { kind: "repeat", part, min: range[0], max: range[1] };
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#take("*")) return [0, Infinity];
    if (this.#take("+")) return [1, Infinity];
    if (this.#take("?")) return [0, 1];
    const counted = this.#match(/\{(\d+)(?:(,)(\d*))?\}/y);
    if (counted === null) return undefined;
    const [, min, comma, max] = counted;
    if (comma === undefined) return [Number(min), Number(min)];
    return [Number(min), max === "" ? Infinity : Number(max)];
  }

  #atom(depth: number): Tree {
    if (this.#take("^")) return { kind: "assertion", assertion: "start" };
    if (this.#take("$")) return { kind: "assertion", assertion: "end" };
    if (this.#take("\\b")) return { kind: "assertion", assertion: "boundary" };
    if (this.#take("\\B")) return { kind: "assertion", assertion: "no boundary" };
    if (this.#take("(")) return this.#group(depth);
    if (this.#take("[")) return { kind: "set", set: this.#class() };
    if (this.#take(".")) return { kind: "set", set: notLineEnds };
    const set = this.#classEscape();
    if (set !== undefined) return { kind: "set", set };
    const point = this.#character();
    return { kind: "set", set: [point, point] };
  }

  #group(depth: number): Tree {
    if (this.#sees("?") && !this.#take("?:") && this.#match(/\?<[^=!>][^>]*>/y) === null)
      throw new NotRegular();
    const inside = this.choice(depth + 1);
    this.#take(")");
    return inside;
  }

  #class(): CodePoints {
    const isNegated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take("]")) {
      const set = this.#classEscape();
      if (set !== undefined) {
        ranges.push(...pairsOf(set));
        continue;
      }
      const first = this.#classCharacter();
      const isRange = this.#sees("-") && !this.#sees("-]");
      if (isRange) this.#take("-");
      ranges.push([first, isRange ? this.#classCharacter() : first]);
    }
    const set = union(ranges);
    return isNegated ? complement(set) : set;
  }

  /** Inside a class, `\b` is a backspace. */
  #classCharacter(): number {
    return this.#take("\\b") ? 8 : this.#character();
  }

  #classEscape(): CodePoints | undefined {
    const letter = this.#match(/\\([dDwWsS])/y)?.[1];
    if (letter !== undefined) return classEscapes[letter];
    const property = this.#match(/\\[pP]\{[^}]*\}/y)?.[0];
    if (property === undefined) return undefined;
    const set = propertySet(property);
    if (set === undefined) throw new NotRegular();
    return set;
  }

  #character(): number {
    if (!this.#take("\\")) return this.#next();
    if (this.#match(/[1-9k]/y) !== null) throw new NotRegular();
    const hex = this.#match(/x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]+)\}/y);
    if (hex !== null) return Number.parseInt(hex[1] ?? hex[2] ?? "", 16);
    const units = this.#match(
      /u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y,
    );
    if (units !== null) {
      const codes = units.slice(1).flatMap((code) => (code === undefined ? [] : [Number.parseInt(code, 16)]));
      return String.fromCharCode(...codes).codePointAt(0) as number;
    }
    const letter = this.#match(/c([a-zA-Z])/y)?.[1];
    if (letter !== undefined) return letter.charCodeAt(0) % 32;
    const control = this.#match(/[tnvfr0]/y)?.[0];
    return control === undefined ? this.#next() : (controls[control] as number);
  }

  #next(): number {
    const point = this.#source.codePointAt(this.#at) as number;
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    const isThere = this.#sees(text);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found !== null) this.#at = expression.lastIndex;
    return found;
  }
}
