// Rows of all nodes: which of them a search finds, and how many are shown.
import { maxRows, type Search } from "../answers.ts";
import type { ServedNode } from "./served-node.ts";

/** Rows of one node. */
export interface RowsPart<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Whether a text in lower case contains what somebody searches for. */
export type Match = (text: string) => boolean;

/** Undefined if every row of the node matches: nobody searches, or somebody searches for the node. */
export function matchOf({ search }: Search, node: ServedNode): Match | undefined {
  const wanted = search?.trim().toLowerCase();
  if (!wanted || node.options.name.toLowerCase().includes(wanted)) return undefined;
  return (text) => text.includes(wanted);
}

/** What a search looks at. */
export function textOf(words: readonly (string | undefined)[]): string {
  return words.join(" ").toLowerCase();
}

/** The first rows, and how many more match. */
export class Picked<Row> {
  readonly rows: Row[] = [];
  #total = 0;

  /** Adds a row, which is made only if it is shown. */
  add(make: () => Row): void {
    this.#total++;
    if (!this.isFull) this.rows.push(make());
  }

  /** Whether further rows are only counted. */
  get isFull(): boolean {
    return this.rows.length >= maxRows;
  }

  /** Counts rows that match and are not shown. */
  skip(count: number): void {
    this.#total += count;
  }

  part(): RowsPart<Row> {
    return { rows: this.rows, total: this.#total };
  }
}

/** The rows that are shown: at most 200, in an order that does not change from one answer to the next. */
export function shownRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const keyed = rows.map((row) => ({ key: keyOf(row), row }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return keyed.slice(0, maxRows).map(({ row }) => row);
}
