// Compiles the patterns of a schema to an automaton that matches in one pass; others run in the engine, on short texts only.
import { NotRegular, parseRegex } from "./regex-parse.ts";
import { Automaton } from "./regex-automaton.ts";
import { writeProgram } from "./regex-program.ts";
import type { Payer } from "./value-table.ts";

/** The longest text for a pattern with look-around or back-references: on a longer one, backtracking could take forever. */
export const nativeLimit = 256;

/** Warns the author of such a pattern. */
export function nativeWarning(source: string): string {
  const reason = "needs look-around or back-references, or repeats too often";
  return `has the pattern ${source}, which ${reason}: it matches texts of at most ${nativeLimit} characters, and may block the process`;
}

export interface Pattern {
  readonly source: string;
  readonly isLinear: boolean;
  /** Its memory, in instructions. */
  readonly size: number;
  /** Whether it matches anywhere in `text`; undefined if the text is too long. */
  test(text: string, payer: Payer): boolean | undefined;
}

/** Compiles an expression that is valid with the flag u. */
export function compilePattern(source: string): Pattern {
  try {
    const program = writeProgram(parseRegex(source));
    // Created on first use: most patterns of a large document are never used.
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
