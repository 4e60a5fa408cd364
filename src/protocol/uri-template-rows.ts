// Finds from which positions the rest of a URI matches: one row for each position, shared by all positions that are alike.

import { type TemplateInstruction, characterKinds, type TemplateProgram } from "./uri-template-program.ts";

type Steps = (Row | undefined)[];

/** The instructions that lead to a match from a position. */
class Row {
  /** By index of the instruction: 1 if it leads to a match. */
  readonly leads: Uint8Array;
  /** Whether no instruction leads to a match. */
  readonly isDead: boolean;
  /** The row of the position before, by the kind of its character. */
  readonly before: Steps = [];
  /** The same where a run continues in another row: after an escape, or at its maximum length. */
  beforeOther: Map<Row, Steps> | undefined;
  /** By index of a run: this row without that run. */
  without: Steps | undefined;

  constructor(leads: Uint8Array, accept: TemplateInstruction) {
    this.leads = leads;
    this.isDead = !leads.includes(1, accept.index);
  }
}

/** Enough for any realistic template, at about a kilobyte for each row. A full cache starts again empty. */
const maxCached = 2000;
const escape = /%[\dA-F]{2}(?:%[89AB].){0,3}/iy;
/** The most characters that a run reads at once: after this many dead rows, all earlier ones are dead. */
const maxEscape = 12;
/** The fastest way to turn bytes into a key. */
const texts = new TextDecoder();
const percent = 0x25;
const question = 0x3f;

function kindAt(uri: string, at: number): number {
  const code = uri.charCodeAt(at);
  return code >= characterKinds.first && code <= characterKinds.last ? code : characterKinds.other;
}

/** The end of the escapes of one character that begin at `at`; 0 if there are none. */
function escapeEnd(uri: string, at: number): number {
  escape.lastIndex = at;
  return escape.test(uri) ? escape.lastIndex : 0;
}

/** The least number of characters that a run with a maximum must read, by position. */
interface Lengths {
  readonly run: TemplateInstruction;
  readonly counts: Int32Array;
}

/** The rows of one URI. */
export class UriRows {
  readonly #uri: string;
  readonly #rows: readonly Row[];
  readonly #lengths: readonly Lengths[];

  constructor(uri: string, rows: readonly Row[], lengths: readonly Lengths[]) {
    this.#uri = uri;
    this.#rows = rows;
    this.#lengths = lengths;
  }

  leads({ index }: TemplateInstruction, at: number): boolean {
    return this.#rows[at]?.leads[index] === 1;
  }

  /** Whether to go to `next` rather than to `other` at this position. */
  isRead({ reads, next, unless }: TemplateInstruction, at: number): boolean {
    if (reads === undefined) return this.leads(next, at) && !unless.some((name) => this.leads(name, at));
    return reads[kindAt(this.#uri, at)] === 1 && this.leads(next, at + 1);
  }

  /**
   * The furthest end of a run from which the rest still matches. Only a query of the template ends it earlier: in
   * `{+path}{?rev}` the path would otherwise take the query too.
   */
  endOf(run: TemplateInstruction, start: number): number {
    const uri = this.#uri;
    const rows = this.#rows;
    const { index, other, reads } = run;
    const counts = this.#lengths.find((lengths) => lengths.run === run)?.counts;
    for (let at = start, left = run.max; ; left--) {
      const kind = kindAt(uri, at);
      const escaped = kind === percent ? escapeEnd(uri, at) : 0;
      const end = escaped || at + 1;
      const isRead =
        reads?.[escaped > 0 ? characterKinds.escape : kind] === 1 && rows[end]?.leads[index] === 1;
      if (!isRead || (counts !== undefined && (counts[end] ?? 0) >= left)) return at;
      if (kind === question && rows[at]?.leads[other.index] === 1) return at;
      at = end;
    }
  }
}

/** Reads URIs from the end to the start, with one table lookup for each character seen before. */
export class UriTable {
  readonly #code: readonly TemplateInstruction[];
  readonly #accept: TemplateInstruction;
  readonly #limited: readonly TemplateInstruction[];
  #known = new Map<string, Row>();
  #cached = 0;

  constructor({ code, accept }: TemplateProgram) {
    this.#code = code;
    this.#accept = accept;
    this.#limited = code.filter((instruction) => instruction.max < Infinity);
  }

  read(uri: string): UriRows {
    if (this.#cached > maxCached) {
      this.#known = new Map();
      this.#cached = 0;
    }
    const rows: Row[] = [];
    rows.length = uri.length + 1;
    const lengths = this.#limited.map((run) => ({ run, counts: new Int32Array(uri.length + 1) }));
    const nowhere = this.#toRow(new Uint8Array(this.#code.length).fill(1, 0, 1));
    let row = (nowhere.before[characterKinds.end] ??= this.#step(characterKinds.end, nowhere, nowhere));
    rows[uri.length] = row;
    for (let at = uri.length - 1, dead = 0; at >= 0 && dead < maxEscape; at--) {
      const next = row;
      let kind = kindAt(uri, at);
      const escaped = kind === percent ? escapeEnd(uri, at) : 0;
      if (escaped > 0) kind = characterKinds.escape;
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
    return new UriRows(uri, rows, lengths);
  }

  /** The row of a position, from the next row and the row in which a run continues. */
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

  #without(row: Row, { index }: TemplateInstruction): Row {
    row.without ??= [];
    return (row.without[index] ??= this.#toRow(row.leads.with(index, 0)));
  }
}
