// The columns of calls, and how a call is named.
import type { VNode } from "preact";
import type { CallRow } from "../../answers.ts";
import { formatLatency, formatTime } from "../base/format.ts";
import { go, hrefOf } from "../base/router.ts";
import { Badge, type Tone } from "../components/badge.tsx";
import type { Column } from "../components/table.tsx";

const tones: Readonly<Record<CallRow["outcome"], Tone>> = {
  ok: "plain",
  error: "bad",
  cancelled: "warn",
  working: "accent",
};

export const callColumns: readonly Column<CallRow>[] = [
  {
    title: "Call",
    line: 1,
    show: (call) => (
      <a href={hrefOf("call", call.id)} title={`${titleOf(call)} · show it`}>
        <CallName call={call} />
      </a>
    ),
  },
  {
    title: "Why",
    line: 2,
    show: (call) => <Why call={call} />,
    hint: "Why it failed, and the id of the error",
  },
  {
    title: "Latency",
    width: 84,
    isFigure: true,
    line: 1,
    show: ({ durationMs, outcome }) => (outcome === "working" ? "" : formatLatency(durationMs)),
    hint: "How long it took; of a call that became a task, how long the task took",
  },
  { title: "Outcome", width: 104, line: 2, show: (call) => <Outcome call={call} /> },
  {
    title: "Client",
    width: 130,
    line: 2,
    show: ({ client, revision }) => <span title={revision}>{client ?? "unknown"}</span>,
  },
  {
    title: "Ended",
    width: 80,
    isFigure: true,
    line: 2,
    show: ({ agoMs }) => formatTime(Date.now() - agoMs),
  },
];

export function openCall({ id }: CallRow): void {
  go("call", id);
}

export function titleOf({ method, name }: CallRow): string {
  return name === undefined ? method : `${method} ${name}`;
}

/** Most calls are tool calls, so only other methods are shown beside the name. */
function CallName({ call: { method, name } }: { readonly call: CallRow }): VNode {
  const isOther = name !== undefined && method !== "tools/call";
  return (
    <>
      {name ?? method} {isOther && <span class="muted">{method}</span>}
    </>
  );
}

export function Outcome({ call: { outcome, errorCode } }: { readonly call: CallRow }): VNode {
  return <Badge tone={tones[outcome]}>{errorCode === undefined ? outcome : `${outcome} ${errorCode}`}</Badge>;
}

function Why({ call: { reason, errorId } }: { readonly call: CallRow }): VNode | null {
  if (reason === undefined && errorId === undefined) return null;
  const id = errorId === undefined ? "" : `error id ${errorId}`;
  return (
    <span title={[reason, id].filter(Boolean).join(" · ")}>
      {reason} {id && <code class="muted">{errorId}</code>}
    </span>
  );
}
