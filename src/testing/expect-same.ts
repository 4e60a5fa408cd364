// Functions that the store contracts share: wait and compare.

export function shortPause(timeMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, timeMs));
}

/** Compares values as JSON, since a store may drop undefined members. */
export function expectSame(actual: unknown, expected: unknown): void {
  const [got, wanted] = [canonical(actual), canonical(expected)];
  if (got !== wanted) throw new Error(`Expected ${String(wanted)}, not ${String(got)}`);
}

function canonical(value: unknown): string | undefined {
  const sorted = (_: string, member: unknown): unknown =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member;
  return JSON.stringify(value, sorted);
}
