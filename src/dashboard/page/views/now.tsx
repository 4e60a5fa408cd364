// Now: what is open, how many calls there are and how long they take, the nodes, what was refused, and the last calls.
import type { VNode } from "preact";
import type { Counts, Now as Answer } from "../../answers.ts";
import { formatBytes, formatCount, formatLatency, formatRate, nothing } from "../base/format.ts";
import { usePolled } from "../base/polling.ts";
import { hrefOf } from "../base/router.ts";
import { Plot } from "../components/plot.tsx";
import { Stat } from "../components/stat.tsx";
import { LastCalls } from "./last-calls.tsx";
import { Nodes } from "./nodes.tsx";
import { NoClient } from "./no-client.tsx";
import { Refusals } from "./refusals.tsx";

const everyMs = 1_000;

/** After this time, a client that calls now and then has been seen. */
const settledMs = 1_500;

export function Now(): VNode | null {
  const { answer } = usePolled("now", {}, everyMs);
  if (answer === undefined) return null;
  const isQuiet = isUnused(answer);
  return (
    <div class="now">
      <Stats answer={answer} />
      {isQuiet ? answer.sampledMs > settledMs && <NoClient /> : <Plots answer={answer} />}
      <Nodes nodes={answer.nodes} />
      {!isQuiet && <LastCalls calls={answer.calls} />}
      {(!isQuiet || answer.refusals.length > 0) && <Refusals refusals={answer.refusals} />}
    </div>
  );
}

/** Whether no client is connected, and none has called in the last minutes. */
function isUnused({ counts, calls, series }: Answer): boolean {
  const called = series.calls.some((count) => count !== null && count > 0);
  return !called && counts.sessions + counts.streams + counts.inFlight + calls.length === 0;
}

const figures: readonly { name: string; hint: string; of: (counts: Counts) => string; view?: string }[] = [
  {
    name: "Legacy sessions",
    hint: "Open on all nodes; modern clients have none",
    of: ({ sessions }) => formatCount(sessions),
    view: "sessions",
  },
  {
    name: "Streams",
    hint: "Open streams to clients",
    of: ({ streams }) => formatCount(streams),
    view: "streams",
  },
  {
    name: "Subscriptions",
    hint: "Topics that clients listen to",
    of: ({ subscriptions }) => formatCount(subscriptions),
    view: "topics",
  },
  {
    name: "Open questions",
    hint: "Questions that clients have not answered",
    of: ({ questions }) => formatCount(questions),
  },
  { name: "Tasks", hint: "Tasks that are kept", of: ({ tasks }) => formatCount(tasks) },
  {
    name: "Running calls",
    hint: "Calls that run now",
    of: ({ inFlight }) => formatCount(inFlight),
    view: "tools",
  },
  {
    name: "Unsent",
    hint: "Bytes that slow readers have not taken",
    of: ({ unsentBytes }) => formatBytes(unsentBytes),
    view: "streams",
  },
];

function Stats({ answer: { counts, callsPerSecond } }: { readonly answer: Answer }): VNode {
  return (
    <section class="stats" aria-label="Figures">
      <Stat name="Calls per second" value={formatRate(callsPerSecond)} hint="Of the last minute" />
      {figures.map(({ name, hint, of, view }) => (
        <Stat key={name} name={name} value={of(counts)} hint={hint} {...(view && { href: hrefOf(view) })} />
      ))}
    </section>
  );
}

function Plots({ answer: { series, isEstimate } }: { readonly answer: Answer }): VNode {
  const { from, calls, errors, p50, p90, p99 } = series;
  return (
    <div class="plots">
      <Plot
        title="Calls per second"
        from={from}
        digits={3}
        format={(value) => (value === null ? nothing : formatCount(value))}
        formatTick={formatCount}
        series={[
          { name: "calls", color: "--series-1", values: calls, isFilled: true },
          { name: "errors", color: "--bad", values: errors, isFilled: true },
        ]}
      />
      <Plot
        title={isEstimate ? "Latency (estimate)" : "Latency"}
        from={from}
        digits={7}
        format={formatLatency}
        formatTick={(ms) => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`)}
        isLogarithmic
        series={[
          { name: "p50", color: "--series-1", values: p50 },
          { name: "p90", color: "--series-2", values: p90 },
          { name: "p99", color: "--series-3", values: p99 },
        ]}
      />
    </div>
  );
}
