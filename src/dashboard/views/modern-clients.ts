// The rows of modern clients: clients with sampled calls, and clients with open listen requests.
import type { SessionView } from "../../window/index.ts";
import type { SessionRow } from "../answers.ts";
import type { SeenClient } from "../sampling/seen-clients.ts";
import { searchedText } from "../sampling/texts.ts";
import { everyRow } from "./every-row.ts";
import type { Finding } from "./finding.ts";

/** Modern clients with listen requests of one node. Past it, further ones are left out. */
const maxListening = 1000;

/** A modern client has no session: it is known by its caller and its name. */
export function modernClients(finding: Finding): SessionRow[] {
  const { node, sampled } = finding;
  const { window } = node;
  const options = { ...finding.options, era: "modern", limit: maxListening } as const;
  const listening = new Map(window.snapshot("sessions", options).rows.map((row) => [row.peer, row]));
  const running = runningByPeer(finding);
  const rows: SessionRow[] = [];
  for (const seen of sampled.samples.clients) {
    const { peer } = seen;
    const { client, who, transport, revision } = seen;
    const listens = listening.get(peer);
    if (!listens && !finding.matches(searchedText([peer, client, who, transport, revision]), peer)) continue;
    rows.push(rowOf(finding, seen, listens, running.get(peer) ?? 0));
    listening.delete(peer);
  }
  for (const listens of listening.values()) rows.push(rowOf(finding, undefined, listens, listens.running));
  return rows;
}

function rowOf(
  { name, now }: Finding,
  seen: SeenClient | undefined,
  listens: SessionView | undefined,
  running: number,
): SessionRow {
  const { peer = "", transport = "", client, who } = seen ?? listens ?? {};
  return {
    peer,
    era: "modern",
    transport,
    revision: seen?.revision ?? listens?.revision,
    client,
    who,
    node: name,
    idleMs: seen === undefined ? (listens?.idleMs ?? 0) : now - seen.seenAt,
    running,
    streams: listens?.streams ?? 0,
    subscriptions: listens?.subscriptions ?? 0,
    logLevel: undefined,
    queuedBytes: listens?.queuedBytes ?? 0,
    resumes: 0,
    gaps: 0,
  };
}

function runningByPeer({ node }: Finding): Map<string, number> {
  const byPeer = new Map<string, number>();
  for (const { peer, session, isStream } of everyRow(node.window, "calls"))
    if (session === undefined && !isStream) byPeer.set(peer, (byPeer.get(peer) ?? 0) + 1);
  return byPeer;
}
