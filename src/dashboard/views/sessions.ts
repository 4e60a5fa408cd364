// The clients: legacy sessions over HTTP, clients on HTTP+SSE streams and pipes, and modern clients.
import type { Endpoint } from "../../http/endpoint.ts";
import type { HttpSession } from "../../http/session.ts";
import type { Connection } from "../../server/context/connection.ts";
import { maxRows, type SessionRow } from "../answers.ts";
import type { Look } from "../sampling/looking.ts";
import { clientOf, clientOfListener } from "./clients.ts";
import { modernClients } from "./modern-clients.ts";
import { type Match, matchOf, Picked, type RowsPart, shownRows, textOf } from "./rows.ts";
import type { ServedNode } from "./served-node.ts";
import type { NodePart, SharedView } from "./view.ts";

/** A client as one node has it. */
type Row = Omit<SessionRow, "node">;

export const sessions: SharedView<"sessions", RowsPart<Row>> = {
  answer(node, question) {
    const picked = new Picked<Row>();
    const look = node.looking.ask();
    const match = matchOf(question, node);
    addSessions(picked, look, node.endpoint, match);
    addSseClients(picked, look, node.endpoint, match);
    addPipes(picked, look, node, match);
    addModern(picked, look, node, match);
    return picked.part();
  },
  merge(parts) {
    const rows = mergedRows(parts);
    const shared = parts.reduce((sum, { part }) => sum + part.rows.length, 0) - rows.length;
    const total = parts.reduce((sum, { part }) => sum + part.total, 0) - shared;
    return { rows: shownRows(rows, ({ client, who, peer }) => `${client} ${who} ${peer}`), total };
  },
};

/** Whether the client does not read what waits for it. */
export function isBehind({ connection, streams }: HttpSession): boolean {
  return (connection.listener?.queued ?? 0) > 0 || streams.congested;
}

/** If nobody searches, only sessions that are behind and those used last are looked at closely. */
function addSessions(picked: Picked<Row>, look: Look, { state }: Endpoint, match: Match | undefined): void {
  const now = performance.now();
  let older = state.sessions.size - maxRows;
  for (const { session, seenAt } of state.sessions.copies) {
    const { connection, streams } = session;
    if (match !== undefined) {
      if (!match(clientOf(connection).text)) continue;
    } else if (older-- > 0 && !isBehind(session)) {
      picked.skip(1);
      continue;
    }
    picked.add(() => {
      const all = streams.all;
      const open = all.filter((stream) => stream.state === "open").length;
      const unsent = all.reduce((sum, { backlog }) => sum + backlog, 0);
      return legacyRow(look, connection, now - seenAt, open, unsent);
    });
  }
}

function addSseClients(
  picked: Picked<Row>,
  look: Look,
  { legacySse }: Endpoint,
  match: Match | undefined,
): void {
  for (const { pipe, sink } of legacySse?.clients.values() ?? []) {
    const { connection } = pipe;
    if (match !== undefined && !match(clientOf(connection).text)) continue;
    picked.add(() => legacyRow(look, connection, idleMsOf(look, connection.session), 1, sink.unsent));
  }
}

/** Pipes are known only by the listeners of their sessions. */
function addPipes(picked: Picked<Row>, look: Look, { core }: ServedNode, match: Match | undefined): void {
  for (const listener of core.hub.listeners) {
    const { session, transport, log } = listener;
    if (session === undefined || transport === "http" || transport === "sse") continue;
    const { text, ...client } = clientOfListener(listener);
    if (match !== undefined && !match(text)) continue;
    const connection = log as Connection | undefined;
    picked.add(() => ({
      ...client,
      era: "legacy",
      transport,
      revision: connection?.revision?.date,
      idleMs: idleMsOf(look, session),
      running: connection?.running ?? 0,
      streams: 1,
      subscriptions: listener.addedTopics,
      logLevel: connection?.logLevel,
      queuedBytes: listener.queued,
      ...look.samples.troubles.of(session),
    }));
  }
}

/** The time since the last call, as far as somebody looked. */
function idleMsOf({ samples }: Look, session: string | undefined): number {
  const active = samples.activity.of(session);
  return performance.now() - (active?.calledAt ?? active?.openedAt ?? samples.since);
}

function legacyRow(
  { samples }: Look,
  connection: Connection,
  idleMs: number,
  streams: number,
  unsent: number,
): Row {
  const { session, transport, revision, listener, running, logLevel } = connection;
  const { peer, client, who } = clientOf(connection);
  return {
    peer,
    era: "legacy",
    transport,
    revision: revision?.date,
    client,
    who,
    idleMs,
    running,
    streams,
    subscriptions: listener?.addedTopics ?? 0,
    logLevel,
    queuedBytes: unsent + (listener?.queued ?? 0),
    ...samples.troubles.of(session),
  };
}

function addModern(picked: Picked<Row>, look: Look, node: ServedNode, match: Match | undefined): void {
  for (const modern of modernClients(look, node)) {
    const { peer, transport, client, who, revision } = modern;
    if (match !== undefined && !match(textOf([peer, client, who, transport, revision]))) continue;
    const { idleMs, running, listens, queuedBytes } = modern;
    picked.add(() => ({
      peer,
      era: "modern",
      transport,
      revision,
      client,
      who,
      idleMs,
      running,
      streams: listens,
      subscriptions: listens,
      logLevel: undefined,
      queuedBytes,
      resumes: 0,
      gaps: 0,
    }));
  }
}

/** Several nodes may have the same client: the row is that of the node that has its streams. */
function mergedRows(parts: readonly NodePart<RowsPart<Row>>[]): SessionRow[] {
  const byPeer = new Map<string, SessionRow>();
  for (const { node, part } of parts) {
    for (const row of part.rows) {
      const known = byPeer.get(row.peer);
      byPeer.set(row.peer, known === undefined ? { ...row, node } : merged(known, { ...row, node }));
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
