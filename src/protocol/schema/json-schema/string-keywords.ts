// Keywords about strings.
import { formats } from "./formats.ts";
import type { Keyword, KeywordTable, Surroundings } from "./keyword.ts";
import type { NodeCheck } from "./node.ts";
import { nativeLimit, type Pattern } from "./pattern.ts";

function text<Setting>(
  compile: (setting: Setting, surroundings: Surroundings) => NodeCheck<string> | undefined,
): Keyword {
  return { about: ["string"], compile };
}

export const stringKeywords: KeywordTable = [
  ["maxLength", text(maxLength)],
  ["minLength", text(minLength)],
];

/** Keywords that read the whole string. */
export const textKeywords: KeywordTable = [
  ["format", text(format)],
  ["pattern", text((source: string, { pattern }) => matches(pattern(source)))],
];

/** A character takes one or two units of a string, so the length often decides without counting. */
function maxLength(limit: number): NodeCheck<string> {
  const problem = `must have at most ${characters(limit)}`;
  return (value, run) => {
    if (value.length <= limit) return true;
    if (value.length > 2 * limit) return run.fail(problem);
    run.spend(value.length >> 5);
    return lengthOf(value) <= limit || run.fail(problem);
  };
}

function minLength(limit: number): NodeCheck<string> {
  const problem = `must have at least ${characters(limit)}`;
  return (value, run) => {
    if (value.length >= 2 * limit) return true;
    if (value.length < limit) return run.fail(problem);
    run.spend(value.length >> 5);
    return lengthOf(value) >= limit || run.fail(problem);
  };
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}

/** The number of code points. */
function lengthOf(value: string): number {
  let length = value.length;
  for (let at = 0; at < value.length - 1; at++) {
    const isHigh = (value.charCodeAt(at) & 0xfc00) === 0xd800;
    if (isHigh && (value.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length--;
      at++;
    }
  }
  return length;
}

function format(name: string): NodeCheck<string> | undefined {
  const known = formats.get(name);
  if (known === undefined) return undefined;
  const problem = `must be in the format "${name}"`;
  return (value, run) => {
    if (value.length > known.maxLength) return run.fail(problem);
    run.spend(1 + known.stepsOf(value));
    return known.fits(value) || run.fail(problem);
  };
}

function matches(pattern: Pattern): NodeCheck<string> {
  const problem = `must match the pattern ${pattern.source.slice(0, 200)}`;
  return (value, run) => {
    const outcome = pattern.test(value, run);
    return outcome === true || run.fail(outcome === undefined ? tooLong(pattern) : problem);
  };
}

/** The problem with a string that is too long for its pattern. */
export function tooLong({ source }: Pattern): string {
  return `must have at most ${nativeLimit} characters to be matched against the pattern ${source.slice(0, 200)}`;
}
