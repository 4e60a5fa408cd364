// Turns samples into Markdown tables.
import { pairedRatio, summary } from "./harness.js";

const HEAD = [
  "| contender | CPU us/request | against | ratio (median) | p25 - p75 | min - max | target |",
  "|---|--:|---|--:|--:|--:|---|",
];

/** One table: a line for each comparison `{ name, against?, atMost?, atLeast?, noise? }`. */
export function table(title, samples, comparisons, unit = "request") {
  const head = [HEAD[0].replace("request", unit), HEAD[1]];
  return [`### ${title}`, "", ...head, ...comparisons.map((one) => line(samples, one)), ""].join("\n");
}

/** One table of ready-made cells; the first column is text, the last the target. */
export function plainTable(title, columns, rows) {
  const rule = columns.map((_, index) => (index === 0 || index === columns.length - 1 ? "---" : "--:"));
  return [
    `### ${title}`,
    "",
    cells(...columns),
    `|${rule.join("|")}|`,
    ...rows.map((row) => cells(...row)),
    "",
  ].join("\n");
}

function line(samples, { name, against, ...target }) {
  const cost = summary(samples.get(name)).median.toFixed(2);
  if (against === undefined) return cells(name, cost, "-", "-", "-", "-", "-");
  const ratio = pairedRatio(samples, name, against);
  const middle = `${ratio.p25.toFixed(2)} - ${ratio.p75.toFixed(2)}`;
  const whole = `${ratio.min.toFixed(2)} - ${ratio.max.toFixed(2)}`;
  return cells(name, cost, against, ratio.median.toFixed(2), middle, whole, verdict(ratio.median, target));
}

/** Whether a figure meets its target; `noise` is how far it may be off where both sides should cost the same. */
export function verdict(median, { atMost, atLeast, noise = 0 }) {
  const margin = noise === 0 ? "" : ` (+ ${noise} noise)`;
  if (atMost !== undefined)
    return `<= ${decimal(atMost)}${margin}: ${median <= atMost + noise ? "met" : "MISSED"}`;
  if (atLeast !== undefined) return `>= ${decimal(atLeast)}: ${median >= atLeast ? "met" : "MISSED"}`;
  return "-";
}

const decimal = (figure) => (Number.isInteger(figure) ? figure.toFixed(1) : String(figure));

function cells(...values) {
  return `| ${values.join(" | ")} |`;
}
