// The rows that a question finds on this node: at most 200, and how many there are.
import { maxRows, type Search } from "../answers.ts";
import type { Look } from "../sampling/looking.ts";
import type { ServedNode } from "./served-node.ts";

/** The rows of one node. */
export interface RowsPart<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

export class Finding<Row> {
  readonly node: ServedNode;
  /** The only requested client. */
  readonly peer: string | undefined;
  /** The name of the node, for the rows. */
  readonly name: string;
  readonly look: Look;
  readonly now: number = performance.now();
  readonly #rows: Row[] = [];
  /** The text of the search, in lower case. */
  readonly #wanted: string | undefined;
  #total = 0;

  constructor(node: ServedNode, { search, peer }: Search & { readonly peer?: string }) {
    const wanted = (peer ?? search)?.trim().toLowerCase();
    this.node = node;
    this.peer = peer;
    this.name = node.options.name;
    this.look = node.looking.ask();
    // Every row of a node contains its name.
    const isEvery = peer === undefined && this.name.toLowerCase().includes(wanted ?? "");
    this.#wanted = isEvery ? undefined : wanted;
  }

  /** Whether only some rows are requested. */
  get isSearch(): boolean {
    return this.#wanted !== undefined;
  }

  /** Whether further rows are only counted. */
  get isFull(): boolean {
    return this.#rows.length >= maxRows;
  }

  /** Whether the text, in lower case, contains the text of the search. */
  matches(text: string): boolean {
    return this.#wanted === undefined || text.includes(this.#wanted);
  }

  /** Adds a row, which is made only if it is shown. */
  add(make: () => Row): void {
    this.#total++;
    if (!this.isFull) this.#rows.push(make());
  }

  /** Counts rows that match and are not shown. */
  skip(count: number): void {
    this.#total += count;
  }

  part(): RowsPart<Row> {
    return { rows: this.#rows, total: this.#total };
  }
}

/** The rows that are shown: at most 200, in an order that does not change from one answer to the next. */
export function shownRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const keyed = rows.map((row) => ({ key: keyOf(row), row }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return keyed.slice(0, maxRows).map(({ row }) => row);
}
