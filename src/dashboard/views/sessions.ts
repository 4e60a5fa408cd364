// The clients: legacy sessions, clients on HTTP+SSE streams and pipes, and modern clients.
import type { SessionView } from "../../window/index.ts";
import { maxRows, type Search, type SessionRow } from "../answers.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import { modernClients } from "./modern-clients.ts";
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
  const finding = new Finding(node, question);
  const legacy = node.window.snapshot("sessions", { ...finding.options, era: "legacy" });
  const modern = modernClients(finding);
  return {
    rows: [...legacy.rows.map((row) => legacyRow(finding, row)), ...modern].slice(0, maxRows),
    total: legacy.total + modern.length,
  };
}

function legacyRow({ name, sampled }: Finding, { session, ...row }: SessionView): SessionRow {
  const { resumes, gaps } = sampled.samples.troubles.of(session);
  return { ...row, node: name, resumes, gaps };
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
