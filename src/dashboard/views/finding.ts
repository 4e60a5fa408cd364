// What a question looks for on this node, and the rows that are shown.
import { maxRows, type Search } from "../answers.ts";
import type { Sampled } from "../sampling/sampling.ts";
import type { SnapshotOptions } from "../../window/index.ts";
import type { ServedNode } from "./served-node.ts";

/** The rows of one node. */
export interface RowsPart<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

export class Finding {
  readonly node: ServedNode;
  /** The only requested client. */
  readonly peer: string | undefined;
  /** The name of the node, for the rows. */
  readonly name: string;
  readonly sampled: Sampled;
  readonly now: number = performance.now();
  /** The text of the search, in lower case; undefined if every row of this node contains it. */
  readonly search: string | undefined;

  constructor(node: ServedNode, { search, peer }: Search & { readonly peer?: string }) {
    const wanted = search?.trim().toLowerCase();
    this.node = node;
    this.peer = peer;
    this.name = node.options.name;
    this.sampled = node.sampling.ask();
    // Every row of a node contains its name.
    this.search = this.name.toLowerCase().includes(wanted ?? "") ? undefined : wanted;
  }

  /** The rows of the window that this looks for. */
  get options(): SnapshotOptions {
    return { search: this.search, peer: this.peer, limit: maxRows };
  }

  /** Whether the text, in lower case, contains the text of the search. */
  matches(text: string, peer?: string): boolean {
    if (this.peer !== undefined && this.peer !== peer) return false;
    return this.search === undefined || text.includes(this.search);
  }
}

/** The rows that are shown: at most 200, in an order that does not change from one answer to the next. */
export function shownRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const keyed = rows.map((row) => ({ key: keyOf(row), row }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return keyed.slice(0, maxRows).map(({ row }) => row);
}
