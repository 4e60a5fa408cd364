// Compiles the patterns of a schema to automatons that match in one pass; others run in the engine, on short texts only.
import { InvalidKeyword, type Payer } from "./budget.ts";
import { NotLinear, type ParsedRegex, parseRegex } from "./regex-parse.ts";
import { Automaton, type StateCache } from "./regex-automaton.ts";
import { programSize, writeProgram } from "./regex-program.ts";

/** Characters for a backtracking pattern. On longer texts it could take forever. Past it, the value counts as invalid. */
export const nativeLimit = 256;

/** Warns the author of such a pattern. */
export function nativeWarning({ source, reason }: Backtracking): string {
  return `has the pattern ${source}, which ${reason}: it matches texts of at most ${nativeLimit} characters, and may block the process`;
}

/** A pattern that only a backtracking matcher can match. */
export interface Backtracking {
  readonly source: string;
  /** Continues "which …". */
  readonly reason: string;
}

export interface Pattern {
  readonly source: string;
  /** Whether it matches anywhere in `text`; undefined if the text is too long. */
  test(text: string, payer: Payer): boolean | undefined;
}

/** The engine takes about 100 microseconds to prepare a property of Unicode. */
const stepsOfProperty = 2000;
const stepsOfCharacter = 4;
const stepsOfInstruction = 2;

/** The patterns of one document. Only `cache` may be shared, with documents of the same party: no other party can make them slower. */
export class Patterns {
  readonly backtracking: Backtracking[] = [];
  readonly #payer: Payer;
  readonly #maxInstructions: number;
  readonly #known = new Map<string, Pattern>();
  readonly #properties = new Map<string, RegExp>();
  readonly #cache: StateCache;
  #instructions = 0;

  constructor(payer: Payer, maxInstructions: number, cache: StateCache) {
    this.#payer = payer;
    this.#cache = cache;
    this.#maxInstructions = maxInstructions;
  }

  /** Throws a TypeError if `source` is not a regular expression. */
  compile(source: string): Pattern {
    let pattern = this.#known.get(source);
    if (pattern === undefined) {
      this.#payer.spend(source.length * stepsOfCharacter);
      this.#checkSyntax(source);
      pattern = this.#linear(source) ?? native(source);
      this.#known.set(source, pattern);
    }
    return pattern;
  }

  /**
   * Makes the engine check the syntax. The engine would read the table of a property at each appearance, so properties are
   * replaced.
   */
  #checkSyntax(source: string): void {
    try {
      const plain = source.replace(/\\(?:[pP]\{[^{}]*\}|[^])/g, (escape) =>
        escape.length === 2 ? escape : this.#propertyOf(escape) && "\\d",
      );
      RegExp(plain, "u");
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new InvalidKeyword(
        `the pattern ${source.slice(0, 200)} is not a regular expression: write one that RegExp takes with the flag u`,
        { cause: error },
      );
    }
  }

  #propertyOf = (escape: string): RegExp => {
    let property = this.#properties.get(escape);
    if (property === undefined) {
      this.#payer.spend(stepsOfProperty);
      property = new RegExp(`^${escape}$`, "u");
      this.#properties.set(escape, property);
    }
    return property;
  };

  #linear(source: string): Pattern | undefined {
    let parsed: ParsedRegex;
    let size: number;
    try {
      parsed = parseRegex(source, this.#propertyOf);
      size = programSize(parsed);
    } catch (error) {
      if (!(error instanceof NotLinear)) throw error;
      this.backtracking.push({ source, reason: error.message });
      return undefined;
    }
    this.#instructions += size;
    if (this.#instructions > this.#maxInstructions) throw new TypeError("its patterns are too long in total");
    this.#payer.spend(size * stepsOfInstruction);
    const program = writeProgram(parsed);
    const cache = this.#cache;
    // Created on first use: most patterns of a large document are never used.
    let automaton: Automaton | undefined;
    return {
      source,
      test: (text, payer) => (automaton ??= new Automaton(program, cache)).test(text, payer),
    };
  }
}

function native(source: string): Pattern {
  let expression: RegExp | undefined;
  return {
    source,
    test(text, payer) {
      payer.spend(20 + text.length);
      return text.length > nativeLimit ? undefined : (expression ??= new RegExp(source, "u")).test(text);
    },
  };
}
