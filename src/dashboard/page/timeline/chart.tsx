// The lanes of a timeline with their bars, points and hops, above them the axis of time.
import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Lane, TimelineEntry } from "../../answers.ts";
import { formatTime } from "../base/format.ts";
import {
  awayIn,
  type Bar,
  barsIn,
  type Hop,
  hopsOf,
  type Rows,
  type Span,
  stack,
  stopOf,
  ticksIn,
} from "./layout.ts";
import { describe, toneOf } from "./wording.ts";
import { type TimeWindow, useGestures } from "./window.ts";

export interface ChartProps {
  readonly entries: readonly TimelineEntry[];
  readonly window: TimeWindow;
  readonly now: number;
  readonly since: number;
  readonly selected: string | undefined;
  /** A short name for each node; undefined if there is only one. */
  readonly nodeMarks: ReadonlyMap<string, string> | undefined;
  readonly onSelect: (entries: readonly TimelineEntry[]) => void;
}

const rowHeight = 22;
const laneGap = 10;
/** A narrow chart has the names of its lanes above their bars. */
const narrow = 480;
const titleHeight = 14;
/** Bars that are not wider are of one colour. */
const slim = 16;
const titles: Readonly<Record<Lane, string>> = {
  streams: "Streams",
  calls: "Calls",
  questions: "Questions",
  pushes: "Pushes",
  tasks: "Tasks",
};

export function Chart(props: ChartProps): VNode {
  const { entries, window, now, since } = props;
  const { ref, width } = useGestures(window);
  const { span } = window;
  // An open bar blocks the rest of its row, so its end can be infinite.
  const rows = useMemo(() => stack(entries, Number.POSITIVE_INFINITY), [entries]);
  const scale = width / (span.to - span.from);
  const toX = (at: number): number => (at - span.from) * scale;
  const ticks = ticksIn(span, width);
  return (
    <div class="chart" role="group" aria-label="Timeline">
      <div class="chart-titles" aria-hidden="true">
        {rows.map(({ lane, rows: count }) => (
          <span key={lane} style={{ height: `${heightOf(count, width)}px` }}>
            {titles[lane]}
          </span>
        ))}
      </div>
      <div class="chart-plot" ref={ref}>
        <div class="axis" aria-hidden="true">
          {ticks.at.map((at) => (
            <span key={at} class="figure" style={{ left: `${toX(at)}px` }}>
              {formatTime(at, ticks.hasMs)}
            </span>
          ))}
        </div>
        <div class="chart-lanes">
          {ticks.at.map((at) => (
            <i key={at} class="grid-line" style={{ left: `${toX(at)}px` }} />
          ))}
          {since > span.from && <i class="unknown" style={{ width: `${Math.min(width, toX(since))}px` }} />}
          {now < span.to && <i class="now-line" style={{ left: `${toX(now)}px` }} />}
          {rows.map((lane) => (
            <LaneRow key={lane.lane} {...props} lane={lane} width={width} />
          ))}
          <Hops rows={rows} hops={hopsOf(entries)} span={span} width={width} />
        </div>
      </div>
    </div>
  );
}

function heightOf(rows: number, width: number): number {
  return topOf(rows, width) + laneGap / 2;
}

/** Where a row begins in its lane. */
function topOf(row: number, width: number): number {
  return (width < narrow ? titleHeight : 0) + row * rowHeight + laneGap / 2;
}

interface LaneProps extends ChartProps {
  readonly lane: Rows;
  readonly width: number;
}

function LaneRow({ lane, width, ...props }: LaneProps): VNode {
  const bars = barsIn(lane, props.window.span, width, props.now);
  return (
    <div
      class={`lane lane-${lane.lane}`}
      role="group"
      aria-label={titles[lane.lane]}
      style={{ height: `${heightOf(lane.rows, width)}px` }}
    >
      <span class="lane-title" aria-hidden="true">
        {titles[lane.lane]}
      </span>
      {bars.map((bar) => (
        <BarButton key={bar.entries[0]?.id} {...props} bar={bar} width={width} />
      ))}
    </div>
  );
}

interface BarProps extends ChartProps {
  readonly bar: Bar;
  readonly width: number;
}

function BarButton({ bar, now, selected, nodeMarks, onSelect, window, width }: BarProps): VNode {
  const { entries, left, row } = bar;
  const [entry] = entries as readonly [TimelineEntry];
  const isSelected = entries.some(({ id }) => id === selected);
  const isPoint = entry.endedAt === entry.startedAt;
  const text =
    entries.length > 1
      ? `${entries.length} entries from ${formatTime(entry.startedAt, true)}`
      : describe(entry, now);
  const mark = nodeMarks?.get(entry.node);
  const shape = entries.length > 1 ? "many" : isPoint ? "point" : entry.endedAt === undefined ? "open" : "";
  const label = isPoint ? entry.kind : (entry.label ?? entry.kind);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) button.current?.focus({ preventScroll: true });
  }, [isSelected]);
  return (
    <button
      ref={button}
      type="button"
      class={`bar ${shape} ${bar.width < slim ? "slim" : ""} ${toneOf(entries)}`}
      data-entry={entry.id}
      aria-label={text}
      aria-pressed={isSelected}
      title={text}
      tabIndex={isSelected ? 0 : -1}
      style={{ left: `${left}px`, width: `${bar.width}px`, top: `${topOf(row, width)}px` }}
      onClick={() => onSelect(entries)}
    >
      {entries.length === 1 && !isPoint && bar.width > 6 && (
        <Inside entry={entry} bar={bar} span={window.span} width={width} now={now} />
      )}
      {bar.width > 34 && entries.length === 1 && (
        <span class="bar-text" style={{ paddingLeft: `${Math.max(5, 5 - left)}px` }}>
          {mark && <b>{mark}</b>}
          {label}
        </span>
      )}
    </button>
  );
}

interface InsideProps {
  readonly entry: TimelineEntry;
  readonly bar: Bar;
  readonly span: Span;
  readonly width: number;
  readonly now: number;
}

/** The parts of a bar in which its client was away, and its points. */
function Inside({ entry, bar, span, width, now }: InsideProps): VNode {
  const toX = (at: number): number => ((at - span.from) / (span.to - span.from)) * width - bar.left;
  return (
    <>
      {entry.lane === "streams" &&
        awayIn(entry, now).map(({ from, to }) => (
          <i key={from} class="away" style={{ left: `${toX(from)}px`, width: `${toX(to) - toX(from)}px` }} />
        ))}
      {entry.points.map(({ at, what }, index) => (
        <i key={index} class={`mark ${what.split(" ", 1)[0]}`} style={{ left: `${toX(at)}px` }} />
      ))}
    </>
  );
}

interface HopsProps {
  readonly rows: readonly Rows[];
  readonly hops: readonly Hop[];
  readonly span: Span;
  readonly width: number;
}

/** A line from the end on one node to the continuation on another one. */
function Hops({ rows, hops, span, width }: HopsProps): VNode | null {
  if (hops.length === 0) return null;
  const toX = (at: number): number => ((at - span.from) / (span.to - span.from)) * width;
  const tops = new Map<string, number>();
  let top = 0;
  for (const { placed, rows: count } of rows) {
    for (const { entry, row } of placed) tops.set(entry.id, top + topOf(row, width) + rowHeight / 2);
    // The line above each lane counts, too.
    top += heightOf(count, width);
  }
  return (
    <svg class="hops" aria-hidden="true" width={width} height={top}>
      {hops.map(({ from, to }) => {
        const [x1, x2] = [toX(stopOf(from) ?? to.startedAt), toX(to.startedAt)];
        const [y1, y2] = [tops.get(from.id) ?? 0, tops.get(to.id) ?? 0];
        const middle = (x1 + x2) / 2;
        return <path key={to.id} d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
      })}
    </svg>
  );
}
