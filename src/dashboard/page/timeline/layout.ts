// The layout of a timeline: rows for overlapping bars, merged bars that are too close, ticks, and hops between nodes.
import { type Lane, lanes, type TimelineEntry } from "../../answers.ts";

/** The part of time that is shown. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A lane with its entries in rows, so that no two bars of a row overlap. */
export interface Rows {
  readonly lane: Lane;
  /** Each entry with its row; entries that began earlier come first. */
  readonly placed: readonly Placed[];
  readonly rows: number;
}

export interface Placed {
  readonly entry: TimelineEntry;
  readonly row: number;
}

/** One or more entries that are drawn as one bar. */
export interface Bar {
  readonly entries: readonly TimelineEntry[];
  readonly row: number;
  readonly left: number;
  readonly width: number;
}

const maxRows = 8;
const minWidth = 3;
/** A gap means lost messages. Its bar is wide enough for its name, so that the stream that begins with it is placed below. */
const gapWidth = 36;
const gapMs = 3_000;

/** Puts each entry into the first row that is free when it begins; in the last one they may overlap. */
export function stack(entries: readonly TimelineEntry[], now: number): Rows[] {
  return lanes.map((lane) => {
    const ends: number[] = [];
    const placed = entries
      .filter((entry) => entry.lane === lane)
      .map((entry) => {
        const free = ends.findIndex((end) => end <= entry.startedAt);
        const row = free >= 0 ? free : Math.min(ends.length, maxRows - 1);
        const end = entry.kind === "gap" ? entry.startedAt + gapMs : (entry.endedAt ?? now);
        ends[row] = Math.max(ends[row] ?? 0, end);
        return { entry, row };
      });
    return { lane, placed, rows: Math.max(1, ends.length) };
  });
}

/** The bars in view. Short ones that would overlap are merged. */
export function barsIn({ placed }: Rows, span: Span, width: number, now: number): Bar[] {
  const scale = width / (span.to - span.from);
  /** The place of the last bar of each row in `bars`. */
  const last: number[] = [];
  const bars: Bar[] = [];
  for (const { entry, row } of placed) {
    const end = entry.endedAt ?? now;
    if (end < span.from || entry.startedAt > span.to) continue;
    const left = Math.max((entry.startedAt - span.from) * scale, -edge);
    const right = Math.min((end - span.from) * scale, width + edge);
    const least = entry.kind === "gap" ? gapWidth : minWidth;
    const bar = { entries: [entry], row, left, width: Math.max(right - left, least) };
    const at = last[row] ?? -1;
    const before = bars[at];
    const isClose = before && left < before.left + before.width + 1;
    if (before && isClose && bar.width < mergedWidth && before.width < mergedWidth) {
      bars[at] = { ...before, entries: [...before.entries, entry], width: left + bar.width - before.left };
    } else last[row] = bars.push(bar) - 1;
  }
  return bars;
}

/** Bars that are wider stay on their own. */
const mergedWidth = 12;
/** Pixels that a bar reaches beyond the view, so that its end is not seen. */
const edge = 20;

/** Two entries on two nodes about the same thing. */
export interface Hop {
  readonly from: TimelineEntry;
  readonly to: TimelineEntry;
}

/** Finds entries that continue on another node. */
export function hopsOf(entries: readonly TimelineEntry[]): Hop[] {
  const last = new Map<string, TimelineEntry>();
  return entries.flatMap((to) => {
    if (to.link === undefined) return [];
    const from = last.get(to.link);
    last.set(to.link, to);
    return from !== undefined && from.node !== to.node ? [{ from, to }] : [];
  });
}

/** When an entry stopped on its node. For a stream, its last cut counts too. */
export function stopOf({ endedAt, points }: TimelineEntry): number | undefined {
  const last = points.at(-1);
  return endedAt ?? (last && interruptions.has(last.what) ? last.at : undefined);
}

/** Ends entries that continued on another node: a stream that was resumed there, a question or a call that was answered there. */
export function endedElsewhere(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const open = hopsOf(entries).filter(({ from }) => from.endedAt === undefined);
  if (open.length === 0) return entries;
  const next = new Map(open.map(({ from, to }) => [from.id, to]));
  return entries.map((entry) => {
    const to = next.get(entry.id);
    if (to === undefined) return entry;
    const outcome = to.lane === "streams" ? "moved" : to.outcome;
    return { ...entry, endedAt: stopOf(entry) ?? to.startedAt, outcome };
  });
}

/** Lets each call that became a task end with its task, with a point where its handle was returned. */
export function asTasks(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const tasks = entries.filter(({ lane }) => lane === "tasks");
  if (tasks.length === 0) return entries;
  const taskOf = new Map<string, TimelineEntry>();
  for (const task of tasks) {
    const call = entries.findLast(
      ({ id, kind, label, node, startedAt, endedAt = Infinity }) =>
        kind === "tools/call" &&
        label === task.label &&
        node === task.node &&
        startedAt <= task.startedAt &&
        task.startedAt <= endedAt &&
        !taskOf.has(id),
    );
    if (call) taskOf.set(call.id, task);
  }
  return entries.map((entry) => {
    const task = taskOf.get(entry.id);
    if (task === undefined) return entry;
    const { endedAt, outcome } = task;
    return {
      ...entry,
      endedAt,
      outcome,
      points: [...entry.points, { at: task.startedAt, what: "became a task" }],
    };
  });
}

/** The parts of a stream's bar in which its client was away: from each cut to the next resume. */
export function awayIn({ points, endedAt }: TimelineEntry, now: number): Span[] {
  const away: Span[] = [];
  let from: number | undefined;
  for (const { at, what } of points) {
    if (what === "resumed" && from !== undefined) {
      away.push({ from, to: at });
      from = undefined;
    } else if (interruptions.has(what)) from ??= at;
  }
  return from === undefined ? away : [...away, { from, to: endedAt ?? now }];
}

const interruptions: ReadonlySet<string> = new Set(["cut", "slow", "paused"]);

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const milliseconds = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const steps = [
  ...milliseconds,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 6, 12, 24].map((count) => count * hour),
];

/** Times for the axis, at round values of the local clock; `hasMs` if seconds would not tell them apart. */
export function ticksIn(
  { from, to }: Span,
  width: number,
): { readonly at: readonly number[]; readonly hasMs: boolean } {
  const enough = ((to - from) / width) * 96;
  const step = steps.find((each) => each >= enough) ?? 24 * hour;
  const zone = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return { at: Array.from({ length: count }, (_, index) => first + index * step), hasMs: step < second };
}
