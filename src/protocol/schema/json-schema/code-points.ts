// Sets of characters: ranges of code points, and properties of Unicode, which the engine tests for one character at a time.

/** Sorted ranges: [first, last, first, last, …]. */
export type CodePoints = readonly number[];

export interface CharacterSet {
  readonly ranges: CodePoints;
  /** Each matches a single character that has the property. */
  readonly properties: readonly RegExp[];
  readonly isNegated: boolean;
}

const lastCodePoint = 0x10ffff;

export function setOf(ranges: CodePoints): CharacterSet {
  return { ranges, properties: [], isNegated: false };
}

/** The only character of a set, or undefined if it has several or none. */
export function singleOf({ ranges, properties, isNegated }: CharacterSet): number | undefined {
  const [first, last] = ranges;
  return ranges.length === 2 && first === last && properties.length === 0 && !isNegated ? first : undefined;
}

/** The union of ranges in any order. */
export function union(ranges: readonly (readonly [number, number])[]): CodePoints {
  const merged: number[] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const end = merged.at(-1);
    if (end !== undefined && first <= end + 1) merged[merged.length - 1] = Math.max(end, last);
    else merged.push(first, last);
  }
  return merged;
}

export function pairsOf(set: CodePoints): [number, number][] {
  const pairs: [number, number][] = [];
  for (let at = 0; at < set.length; at += 2) pairs.push([set[at] as number, set[at + 1] as number]);
  return pairs;
}

function complement(set: CodePoints): CodePoints {
  const others: number[] = [];
  let start = 0;
  for (const [first, last] of pairsOf(set)) {
    if (first > start) others.push(start, first - 1);
    start = last + 1;
  }
  others.push(start, lastCodePoint);
  return others;
}

export function contains({ ranges, properties, isNegated }: CharacterSet, point: number): boolean {
  const isInside =
    isInRanges(ranges, point) || properties.some((property) => property.test(String.fromCodePoint(point)));
  return isInside !== isNegated;
}

/** By binary search. */
function isInRanges(ranges: CodePoints, point: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as number) <= point) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1 || ranges[low - 1] === point;
}

const digits: CodePoints = [0x30, 0x39];
export const wordCharacters: CodePoints = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const spaces: CodePoints = union([
  [9, 13],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);
/** The characters that `.` matches: all except line ends. */
export const notLineEnds: CodePoints = complement([10, 10, 13, 13, 0x2028, 0x2029]);

/** The sets of class escapes, by letter. */
export const classEscapes: Readonly<Record<string, CodePoints>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
};
