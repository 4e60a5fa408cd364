// The rows of modern clients: clients with sampled calls, and clients with open listen requests.
import type { SessionRow } from "../answers.ts";
import type { SeenClient } from "../sampling/calls.ts";
import type { Look } from "../sampling/looking.ts";
import { peerOf } from "../sampling/peers.ts";
import type { ListeningClient } from "./census.ts";
import { textOf } from "./clients.ts";
import type { Finding } from "./finding.ts";

/** A modern client has no session: it is known by its caller and its name. */
export function addModernClients(finding: Finding<SessionRow>): void {
  const { look, node } = finding;
  const { listening } = node.census.visited;
  const running = runningByPeer(look);
  const add = (seen: SeenClient | undefined, heard: ListeningClient | undefined): void => {
    const client = seen ?? heard;
    if (client !== undefined) finding.add(() => rowOf(finding, client, seen, heard, running));
  };
  const seenPeers = new Set<string>();
  for (const seen of look.samples.calls.clients()) {
    seenPeers.add(seen.peer);
    if (!finding.isSearch || finding.matches(textOfSeen(seen))) add(seen, listening.get(seen.peer));
  }
  for (const heard of listening.values())
    if (!seenPeers.has(heard.peer) && finding.matches(heard.text)) add(undefined, heard);
}

function textOfSeen({ peer, client, who, transport, revision }: SeenClient): string {
  return textOf([peer, client, who, transport, revision]);
}

function rowOf(
  { name, now }: Finding<SessionRow>,
  { peer, transport, client, who }: SeenClient | ListeningClient,
  seen: SeenClient | undefined,
  heard: ListeningClient | undefined,
  running: ReadonlyMap<string, number>,
): SessionRow {
  return {
    peer,
    era: "modern",
    transport,
    revision: seen?.revision,
    client,
    who,
    node: name,
    idleMs: now - (seen?.seenAt ?? heard?.openedAt ?? now),
    running: running.get(peer) ?? 0,
    streams: heard?.listens ?? 0,
    subscriptions: heard?.listens ?? 0,
    logLevel: undefined,
    queuedBytes: heard?.queuedBytes ?? 0,
    resumes: 0,
    gaps: 0,
  };
}

function runningByPeer({ running }: Look): Map<string, number> {
  const byPeer = new Map<string, number>();
  for (const [call] of running.calls()) {
    if (call.session !== undefined) continue;
    const peer = peerOf({ caller: call.caller }, call.client?.name);
    byPeer.set(peer, (byPeer.get(peer) ?? 0) + 1);
  }
  return byPeer;
}
