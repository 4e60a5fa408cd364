// The sessions: the connected clients, their connections, and their problems.
import type { VNode } from "preact";
import { maxRows, type SessionRow } from "../../answers.ts";
import { formatDuration } from "../base/format.ts";
import { go } from "../base/router.ts";
import type { Column } from "../components/table.tsx";
import { behindBytes, Bytes, Client, Count, Figures, Text } from "./cells.tsx";
import { gapsColumn, nodeColumn, resumesColumn } from "./client-columns.tsx";
import { Listing } from "./listing.tsx";
import { NoClient } from "./no-client.tsx";

const eras: Readonly<Record<SessionRow["era"], string>> = {
  modern: "Each request stands alone",
  legacy: "A handshake, then a session",
};

const columns: readonly Column<SessionRow>[] = [
  {
    title: "Client",
    line: 1,
    show: (row) => <Client peer={row.peer} client={row.client} who={row.who} isBehind={isBehind(row)} />,
    sort: ({ client, who }) => `${client} ${who}`,
    hint: "The name and version that the client gives itself, and the subject of its token or its address",
  },
  {
    title: "Revision",
    width: 90,
    line: 2,
    show: ({ revision }) => <Figures of={revision} />,
    sort: ({ revision }) => revision,
    hint: "The revision of MCP that it speaks",
  },
  {
    title: "Era",
    width: 100,
    show: ({ era, transport }) => (
      <span title={`${eras[era]}. Transport: ${transport}`}>
        {era} <span class="muted">{transport}</span>
      </span>
    ),
    sort: ({ era, transport }) => `${era} ${transport}`,
    hint: "The era of its revision, and its transport",
  },
  nodeColumn,
  {
    title: "Idle",
    width: 82,
    line: 1,
    isFigure: true,
    show: ({ idleMs }) => formatDuration(idleMs),
    sort: ({ idleMs }) => idleMs,
    hint: "Time since its last request",
  },
  {
    title: "Calls",
    width: 48,
    isFigure: true,
    show: ({ running }) => <Count of={running} tone="accent" />,
    sort: ({ running }) => running,
    hint: "Calls that run now",
  },
  {
    title: "Streams",
    width: 64,
    line: 2,
    isFigure: true,
    show: ({ streams }) => <Count of={streams} />,
    sort: ({ streams }) => streams,
    hint: "Open streams",
  },
  {
    title: "Subs",
    width: 48,
    isFigure: true,
    show: ({ subscriptions }) => <Count of={subscriptions} />,
    sort: ({ subscriptions }) => subscriptions,
    hint: "Subscriptions",
  },
  {
    title: "Log",
    width: 58,
    show: ({ logLevel }) => <Text of={logLevel} />,
    sort: ({ logLevel }) => logLevel,
    hint: "The least severe log messages that it wants",
  },
  {
    title: "Queue",
    width: 72,
    line: 2,
    isFigure: true,
    show: (row) => <Bytes of={row.queuedBytes} isBehind={isBehind(row)} />,
    sort: ({ queuedBytes }) => queuedBytes,
    hint: "Bytes that the client has not read",
  },
  resumesColumn,
  gapsColumn,
];

/** A client without a stream is away, so its queued messages do not count as unread. */
function isBehind({ queuedBytes, streams }: SessionRow): boolean {
  return queuedBytes > behindBytes && streams > 0;
}

const ofOneNode = columns.filter((column) => column !== nodeColumn);

/** Only legacy clients have sessions, which is what Now counts. */
function Eras({ rows }: { readonly rows: readonly SessionRow[] }): VNode | null {
  if (rows.length === maxRows) return null;
  const legacy = rows.filter(({ era }) => era === "legacy").length;
  return (
    <span class="note">
      {legacy} legacy {legacy === 1 ? "session" : "sessions"}, {rows.length - legacy} modern without one
    </span>
  );
}

export function Sessions(): VNode {
  return (
    <Listing
      name="sessions"
      label="Sessions"
      nouns={["client", "clients"]}
      everyMs={2_000}
      hint="Client, person, revision, node"
      columns={(isCluster) => (isCluster ? columns : ofOneNode)}
      keyOf={({ peer }) => peer}
      onOpen={({ peer }) => go("session", peer)}
      note={(rows) => <Eras rows={rows} />}
      empty={<NoClient />}
    />
  );
}
