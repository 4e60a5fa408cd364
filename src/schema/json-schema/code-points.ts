// Sets of characters, as sorted ranges of code points: [first, last, first, last, …].

export type CodePoints = readonly number[];

const lastCodePoint = 0x10ffff;

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

export function complement(set: CodePoints): CodePoints {
  const others: number[] = [];
  let start = 0;
  for (const [first, last] of pairsOf(set)) {
    if (first > start) others.push(start, first - 1);
    start = last + 1;
  }
  if (start <= lastCodePoint) others.push(start, lastCodePoint);
  return others;
}

/** Whether `point` is in the set, by binary search. */
export function contains(set: CodePoints, point: number): boolean {
  const before = countUpTo(set, point);
  return before % 2 === 1 || set[before - 1] === point;
}

/** How many numbers of a sorted list are at most `limit`. */
export function countUpTo(sorted: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
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

const properties = new Map<string, CodePoints>();
/** How many properties one process computes. Each costs about ten milliseconds when a pattern first uses it. */
const maxProperties = 40;

/** The set of a property escape such as `\p{Lu}`, found by testing every code point; undefined past the limit. */
export function propertySet(escape: string): CodePoints | undefined {
  const property = escape.replace("\\P", "\\p");
  let set = properties.get(property);
  if (set === undefined) {
    if (properties.size >= maxProperties) return undefined;
    set = readProperty(new RegExp(`^${property}$`, "u"));
    properties.set(property, set);
  }
  return property === escape ? set : complement(set);
}

function readProperty(property: RegExp): CodePoints {
  const found: [number, number][] = [];
  let last: [number, number] | undefined;
  for (let point = 0; point <= lastCodePoint; point++) {
    if (!property.test(String.fromCodePoint(point))) last = undefined;
    else if (last !== undefined) last[1] = point;
    else found.push((last = [point, point]));
  }
  return union(found);
}
