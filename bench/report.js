// Turns samples into Markdown tables.
import { pairedRatio, summary } from "./harness.js";

const HEAD = [
  "| contender | CPU us/request | against | ratio (median) | p25 - p75 | min - max | target |",
  "|---|--:|---|--:|--:|--:|---|",
];

/** One table: a line for each comparison `{ name, against?, atMost?, atLeast? }`. */
export function table(title, samples, comparisons) {
  return [`### ${title}`, "", ...HEAD, ...comparisons.map((one) => line(samples, one)), ""].join("\n");
}

function line(samples, { name, against, ...target }) {
  const cost = summary(samples.get(name)).median.toFixed(2);
  if (against === undefined) return cells(name, cost, "-", "-", "-", "-", "-");
  const ratio = pairedRatio(samples, name, against);
  const middle = `${ratio.p25.toFixed(2)} - ${ratio.p75.toFixed(2)}`;
  const whole = `${ratio.min.toFixed(2)} - ${ratio.max.toFixed(2)}`;
  return cells(name, cost, against, ratio.median.toFixed(2), middle, whole, verdict(ratio.median, target));
}

function verdict(median, { atMost, atLeast }) {
  if (atMost !== undefined) return `<= ${atMost.toFixed(1)}: ${median <= atMost ? "met" : "MISSED"}`;
  if (atLeast !== undefined) return `>= ${atLeast.toFixed(1)}: ${median >= atLeast ? "met" : "MISSED"}`;
  return "-";
}

function cells(...values) {
  return `| ${values.join(" | ")} |`;
}
