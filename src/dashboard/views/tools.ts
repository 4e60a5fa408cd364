// The tools and other methods: how often they are called, how long that takes, what runs now.
import type { ToolRow } from "../answers.ts";
import { Histogram, shownShares } from "../sampling/histogram.ts";
import { countedName, keyOf, type ToolFigures } from "../sampling/tools.ts";
import { searchedText } from "../sampling/texts.ts";
import { everyRow } from "./every-row.ts";
import { Finding, shownRows } from "./finding.ts";
import type { ServedNode } from "./served-node.ts";
import type { SharedView } from "./view.ts";

/** The figures of one node, with the calls that run there. */
interface Figures extends ToolFigures {
  readonly running: number;
  readonly runningMs: number | undefined;
}

interface Part {
  readonly tools: readonly Figures[];
  readonly total: number;
}

/** Tools of one node in an answer. Tools without calls are left out first. */
const maxTools = 1000;

export const tools: SharedView<"tools", Part> = {
  answer(node, question) {
    const finding = new Finding(node, question);
    const found = figuresOn(node).filter(({ method, name }) => finding.matches(searchedText([method, name])));
    const [used, unused] = [found.filter(isUsed), found.filter((figures) => !isUsed(figures))];
    return { tools: [...used, ...unused].slice(0, maxTools), total: found.length };
  },
  merge(parts) {
    const byKey = new Map<string, Figures[]>();
    for (const figures of parts.flatMap(({ part }) => part.tools)) {
      const key = keyOf(figures.method, figures.name);
      const same = byKey.get(key);
      if (same === undefined) byKey.set(key, [figures]);
      else same.push(figures);
    }
    const rows = [...byKey.values()].map(rowOf);
    const total = Math.max(rows.length, ...parts.map(({ part }) => part.total));
    return { rows: shownRows(rows, orderOf), total };
  },
};

function isUsed({ calls, running }: Figures): boolean {
  return calls > 0 || running > 0;
}

/** Tools come first, then prompts, then everything else. */
function orderOf({ method, name }: ToolRow): string {
  const rank = method === "tools/call" ? 0 : method === "prompts/get" ? 1 : 2;
  return `${rank} ${method} ${name}`;
}

/** The figures of tools and methods that were called, are running, or could be called. */
function figuresOn(node: ServedNode): Figures[] {
  const { samples } = node.sampling.ask();
  const running = runningByKey(node);
  const figures = new Map<string, Figures>();
  const add = (tool: ToolFigures): void => {
    const key = keyOf(tool.method, tool.name);
    const { running: count, runningMs } = running.get(key) ?? idle;
    figures.set(key, { ...tool, running: count, runningMs });
  };
  for (const { name } of everyRow(node.window, "tools"))
    add(uncalled("tools/call", countedName("tools/call", name)));
  for (const { method, name } of running.values()) add(uncalled(method, name));
  for (const tool of samples.tools.figures()) add(tool);
  return [...figures.values()];
}

const idle = { running: 0, runningMs: undefined };

function uncalled(method: string, name: string | undefined): ToolFigures {
  return { method, name, calls: 0, errors: 0, cancelled: 0, longestMs: 0, errorCodes: [], durations: [] };
}

interface RunningTool {
  readonly method: string;
  readonly name: string | undefined;
  readonly running: number;
  readonly runningMs: number;
}

function runningByKey({ window }: ServedNode): Map<string, RunningTool> {
  const byKey = new Map<string, RunningTool>();
  for (const { method, name: subject, isStream, runningMs: ms } of everyRow(window, "calls")) {
    if (isStream) continue;
    const name = countedName(method, subject);
    const key = keyOf(method, name);
    const known = byKey.get(key);
    const runningMs = Math.max(known?.runningMs ?? 0, ms);
    byKey.set(key, { method, name, running: (known?.running ?? 0) + 1, runningMs });
  }
  return byKey;
}

function rowOf(all: readonly Figures[]): ToolRow {
  const durations = new Histogram();
  const codes = new Map<number, number>();
  const sum = { calls: 0, errors: 0, cancelled: 0, running: 0 };
  let longestMs: number | undefined;
  let runningMs: number | undefined;
  for (const figures of all) {
    durations.merge(figures.durations);
    for (const [code, count] of figures.errorCodes) codes.set(code, (codes.get(code) ?? 0) + count);
    sum.calls += figures.calls;
    sum.errors += figures.errors;
    sum.cancelled += figures.cancelled;
    sum.running += figures.running;
    if (figures.calls > 0) longestMs = Math.max(longestMs ?? 0, figures.longestMs);
    if (figures.runningMs !== undefined) runningMs = Math.max(runningMs ?? 0, figures.runningMs);
  }
  // The middle of a bucket may exceed the longest call in it.
  const mostMs = longestMs ?? Number.POSITIVE_INFINITY;
  const [p50, p90, p99] = durations.percentiles(shownShares).map((ms) => ms && Math.min(ms, mostMs));
  const errorCodes = [...codes].map(([code, count]) => ({ code, count }));
  errorCodes.sort((one, other) => other.count - one.count);
  const { method = "", name } = all[0] ?? {};
  return { method, name, ...sum, p50, p90, p99, longestMs, errorCodes, runningMs };
}
