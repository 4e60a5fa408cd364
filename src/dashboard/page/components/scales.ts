// The scales of plots: they change seldom, so that a plot can be read while it scrolls.
import type uPlot from "uplot";

/** The lowest maximum of a counting scale, so that its lines are at whole numbers. */
const leastTop = 4;

/** A scale from 0: it grows at once, and shrinks only when less than a third of it is used. */
export function steadyTop(): uPlot.Range.Function {
  let top = 0;
  return (_, __, most) => {
    if (most > top || most < top / 3) top = roundUp(most);
    return [0, Math.max(top, leastTop)];
  };
}

/** A scale of whole powers of ten, at least two of them. */
export const decades: uPlot.Range.Function = (_, least, most) => {
  if (least === null || most === null) return [0.1, 100];
  const bottom = Math.floor(Math.log10(least));
  const top = Math.ceil(Math.log10(most));
  return [10 ** bottom, 10 ** Math.max(top, bottom + 2)];
};

/** Where such a scale has its lines. */
export function decadesBetween(_: uPlot, __: number, least: number, most: number): number[] {
  const bottom = Math.round(Math.log10(least));
  return Array.from(
    { length: Math.round(Math.log10(most)) - bottom + 1 },
    (___, index) => 10 ** (bottom + index),
  );
}

/** To the next of 1, 2, 4, 6, 10, with the power of ten that it needs. */
function roundUp(value: number): number {
  if (!(value > 0)) return 0;
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6].find((step) => step * unit >= value) ?? 10) * unit;
}
