// The clients: legacy sessions over HTTP, clients on HTTP+SSE streams and pipes, and modern clients.
import type { Listener } from "../../server/push/listener.ts";
import { Connection } from "../../server/context/connection.ts";
import type { Search, SessionRow } from "../answers.ts";
import { clientOf, clientOfListener, type ShownClient } from "./clients.ts";
import { chosenCopies } from "./copies.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import { addModernClients } from "./modern-clients.ts";
import type { ServedNode } from "./served-node.ts";
import type { NodePart, SharedView } from "./view.ts";

export const sessions: SharedView<"sessions", RowsPart<SessionRow>> = {
  answer: sessionsOn,
  merge(parts) {
    const rows = mergedRows(parts);
    const shared = parts.reduce((sum, { part }) => sum + part.rows.length, 0) - rows.length;
    const total = parts.reduce((sum, { part }) => sum + part.total, 0) - shared;
    return { rows: shownRows(rows, ({ client, who, peer }) => `${client} ${who} ${peer}`), total };
  },
};

/** The clients on this node: all of them, those that a search finds, or one. */
export function sessionsOn(
  node: ServedNode,
  question: Search & { readonly peer?: string },
): RowsPart<SessionRow> {
  const finding = new Finding<SessionRow>(node, question);
  addSessions(finding);
  addSseClients(finding);
  addPipes(finding);
  addModernClients(finding);
  return finding.part();
}

function addSessions(finding: Finding<SessionRow>): void {
  let looked = 0;
  for (const { session, seenAt } of chosenCopies(finding)) {
    looked++;
    const { connection, streams } = session;
    finding.add(() => {
      let open = 0;
      let unsentBytes = 0;
      for (const { state, backlog } of streams.all) {
        if (state === "open") open++;
        unsentBytes += backlog;
      }
      const idleMs = finding.now - seenAt;
      const client = clientOf(connection);
      return legacyRow(finding, {
        client,
        connection,
        listener: connection.listener,
        idleMs,
        open,
        unsentBytes,
      });
    });
  }
  if (!finding.isSearch) finding.skip(finding.node.endpoint.state.sessions.size - looked);
}

function addSseClients(finding: Finding<SessionRow>): void {
  for (const { pipe, sink } of finding.node.endpoint.legacySse?.clients.values() ?? []) {
    const { connection } = pipe;
    const client = clientOf(connection);
    const idleMs = idleMsOf(finding, connection.session);
    const { listener } = connection;
    if (finding.matches(client.text))
      finding.add(() =>
        legacyRow(finding, { client, connection, listener, idleMs, open: 1, unsentBytes: sink.unsent }),
      );
  }
}

/** Pipes are known only by the listeners of their sessions, which know the connection if it may have log messages. */
function addPipes(finding: Finding<SessionRow>): void {
  for (const listener of finding.node.census.visited.pipes) {
    const client = clientOfListener(listener);
    const connection = listener.log instanceof Connection ? listener.log : undefined;
    const idleMs = idleMsOf(finding, listener.session);
    if (finding.matches(client.text))
      finding.add(() =>
        legacyRow(finding, { client, connection, listener, idleMs, open: 1, unsentBytes: 0 }),
      );
  }
}

/** The time since the last call, if it is known. */
function idleMsOf({ look, now }: Finding<SessionRow>, session: string | undefined): number {
  const { activity, since } = look.samples;
  const active = activity.of(session);
  return now - (active?.calledAt ?? active?.openedAt ?? since);
}

interface Legacy {
  readonly client: ShownClient;
  readonly connection: Connection | undefined;
  readonly listener: Listener | undefined;
  readonly idleMs: number;
  /** Its open streams. */
  readonly open: number;
  readonly unsentBytes: number;
}

function legacyRow({ name, look }: Finding<SessionRow>, legacy: Legacy): SessionRow {
  const { connection, listener, idleMs, open, unsentBytes } = legacy;
  const { peer, client, who } = legacy.client;
  const { resumes, gaps } = look.samples.troubles.of(listener?.session);
  return {
    peer,
    era: "legacy",
    transport: connection?.transport ?? listener?.transport ?? "",
    revision: connection?.revision?.date,
    client,
    who,
    node: name,
    idleMs,
    running: connection?.running ?? 0,
    streams: open,
    subscriptions: listener?.addedTopics ?? 0,
    logLevel: connection?.logLevel,
    queuedBytes: unsentBytes + (listener?.queued ?? 0),
    resumes,
    gaps,
  };
}

/** Several nodes may have the same client: the row is that of the node that has its streams. */
function mergedRows(parts: readonly NodePart<RowsPart<SessionRow>>[]): SessionRow[] {
  const byPeer = new Map<string, SessionRow>();
  for (const { part } of parts) {
    for (const row of part.rows) {
      const known = byPeer.get(row.peer);
      byPeer.set(row.peer, known === undefined ? row : merged(known, row));
    }
  }
  return [...byPeer.values()];
}

function merged(one: SessionRow, other: SessionRow): SessionRow {
  const [first, second] = isCloser(other, one) ? [other, one] : [one, other];
  return {
    ...first,
    client: first.client ?? second.client,
    idleMs: Math.min(first.idleMs, second.idleMs),
    running: first.running + second.running,
    streams: first.streams + second.streams,
    // A legacy session has the same subscriptions on each node, a modern client its own.
    subscriptions:
      first.era === "legacy"
        ? Math.max(first.subscriptions, second.subscriptions)
        : first.subscriptions + second.subscriptions,
    queuedBytes: first.queuedBytes + second.queuedBytes,
    resumes: first.resumes + second.resumes,
    gaps: first.gaps + second.gaps,
  };
}

function isCloser(one: SessionRow, other: SessionRow): boolean {
  return one.streams === other.streams ? one.idleMs < other.idleMs : one.streams > other.streams;
}
