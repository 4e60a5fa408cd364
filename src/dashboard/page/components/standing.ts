// Rows that keep their place while the user looks: new ones are added at the end, and those under the pointer or the focus do not
// move.
import { useRef } from "preact/hooks";

export interface Standing<Row> {
  /** The question that the rows answer, such as a search. Rows of another question are ordered anew. */
  readonly question: string;
  /** Rows of a lower rank stand above the others. */
  readonly rankOf?: (row: Row) => number;
  /** Whether rows stand as they are given, newest first. New ones then wait while the user looks, or they would push the others. */
  readonly isGiven?: boolean;
}

export interface Placing<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly standing: Standing<Row> | undefined;
  /** The order that the user chose. It is not updated while rows are held. */
  readonly sorted: ((rows: readonly Row[]) => readonly Row[]) | undefined;
  /** Changes when the user chooses another order. */
  readonly order: unknown;
  /** Whether the pointer or the focus is on a row. */
  readonly isHeld: () => boolean;
}

export interface Placed<Row> {
  readonly key: string;
  readonly row: Row;
  /** Whether the row is gone, but shown until the pointer leaves the rows. */
  readonly isGone: boolean;
}

/** The rows where they stand. */
export function useStanding<Row>(placing: Placing<Row>): readonly Placed<Row>[] {
  const last = useRef<{ placed: readonly Placed<Row>[]; order: unknown; question: string | undefined }>();
  const { order, standing } = placing;
  const isSame = last.current?.order === order && last.current?.question === standing?.question;
  const placed = place(placing, isSame && standing !== undefined ? last.current?.placed : undefined);
  last.current = { placed, order, question: standing?.question };
  return placed;
}

function place<Row>(placing: Placing<Row>, last: readonly Placed<Row>[] | undefined): Placed<Row>[] {
  const { rows, keyOf, standing, sorted, isHeld } = placing;
  const isMoving = last === undefined || last.length === 0 || !isHeld();
  if (isMoving && sorted !== undefined)
    return sorted(rows).map((row) => ({ key: keyOf(row), row, isGone: false }));
  const rest = new Map(rows.map((row) => [keyOf(row), row]));
  if (standing?.isGiven) {
    const held = isMoving ? rows.map((row) => ({ key: keyOf(row), row })) : last;
    return held.map(({ key, row }) => ({ key, row: rest.get(key) ?? row, isGone: false }));
  }
  const placed: Placed<Row>[] = [];
  for (const { key, row } of last ?? []) {
    const fresh = rest.get(key);
    rest.delete(key);
    if (fresh !== undefined || !isMoving)
      placed.push({ key, row: fresh ?? row, isGone: fresh === undefined });
  }
  for (const [key, row] of rest) placed.push({ key, row, isGone: false });
  const rankOf = standing?.rankOf;
  return isMoving && rankOf ? placed.toSorted((one, other) => rankOf(one.row) - rankOf(other.row)) : placed;
}
