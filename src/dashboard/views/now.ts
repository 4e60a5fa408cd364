// The view of the present: calls and latencies of the last minutes, open connections, refusals, the last calls.
import type { Counts, Now, RefusalRow, Series } from "../answers.ts";
import type { EndedCall } from "../sampling/kept-calls.ts";
import { Histogram, shownShares } from "../sampling/histogram.ts";
import { maxReasons } from "../sampling/refusals.ts";
import { keptSeconds, type Second, type Seconds } from "../sampling/series.ts";
import type { RecentCalls } from "../../window/index.ts";
import type { NodePart, SharedView } from "./view.ts";

/** Milliseconds that clocks of nodes differ before their seconds are moved. */
const sameClockMs = 2000;

/** Last calls that are shown beside the figures. */
const maxCalls = 30;

interface Part {
  readonly seconds: Seconds;
  readonly refusals: readonly RefusalRow[];
  readonly calls: readonly EndedCall[];
  readonly sampledMs: number;
  readonly isEstimate: boolean;
}

export const now: SharedView<"now", Part> = {
  answer({ sampling, window }) {
    const { samples } = sampling.ask();
    const time = performance.now();
    return {
      seconds: withRecent(samples.series.before(samples.second), window.recent()),
      refusals: samples.refusals.rows(time),
      calls: samples.calls.last(time, maxCalls),
      sampledMs: time - samples.since,
      isEstimate: samples.isEstimate,
    };
  },
  merge(parts) {
    const calls = parts.flatMap(({ node, part }) => part.calls.map((call) => ({ ...call, node })));
    calls.sort((one, other) => one.agoMs - other.agoMs);
    const seconds = secondsOf(parts);
    return {
      counts: sumOf(parts.map(({ figures }) => figures.counts)),
      series: seriesOf(seconds),
      callsPerSecond: perSecond(seconds.merged.slice(-60)),
      refusals: refusalsOf(parts.flatMap(({ part }) => part.refusals)),
      calls: calls.slice(0, maxCalls),
      sampledMs: Math.max(...parts.map(({ part }) => part.sampledMs)),
      isEstimate: parts.some(({ part }) => part.isEstimate),
    };
  },
};

/** The seconds with those before the page was opened, of which only the counts are known. */
function withRecent({ last, seconds }: Seconds, { from, calls, errors }: RecentCalls): Seconds {
  const first = last - seconds.length + 1;
  const earlier: Second[] = [];
  for (let at = Math.max(from, last - keptSeconds + 1); at < first; at++)
    earlier.push({ calls: calls[at - from] ?? 0, errors: errors[at - from] ?? 0, durations: [] });
  return { last, seconds: [...earlier, ...seconds] };
}

/** The same second of all nodes that know it. */
type Merged = readonly Second[];

/**
 * The last seconds, oldest first, by the clock of the node that was asked. The seconds of a node with another clock are moved.
 */
function secondsOf(parts: readonly NodePart<Part>[]): { readonly last: number; readonly merged: Merged[] } {
  const last = parts[0]?.part.seconds.last ?? 0;
  const merged: Second[][] = Array.from({ length: keptSeconds }, () => []);
  for (const { aheadMs, part } of parts) {
    const ahead = Math.abs(aheadMs) < sameClockMs ? 0 : Math.round(aheadMs / 1000);
    const { seconds } = part;
    const first = seconds.last - ahead - seconds.seconds.length + 1;
    seconds.seconds.forEach((second, at) => merged[keptSeconds - 1 - (last - first - at)]?.push(second));
  }
  return { last, merged };
}

function seriesOf({ last, merged }: { readonly last: number; readonly merged: Merged[] }): Series {
  const points = merged.map((all) =>
    all.length === 1 && all[0] ? percentilesOfOne(all[0]) : percentilesOf(all),
  );
  const pick = (index: number): (number | null)[] => points.map((point) => point[index] ?? null);
  const sum = (of: "calls" | "errors"): (number | null)[] =>
    merged.map((all) => (all.length === 0 ? null : all.reduce((total, second) => total + second[of], 0)));
  return {
    from: last - keptSeconds + 1,
    calls: sum("calls"),
    errors: sum("errors"),
    p50: pick(0),
    p90: pick(1),
    p99: pick(2),
  };
}

type Percentiles = readonly (number | undefined)[];

/** Of seconds of this node, which do not change any more. */
const computed = new WeakMap<Second, Percentiles>();

function percentilesOfOne(second: Second): Percentiles {
  const percentiles = computed.get(second) ?? percentilesOf([second]);
  computed.set(second, percentiles);
  return percentiles;
}

function percentilesOf(all: Merged): Percentiles {
  if (all.every(({ calls }) => calls === 0)) return [];
  const durations = new Histogram();
  for (const second of all) durations.merge(second.durations);
  return durations.percentiles(shownShares);
}

function perSecond(merged: readonly Merged[]): number {
  const known = merged.filter((all) => all.length > 0);
  const calls = known.flat().reduce((sum, second) => sum + second.calls, 0);
  return known.length === 0 ? 0 : calls / known.length;
}

function sumOf(all: readonly Counts[]): Counts {
  const add = (one: Counts, other: Counts): Counts => ({
    sessions: one.sessions + other.sessions,
    streams: one.streams + other.streams,
    subscriptions: one.subscriptions + other.subscriptions,
    inFlight: one.inFlight + other.inFlight,
    questions: one.questions + other.questions,
    tasks: one.tasks + other.tasks,
    unsentBytes: one.unsentBytes + other.unsentBytes,
    // Every node counts the logs of all nodes.
    keptBytes: Math.max(one.keptBytes, other.keptBytes),
  });
  return all.reduce(add);
}

/** The same refusals of all nodes together, the last ones first. */
function refusalsOf(all: readonly RefusalRow[]): Now["refusals"] {
  const byReason = new Map<string, RefusalRow>();
  for (const row of all) {
    const key = `${row.status} ${row.errorCode} ${row.reason}`;
    const known = byReason.get(key);
    const agoMs = Math.min(known?.agoMs ?? row.agoMs, row.agoMs);
    byReason.set(key, { ...row, count: row.count + (known?.count ?? 0), agoMs });
  }
  const rows = [...byReason.values()].toSorted((one, other) => one.agoMs - other.agoMs);
  return rows.slice(0, maxReasons);
}
