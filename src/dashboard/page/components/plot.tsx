// A live plot of the last minutes: it scrolls with time, rarely changes its scale, and shows the figures under the pointer in its
// legend.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { formatTime } from "../base/format.ts";
import { shownTheme } from "../base/theme.ts";
import { decades, decadesBetween, steadyTop } from "./scales.ts";

export interface PlotSeries {
  readonly name: string;
  /** A token of styles/tokens.css: `--series-1`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** The area below is filled lightly. */
  readonly isFilled?: boolean;
}

export interface PlotProps {
  readonly title: string;
  /** Seconds since 1970 of the first value; there is one for each second. */
  readonly from: number;
  readonly series: readonly PlotSeries[];
  /** The usual number of digits of the figures in the legend, so that they seldom move each other. */
  readonly digits: number;
  /** A figure of the legend. */
  readonly format: (value: number | null | undefined) => string;
  /** A figure at the axis. */
  readonly formatTick: (value: number) => string;
  /** Each step of the axis is ten times the last one: for figures of several magnitudes. */
  readonly isLogarithmic?: boolean;
}

export function Plot(props: PlotProps): VNode {
  const { title, digits, format } = props;
  const { from, series } = sinceKnown(props);
  const frame = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const plot = useRef<uPlot>();
  const [pointed, setPointed] = useState<number>();
  const theme = shownTheme.use();
  useEffect(() => {
    const made = makePlot(props, frame.current!, legend.current!, setPointed);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize(sizeOf(frame.current!)));
    resized.observe(frame.current!);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.series]);
  useEffect(() => plot.current?.redraw(false), [theme]);
  return (
    <section class="plot" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="plot-time figure">
          {pointed === undefined ? "" : formatTime((from + pointed) * 1_000)}
        </span>
        <ul class="plot-legend" ref={legend}>
          {series.map(({ name, color, values }) => (
            <li key={name}>
              <span class="swatch" style={{ color: `var(${color})` }} />
              {name}
              <span class="figure" style={{ minWidth: `${digits}ch` }}>
                {format(values.at(pointed ?? -1))}
              </span>
            </li>
          ))}
        </ul>
      </header>
      <div class="plot-frame" ref={frame} aria-hidden="true" />
    </section>
  );
}

function makePlot(
  props: PlotProps,
  frame: HTMLElement,
  legend: HTMLElement,
  onPoint: (index: number | undefined) => void,
): uPlot {
  const styleOf = (name: string): string => getComputedStyle(frame).getPropertyValue(name);
  // A canvas knows no tokens: the swatches of the legend have their colours.
  const colorOf = (index: number): string =>
    getComputedStyle(legend.querySelectorAll(".swatch")[index]!).color;
  const { isLogarithmic = false, series, formatTick } = props;
  const axis = {
    stroke: () => styleOf("color"),
    font: `11px ${styleOf("font-family")}`,
    grid: { stroke: () => styleOf("border-top-color"), width: 1 },
    ticks: { show: false },
  };
  const scale: uPlot.Scale = isLogarithmic ? { distr: 3, range: decades } : { range: steadyTop() };
  return new uPlot(
    {
      ...sizeOf(frame),
      // Half of a time label with seconds fits on the right.
      padding: [8, 30, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { x: { time: true }, y: scale },
      axes: [
        {
          ...axis,
          size: 22,
          gap: 6,
          incrs: [10, 30, 60, 120],
          space: 56,
          values: (_, ticks, __, ___, step) => ticks.map((tick) => timeOf(tick, step)),
        },
        {
          ...axis,
          size: 54,
          gap: 6,
          space: 26,
          // If a scale is too low for all its lines, some have no value.
          values: (_, ticks: (number | null)[]) =>
            ticks.map((tick) => (tick === null ? "" : formatTick(tick))),
          ...(isLogarithmic && { splits: decadesBetween }),
        },
      ],
      series: [
        {},
        ...series.map(({ name, isFilled = false }, index): uPlot.Series => ({
          label: name,
          stroke: () => colorOf(index),
          width: 1.5,
          points: { show: true, size: 4, filter: alone },
          fill: isFilled ? () => withAlpha(colorOf(index)) : "transparent",
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    },
    dataOf(props),
    frame,
  );
}

/** Leaves out the time without figures, but shows at least the last minute, so that a new plot is not empty. */
function sinceKnown({ from, series }: PlotProps): Pick<PlotProps, "from" | "series"> {
  const lengths = series.map(({ values }) => values.length);
  const known = series
    .map(({ values }) => values.findIndex((value) => value !== null))
    .filter((at) => at >= 0);
  const skipped = Math.max(0, Math.min(...known, Math.max(...lengths) - 60));
  return {
    from: from + skipped,
    series: series.map((one) => Object.assign({}, one, { values: one.values.slice(skipped) })),
  };
}

/** A value without neighbours is drawn as a point, because it has no line. */
function alone({ data }: uPlot, index: number): number[] {
  const values = data[index] ?? [];
  const isMissing = (at: number): boolean => (values[at] ?? null) === null;
  return [...values.keys()].filter((at) => !isMissing(at) && isMissing(at - 1) && isMissing(at + 1));
}

function dataOf(props: PlotProps): uPlot.AlignedData {
  const { isLogarithmic = false } = props;
  const { from, series } = sinceKnown(props);
  const length = series[0]?.values.length ?? 0;
  const times = Array.from({ length }, (_, index) => from + index);
  // Zero has no logarithm, so a duration of zero is shown as a hundredth of a millisecond.
  const shown = (value: number | null): number | null =>
    value === null || !isLogarithmic ? value : Math.max(value, 0.01);
  return [times, ...series.map(({ values }) => values.map(shown))];
}

function sizeOf(frame: HTMLElement): { width: number; height: number } {
  return { width: frame.clientWidth, height: frame.clientHeight };
}

/** Whole minutes have no seconds. */
function timeOf(second: number, step: number): string {
  const time = formatTime(second * 1_000);
  return step % 60 === 0 ? time.slice(0, 5) : time;
}

/** A computed colour is `rgb(…)`. */
function withAlpha(color: string): string {
  return color.replace("rgb(", "rgba(").replace(")", ", 0.12)");
}
