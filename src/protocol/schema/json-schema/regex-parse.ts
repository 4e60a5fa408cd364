// Parses an ECMAScript regular expression with the flag u to a tree. The engine has already accepted its syntax.
import {
  type CharacterSet,
  classEscapes,
  type CodePoints,
  notLineEnds,
  pairsOf,
  setOf,
  union,
} from "./code-points.ts";

export type Assertion = "start" | "end" | "boundary" | "no boundary";

export type Tree =
  | { readonly kind: "set"; readonly set: number }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Tree[] }
  | { readonly kind: "choice"; readonly options: readonly Tree[] }
  | { readonly kind: "repeat"; readonly part: Tree; readonly min: number; readonly max: number };

export interface ParsedRegex {
  readonly tree: Tree;
  /** The sets of the tree, without duplicates; the tree has their indexes. */
  readonly sets: readonly CharacterSet[];
}

/** Returns an expression that matches one character with the property of an escape such as `\\p{Lu}`. */
export type PropertyOf = (escape: string) => RegExp;

/** Thrown for an expression that the automaton cannot match in linear time. The message continues "which …". */
export class NotLinear extends Error {}

/** How deep groups may nest: more could overflow the stack. */
const maxDepth = 500;

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

/** Parses an expression, in time linear in its length. Throws {@link NotLinear} for look-around and back-references. */
export function parseRegex(source: string, propertyOf: PropertyOf): ParsedRegex {
  const parser = new Parser(source, propertyOf);
  return { tree: parser.choice(0), sets: parser.sets };
}

class Parser {
  readonly sets: CharacterSet[] = [];
  readonly #source: string;
  readonly #propertyOf: PropertyOf;
  readonly #known = new Map<string, Tree>();
  #at = 0;

  constructor(source: string, propertyOf: PropertyOf) {
    this.#source = source;
    this.#propertyOf = propertyOf;
  }

  choice(depth: number): Tree {
    if (depth > maxDepth) throw new NotLinear(`nests more than ${maxDepth} groups`);
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
    if (this.#take("[")) return this.#set(this.#class());
    if (this.#take(".")) return this.#set(setOf(notLineEnds));
    const property = this.#property();
    if (property !== undefined) return this.#set({ ...setOf([]), properties: [property] });
    const escape = this.#classEscape();
    if (escape !== undefined) return this.#set(setOf(escape));
    const point = this.#character();
    return this.#set(setOf([point, point]));
  }

  #set(set: CharacterSet): Tree {
    const { ranges, properties, isNegated } = set;
    const key = `${isNegated ? "^" : ""}${ranges.join()}${properties.map(String).join("")}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = { kind: "set", set: this.sets.push(set) - 1 };
      this.#known.set(key, known);
    }
    return known;
  }

  #group(depth: number): Tree {
    if (this.#sees("?") && !this.#take("?:") && this.#match(/\?<[^=!>][^>]*>/y) === null)
      throw new NotLinear("needs look-around");
    const inside = this.choice(depth + 1);
    this.#take(")");
    return inside;
  }

  #class(): CharacterSet {
    const isNegated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    const properties = new Set<RegExp>();
    while (!this.#take("]")) {
      const property = this.#property();
      const escape = property === undefined ? this.#classEscape() : [];
      if (property !== undefined) properties.add(property);
      if (escape !== undefined) {
        ranges.push(...pairsOf(escape));
        continue;
      }
      const first = this.#classCharacter();
      const isRange = this.#sees("-") && !this.#sees("-]");
      if (isRange) this.#take("-");
      ranges.push([first, isRange ? this.#classCharacter() : first]);
    }
    return { ranges: union(ranges), properties: [...properties], isNegated };
  }

  /** Inside a class, `\b` is a backspace. */
  #classCharacter(): number {
    return this.#take("\\b") ? 8 : this.#character();
  }

  #property(): RegExp | undefined {
    const escape = this.#match(/\\[pP]\{[^}]*\}/y)?.[0];
    return escape === undefined ? undefined : this.#propertyOf(escape);
  }

  #classEscape(): CodePoints | undefined {
    const letter = this.#match(/\\([dDwWsS])/y)?.[1];
    return letter === undefined ? undefined : classEscapes[letter];
  }

  #character(): number {
    if (!this.#take("\\")) return this.#next();
    if (this.#match(/[1-9k]/y) !== null) throw new NotLinear("needs back-references");
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
