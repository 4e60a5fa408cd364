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
  /** The id of the entry whose facts are shown. */
  readonly chosen: string | undefined;
  readonly onOpen: (entry: TimelineEntry) => void;
}

const shown = 100;
const newestFirst = { question: "", isGiven: true };

export function EntryTable(props: EntryTableProps): VNode {
  const { entries, now, marks, chosen } = props;
  const second = Math.floor(now / 1_000);
  // A hundred rows are not drawn again with each step of a zoom.
  return useMemo(() => draw(props), [entries, second, marks?.size, chosen]);
}

function draw({ entries, now, marks, chosen, onOpen }: EntryTableProps): VNode {
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
      chosen={chosen}
      standing={newestFirst}
      class="entries"
    />
  );
}
