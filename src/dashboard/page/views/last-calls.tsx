// The last calls, with links to the timelines of their clients. They stand still while the pointer is on them.
import type { VNode } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { CallRow, Now } from "../../answers.ts";
import { formatLatency, formatTime } from "../base/format.ts";
import { go, hrefOf } from "../base/router.ts";
import { wantedOf } from "../timeline/wanted.ts";
import { Badge, type Tone } from "../components/badge.tsx";
import { type Column, Table } from "../components/table.tsx";

interface TimedCall extends CallRow {
  readonly endedAt: number;
}

const tones: Readonly<Record<CallRow["outcome"], Tone>> = { ok: "plain", error: "bad", cancelled: "warn" };

/** Most calls are tool calls, so only other methods are shown beside the name. */
function isOther(method: string, name: string | undefined): boolean {
  return name !== undefined && method !== "tools/call";
}

const columns: readonly Column<TimedCall>[] = [
  {
    title: "Call",
    line: 1,
    show: (call) => <Name call={call} />,
  },
  {
    title: "Latency",
    width: 84,
    isFigure: true,
    line: 1,
    show: ({ durationMs }) => formatLatency(durationMs),
  },
  {
    title: "Outcome",
    width: 104,
    line: 2,
    show: ({ outcome, errorCode }) => (
      <Badge tone={tones[outcome]}>{errorCode === undefined ? outcome : `${outcome} ${errorCode}`}</Badge>
    ),
  },
  {
    title: "Client",
    width: 160,
    line: 2,
    show: ({ client, revision }) => <span title={revision}>{client ?? "unknown"}</span>,
  },
  { title: "Ended", width: 80, isFigure: true, line: 2, show: ({ endedAt }) => formatTime(endedAt) },
];

function Name({ call }: { readonly call: TimedCall }): VNode {
  const { peer, method, name } = call;
  return (
    <a href={hrefOf("session", peer, wantedOf(call))} title={`${method} ${name ?? ""}`}>
      {name ?? method} {isOther(method, name) && <span class="muted">{method}</span>}
    </a>
  );
}

export function LastCalls({ answer }: { readonly answer: Now }): VNode {
  const [isHeld, hold] = useState(false);
  const latest = useMemo(() => timed(answer.calls), [answer]);
  const shown = useRef(latest);
  if (!isHeld) shown.current = latest;
  return (
    <section
      class="last-calls"
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocusCapture={() => hold(true)}
      onBlurCapture={() => hold(false)}
    >
      <h2>
        Last calls{" "}
        <span class="muted" aria-live="polite">
          {isHeld ? "held while the pointer is here" : ""}
        </span>
      </h2>
      <Table
        label="Last calls"
        columns={columns}
        rows={shown.current}
        keyOf={(call) => String(shown.current.indexOf(call))}
        onOpen={(call) => go("session", call.peer, wantedOf(call))}
        empty={
          <p class="none">No call has ended since the dashboard was opened. Call a tool to see it here.</p>
        }
      />
    </section>
  );
}

function timed(calls: readonly CallRow[]): readonly TimedCall[] {
  const now = Date.now();
  return calls.map((call) => ({ ...call, endedAt: now - call.agoMs }));
}
