// The streams: open ones, lost ones, and those with a slow reader. Streams with trouble come first.
import type { VNode } from "preact";
import type { StreamRow } from "../../answers.ts";
import { formatBytes, formatCount, formatDuration } from "../base/format.ts";
import { go, hrefOf } from "../base/router.ts";
import { Badge } from "../components/badge.tsx";
import { Empty } from "../components/empty.tsx";
import type { Column } from "../components/table.tsx";
import { Client, Figures, Waiting } from "./cells.tsx";
import { gapsColumn, nodeColumn, resumesColumn } from "./client-columns.tsx";
import { Listing } from "./listing.tsx";

const kinds: Readonly<Record<StreamRow["kind"], string>> = {
  get: "The stream of a session, opened with GET",
  post: "The response to one request",
  listen: "The response to subscriptions/listen",
  sse: "The stream of the HTTP+SSE transport",
};

const columns: readonly Column<StreamRow>[] = [
  {
    title: "Client",
    line: 1,
    show: ({ peer, client, who, isBehind }) => (
      <Client peer={peer} client={client} who={who} isBehind={isBehind} />
    ),
    sort: ({ client, who }) => `${client} ${who}`,
  },
  {
    title: "Kind",
    width: 56,
    line: 2,
    show: ({ kind }) => <span title={kinds[kind]}>{kind}</span>,
    sort: ({ kind }) => kind,
  },
  {
    title: "State",
    width: 154,
    line: 2,
    show: (row) => <State row={row} />,
    sort: ({ state, ageMs }) => `${state} ${String(Math.floor(ageMs)).padStart(12, "0")}`,
    hint: "Open, or lost: the client is away and may resume the stream",
  },
  nodeColumn,
  {
    title: "Waiting",
    width: 148,
    line: 1,
    isFigure: true,
    show: ({ unsentBytes, queuedBytes, isBehind }) => (
      <Waiting unsentBytes={unsentBytes} queuedBytes={queuedBytes} isBehind={isBehind} />
    ),
    sort: ({ unsentBytes, queuedBytes }) => unsentBytes + queuedBytes,
    hint: "Bytes that the client has not read: in its connection and in its queue",
  },
  {
    title: "Written",
    width: 74,
    isFigure: true,
    show: ({ writtenBytes }) => formatBytes(writtenBytes),
    sort: ({ writtenBytes }) => writtenBytes,
  },
  {
    title: "Last event",
    width: 114,
    show: ({ lastEventId }) => <Figures of={lastEventId} missing="The stream cannot be resumed" />,
    hint: "The id of the last event: a client that reconnects sends it as Last-Event-ID",
  },
  resumesColumn,
  gapsColumn,
];
const ofOneNode = columns.filter((column) => column !== nodeColumn);

export function Streams(): VNode {
  return (
    <Listing
      name="streams"
      label="Streams"
      nouns={["stream", "streams"]}
      everyMs={1_000}
      hint="Client, person, revision, node"
      columns={(isCluster) => (isCluster ? columns : ofOneNode)}
      keyOf={keyOf}
      rankOf={rankOf}
      classOf={({ isBehind }) => (isBehind ? "behind" : undefined)}
      onOpen={({ peer }) => go("session", peer)}
      note={(rows) => <Troubles rows={rows} />}
      empty={
        <Empty title="No stream is open">
          <p>
            A client opens one when it connects with GET, when it calls a tool that reports progress, or when
            it sends <code>subscriptions/listen</code>.
          </p>
          <a href={hrefOf("sessions")}>See who is connected</a>
        </Empty>
      }
    />
  );
}

function keyOf({ node, id }: StreamRow): string {
  return `${node} ${id}`;
}

function rankOf({ isBehind, gaps, state }: StreamRow): number {
  return isBehind ? 0 : gaps > 0 ? 1 : state === "lost" ? 2 : 3;
}

function State({ row: { state, ageMs } }: { readonly row: StreamRow }): VNode {
  const age = formatDuration(ageMs);
  return state === "open" ? (
    <span title={`Open for ${age}`}>
      open <span class="muted">{age}</span>
    </span>
  ) : (
    <span class="lost" title={`The client has been away for ${age} and may resume the stream`}>
      <Badge tone="accent">lost</Badge> <span class="muted">away {age}</span>
    </span>
  );
}

function Troubles({ rows }: { readonly rows: readonly StreamRow[] }): VNode {
  const behind = rows.filter(({ isBehind }) => isBehind).length;
  const lost = rows.filter(({ state }) => state === "lost").length;
  return (
    <>
      {behind > 0 && <Badge tone="warn">{formatCount(behind)} behind</Badge>}
      {lost > 0 && <Badge tone="accent">{formatCount(lost)} lost</Badge>}
    </>
  );
}
