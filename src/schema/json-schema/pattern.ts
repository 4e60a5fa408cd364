// The patterns of a schema: matched by an automaton, in one pass; by the engine, on short texts, where no automaton can.
import { NotRegular, parseRegex } from "./regex-parse.ts";
import { Automaton } from "./regex-automaton.ts";
import { writeProgram } from "./regex-program.ts";
import type { Payer } from "./value-table.ts";

/** Characters that a pattern with look-around or back-references is tried on: with more it could take for ever. */
export const nativeLimit = 256;

/** What the author of such a pattern has to know. */
export function nativeWarning(source: string): string {
  const reason = "needs look-around or back-references, or repeats too often";
  return `has the pattern ${source}, which ${reason}: it is tried on at most ${nativeLimit} characters, and may block on those`;
}

export interface Pattern {
  readonly source: string;
  readonly isLinear: boolean;
  /** How much memory it takes, in instructions. */
  readonly size: number;
  /** Whether it matches anywhere in `text`; undefined when the text is too long to be tried. */
  test(text: string, payer: Payer): boolean | undefined;
}

/** Compiles an expression that the engine takes with the flag u. */
export function compilePattern(source: string): Pattern {
  try {
    const program = writeProgram(parseRegex(source));
    // Made when it is first needed: most of a large document never is.
    let automaton: Automaton | undefined;
    const test: Pattern["test"] = (text, payer) => (automaton ??= new Automaton(program)).test(text, payer);
    return { source, isLinear: true, size: program.instructions.length, test };
  } catch (error) {
    if (!(error instanceof NotRegular)) throw error;
  }
  const native = new RegExp(source, "u");
  return {
    source,
    isLinear: false,
    size: 1,
    test(text, payer) {
      payer.spend(20 + text.length);
      return text.length > nativeLimit ? undefined : native.test(text);
    },
  };
}
