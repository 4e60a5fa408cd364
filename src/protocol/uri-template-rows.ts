// From where in a URI the rest can match: a row for each position, made once for all positions that are alike.

import { type Instruction, kinds, type Program } from "./uri-template-program.ts";

type Steps = (Row | undefined)[];

/** Which instructions lead to the end, from one position or from many. */
class Row {
  /** By index of the instruction. */
  readonly leads: Uint8Array;
  /** Whether the URI matches from nowhere here. */
  readonly isDead: boolean;
  /** By the kind of the character before: the row of its position. */
  readonly before: Steps = [];
  /** The same where a run goes on in another row than the next: behind an escape, or where it must not go on. */
  beforeOther: Map<Row, Steps> | undefined;
  /** By index of a run: this row, were it not for that run. */
  without: Steps | undefined;

  constructor(leads: Uint8Array, accept: Instruction) {
    this.leads = leads;
    this.isDead = !leads.includes(1, accept.index);
  }
}

/** Enough for any template that a person would write, each at about a kilobyte: past it the cache begins anew. */
const maxCached = 2000;
const escape = /%[\dA-F]{2}(?:%[89AB].){0,3}/iy;
/** No run reads more at once: where as many rows are dead, so are all before them. */
const maxEscape = 12;
/** The fastest way from bytes to a key. */
const texts = new TextDecoder();
const percent = 0x25;
const question = 0x3f;

function kindAt(uri: string, at: number): number {
  const code = uri.charCodeAt(at);
  return code >= kinds.first && code <= kinds.last ? code : kinds.other;
}

/** Where the escapes of one character end that begin at `at`; 0 when there are none. */
function escapeEnd(uri: string, at: number): number {
  escape.lastIndex = at;
  return escape.test(uri) ? escape.lastIndex : 0;
}

/** By position: how many characters a run that has a maximum reads at least. */
interface Lengths {
  readonly run: Instruction;
  readonly counts: Int32Array;
}

/** What is known of one URI. */
export class Reading {
  readonly #uri: string;
  readonly #rows: readonly Row[];
  readonly #lengths: readonly Lengths[];

  constructor(uri: string, rows: readonly Row[], lengths: readonly Lengths[]) {
    this.#uri = uri;
    this.#rows = rows;
    this.#lengths = lengths;
  }

  leads({ index }: Instruction, at: number): boolean {
    return this.#rows[at]?.leads[index] === 1;
  }

  /** Whether to read the character at `at` and go on, rather than go elsewhere. */
  isRead({ reads, next, unless }: Instruction, at: number): boolean {
    if (reads === undefined) return this.leads(next, at) && !unless.some((name) => this.leads(name, at));
    return reads[kindAt(this.#uri, at)] === 1 && this.leads(next, at + 1);
  }

  /**
   * The furthest end of a run from which the rest still matches. Only a query ends it sooner, where the template has
   * one: in `{+path}{?rev}` the path would take it too.
   */
  endOf(run: Instruction, start: number): number {
    const uri = this.#uri;
    const rows = this.#rows;
    const { index, other, reads } = run;
    const counts = this.#lengths.find((lengths) => lengths.run === run)?.counts;
    for (let at = start, left = run.max; ; left--) {
      const kind = kindAt(uri, at);
      const escaped = kind === percent ? escapeEnd(uri, at) : 0;
      const end = escaped || at + 1;
      const isRead = reads?.[escaped > 0 ? kinds.escape : kind] === 1 && rows[end]?.leads[index] === 1;
      if (!isRead || (counts !== undefined && (counts[end] ?? 0) >= left)) return at;
      if (kind === question && rows[at]?.leads[other.index] === 1) return at;
      at = end;
    }
  }
}

/** Reads URIs from their end to their start, each character by a look into a table once it has been met before. */
export class Rows {
  readonly #code: readonly Instruction[];
  readonly #accept: Instruction;
  readonly #limited: readonly Instruction[];
  #known = new Map<string, Row>();
  #cached = 0;

  constructor({ code, accept }: Program) {
    this.#code = code;
    this.#accept = accept;
    this.#limited = code.filter((instruction) => instruction.max < Infinity);
  }

  read(uri: string): Reading {
    if (this.#cached > maxCached) {
      this.#known = new Map();
      this.#cached = 0;
    }
    const rows: Row[] = [];
    rows.length = uri.length + 1;
    const lengths = this.#limited.map((run) => ({ run, counts: new Int32Array(uri.length + 1) }));
    const nowhere = this.#toRow(new Uint8Array(this.#code.length).fill(1, 0, 1));
    let row = (nowhere.before[kinds.end] ??= this.#step(kinds.end, nowhere, nowhere));
    rows[uri.length] = row;
    for (let at = uri.length - 1, dead = 0; at >= 0 && dead < maxEscape; at--) {
      const next = row;
      let kind = kindAt(uri, at);
      const escaped = kind === percent ? escapeEnd(uri, at) : 0;
      if (escaped > 0) kind = kinds.escape;
      const end = escaped || at + 1;
      let onward = rows[end] ?? nowhere;
      for (const { run, counts } of lengths) {
        if (counts[end] === run.max && onward.leads[run.index] === 1) onward = this.#without(onward, run);
      }
      const steps = onward === next ? next.before : this.#stepsOf(next, onward);
      row = steps[kind] ??= this.#step(kind, next, onward);
      rows[at] = row;
      dead = row.isDead ? dead + 1 : 0;
      for (const { run, counts } of lengths) {
        if (row.leads[run.other.index] === 0) counts[at] = (counts[end] ?? 0) + 1;
      }
    }
    return new Reading(uri, rows, lengths);
  }

  /** The row of a position, from that of the next one and that in which a run goes on. */
  #step(kind: number, row: Row, onward: Row): Row {
    const leads = new Uint8Array(this.#code.length).fill(1, 0, 1);
    for (const { index, reads, next, other, unless } of this.#code) {
      const isRead =
        reads === undefined
          ? leads[next.index] === 1 && !unless.some((name) => leads[name.index] === 1)
          : reads[kind] === 1 && (next.index === index ? onward : row).leads[next.index] === 1;
      if (isRead || leads[other.index] === 1) leads[index] = 1;
    }
    return this.#toRow(leads);
  }

  #toRow(leads: Uint8Array): Row {
    const key = texts.decode(leads);
    let row = this.#known.get(key);
    if (row === undefined) {
      row = new Row(leads, this.#accept);
      this.#known.set(key, row);
      this.#cached += 1;
    }
    return row;
  }

  #stepsOf(row: Row, onward: Row): Steps {
    row.beforeOther ??= new Map();
    let steps = row.beforeOther.get(onward);
    if (steps === undefined) {
      row.beforeOther.set(onward, (steps = []));
      this.#cached += 1;
    }
    return steps;
  }

  #without(row: Row, { index }: Instruction): Row {
    row.without ??= [];
    return (row.without[index] ??= this.#toRow(row.leads.with(index, 0)));
  }
}
