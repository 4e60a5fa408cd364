// The newest entries of a timeline as a table, for users of screen readers and readers of text.
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { TimelineEntry } from "../../answers.ts";
import { formatTime } from "../base/format.ts";
import { Badge } from "../components/badge.tsx";
import { type Column, Table } from "../components/table.tsx";
import { durationOf, toneOfOutcome } from "./wording.ts";

export interface EntryTableProps {
  readonly entries: readonly TimelineEntry[];
  readonly now: number;
  readonly marks: ReadonlyMap<string, string> | undefined;
  readonly onOpen: (entry: TimelineEntry) => void;
}

const shown = 100;

export function EntryTable({ entries, now, marks, onOpen }: EntryTableProps): VNode {
  const second = Math.floor(now / 1_000);
  // A hundred rows are not drawn again with each step of a zoom.
  return useMemo(() => draw({ entries, now, marks, onOpen }), [entries, second, marks?.size]);
}

function draw({ entries, now, marks, onOpen }: EntryTableProps): VNode {
  const columns: Column<TimelineEntry>[] = [
    {
      title: "Time",
      show: ({ startedAt }) => <span class="figure">{formatTime(startedAt, true)}</span>,
      width: 116,
      line: 2,
    },
    { title: "What", show: ({ kind }) => kind, line: 1 },
    { title: "Name", show: ({ label }) => label, line: 2 },
    {
      title: "Took",
      show: (entry) => (entry.endedAt === entry.startedAt ? "" : durationOf(entry, now)),
      isFigure: true,
      width: 124,
      line: 1,
    },
    {
      title: "Outcome",
      show: ({ outcome }) => outcome && <Badge tone={toneOfOutcome(outcome)}>{outcome}</Badge>,
      width: 124,
      line: 1,
    },
  ];
  if (marks) columns.push({ title: "Node", show: ({ node }) => marks.get(node), width: 60 });
  return (
    <Table
      label="Newest entries"
      columns={columns}
      rows={entries.slice(-shown).toReversed()}
      keyOf={({ id }) => id}
      onOpen={onOpen}
      class="entries"
    />
  );
}
