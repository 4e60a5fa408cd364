// What the server refused, by reason.
import type { VNode } from "preact";
import type { RefusalRow } from "../../answers.ts";
import { formatCount, formatDuration } from "../base/format.ts";
import { type Column, Table } from "../components/table.tsx";

const lastFirst = { question: "", isGiven: true };

const columns: readonly Column<RefusalRow>[] = [
  { title: "Reason", line: 1, show: ({ reason }) => <span title={reason}>{reason}</span> },
  {
    title: "Status",
    width: 64,
    isFigure: true,
    line: 2,
    hint: "The status of HTTP, or the code of the JSON-RPC error",
    show: ({ status, errorCode }) => status ?? errorCode,
  },
  {
    title: "Count",
    width: 64,
    isFigure: true,
    line: 1,
    show: ({ count }) => formatCount(count),
    sort: ({ count }) => count,
  },
  { title: "Ago", width: 84, isFigure: true, line: 2, show: ({ agoMs }) => formatDuration(agoMs) },
];

export function Refusals({ refusals }: { readonly refusals: readonly RefusalRow[] }): VNode {
  return (
    <section class="refusals">
      <h2>Refusals</h2>
      <Table
        label="Refusals"
        columns={columns}
        rows={refusals}
        keyOf={({ reason, status, errorCode }) => `${status} ${errorCode} ${reason}`}
        standing={lastFirst}
        hasKeys={false}
        empty={<p class="none">The server has refused nothing since the dashboard was opened.</p>}
      />
    </section>
  );
}
