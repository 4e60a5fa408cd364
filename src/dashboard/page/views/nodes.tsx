// The nodes of the cluster, as the node that the page talks to sees them.
import type { VNode } from "preact";
import type { NodeRow } from "../../answers.ts";
import { formatBytes, formatCount, formatDuration, formatLatency } from "../base/format.ts";
import { Badge, type Tone } from "../components/badge.tsx";
import { type Column, Table } from "../components/table.tsx";

const states: Readonly<Record<NodeRow["state"], { tone: Tone; word: string; hint: string }>> = {
  answers: { tone: "good", word: "answers", hint: "It answered in time" },
  silent: {
    tone: "warn",
    word: "silent",
    hint: "It did not answer in time: its figures are those of its last answer",
  },
  left: { tone: "bad", word: "left", hint: "It is gone, and may come back" },
  deaf: { tone: "plain", word: "no dashboard", hint: "It is there, but has no dashboard that could answer" },
};

const columns: readonly Column<NodeRow>[] = [
  {
    title: "Node",
    line: 1,
    show: ({ name, isSelf }) => (
      <>
        {name} {isSelf && <Badge title="The node that answers this page">this one</Badge>}
      </>
    ),
  },
  { title: "State", width: 120, line: 1, show: (node) => <State node={node} /> },
  figure("Up", 92, ({ uptimeMs }) => formatDuration(uptimeMs), 2),
  figure(
    "Loop delay",
    88,
    ({ loopDelayMs }) => formatLatency(loopDelayMs),
    2,
    "The longest time that its event loop was late in the last second",
  ),
  figure(
    "Round trip",
    88,
    ({ roundTripMs }) => formatLatency(roundTripMs),
    undefined,
    "How long its answer took",
  ),
  figure("Legacy sessions", 116, ({ counts }) => formatCount(counts.sessions), 2),
  figure("Streams", 76, ({ counts }) => formatCount(counts.streams)),
  figure("Running", 76, ({ counts }) => formatCount(counts.inFlight)),
  figure("Memory", 80, ({ memoryBytes }) => formatBytes(memoryBytes)),
  figure(
    "Kept",
    80,
    ({ counts }) => formatBytes(counts.keptBytes),
    undefined,
    "Bytes that are kept so that streams can be resumed",
  ),
];

export function Nodes({ nodes }: { readonly nodes: readonly NodeRow[] }): VNode {
  return (
    <section class="nodes">
      <h2>{nodes.length > 1 ? "Nodes" : "Node"}</h2>
      <Table label="Nodes" columns={columns} rows={nodes} keyOf={({ name }) => name} hasKeys={false} />
    </section>
  );
}

function State({ node: { state, silentMs } }: { readonly node: NodeRow }): VNode {
  const { tone, word, hint } = states[state];
  return (
    <Badge tone={tone} title={hint}>
      {silentMs > 0 ? `${word} ${formatDuration(silentMs)}` : word}
    </Badge>
  );
}

/** A column of figures, which a node that never answered does not have. */
function figure(
  title: string,
  width: number,
  format: (node: NodeRow) => string,
  line?: 2,
  hint?: string,
): Column<NodeRow> {
  const show = (node: NodeRow): string => (node.state === "deaf" ? "" : format(node));
  return { title, width, show, isFigure: true, ...(line && { line }), ...(hint !== undefined && { hint }) };
}
