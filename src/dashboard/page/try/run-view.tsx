// The progress of a call, and its result.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatLatency } from "../base/format.ts";
import { Badge } from "../components/badge.tsx";
import { PromptResult, ReadResult, ToolResult } from "./content.tsx";
import type { Outcome, Run } from "./runs.ts";
import { TroubleView } from "./trouble-view.tsx";

export function RunView({ run }: { readonly run: Run }): VNode {
  const { what, outcome, progress, durationMs } = run;
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [run.startedAt, outcome]);
  return (
    <section class="run" aria-label="Result" ref={section}>
      <header>
        <p role="status">
          {outcome ? <OutcomeBadge outcome={outcome} /> : <Badge tone="accent">Running</Badge>}{" "}
          <code>{what}</code>
        </p>
        {outcome ? (
          <span class="figure muted">{formatLatency(durationMs)}</span>
        ) : (
          <Elapsed since={run.startedAt} />
        )}
        {!outcome && (
          <button type="button" onClick={run.cancel}>
            Cancel
          </button>
        )}
      </header>
      {progress && (!outcome || outcome.kind === "cancelled") && (
        <div class="progress">
          <progress
            aria-label="Progress"
            max={progress.total ?? 1}
            {...(progress.total !== undefined && { value: progress.progress })}
          />
          <span class="figure">
            {progress.progress}
            {progress.total !== undefined && ` of ${progress.total}`}
          </span>
          <span class="muted">{progress.message}</span>
        </div>
      )}
      {outcome?.kind === "tool" && <ToolResult result={outcome.result} />}
      {outcome?.kind === "prompt" && <PromptResult result={outcome.result} />}
      {outcome?.kind === "resource" && <ReadResult result={outcome.result} />}
      {outcome?.kind === "trouble" && <TroubleView trouble={outcome.trouble} />}
    </section>
  );
}

function OutcomeBadge({ outcome }: { readonly outcome: Outcome }): VNode {
  if (outcome.kind === "trouble") return <Badge tone="bad">Failed</Badge>;
  if (outcome.kind === "cancelled") return <Badge tone="warn">Cancelled</Badge>;
  if (outcome.kind === "tool" && outcome.result.isError)
    return <Badge tone="bad">The tool reports an error</Badge>;
  return <Badge tone="good">OK</Badge>;
}

const tickMs = 100;

function Elapsed({ since }: { readonly since: number }): VNode {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return <span class="figure muted">{(Math.max(0, now - since) / 1_000).toFixed(1)} s</span>;
}
