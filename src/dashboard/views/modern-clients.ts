// The modern clients of a node: those whose calls were sampled, and those whose listen requests are open.
import type { Listen } from "../../http/streams/listens.ts";
import type { Stream } from "../../push/listener.ts";
import type { Look } from "../sampling/looking.ts";
import { peerOf } from "../sampling/peers.ts";
import { clientOf, type ShownClient } from "./clients.ts";
import type { ServedNode } from "./served-node.ts";

/** A modern client: it has no session, and is known by its caller and its name. */
export interface ModernClient extends Omit<ShownClient, "text"> {
  readonly transport: string;
  revision: string | undefined;
  idleMs: number;
  running: number;
  /** Its open listen requests. */
  listens: number;
  queuedBytes: number;
}

export function modernClients(look: Look, node: ServedNode): Iterable<ModernClient> {
  const clients = new Map<string, ModernClient>();
  const now = performance.now();
  for (const seen of look.samples.calls.clients()) {
    const { peer, transport, client, who, revision, seenAt } = seen;
    clients.set(peer, { peer, transport, client, who, ...idle, revision, idleMs: now - seenAt });
  }
  addListens(clients, look, node, now);
  for (const [call] of look.running.calls()) {
    if (call.session !== undefined) continue;
    const client = clients.get(peerOf({ caller: call.caller }, call.client?.name));
    if (client !== undefined) client.running++;
  }
  return clients.values();
}

function addListens(clients: Map<string, ModernClient>, look: Look, node: ServedNode, now: number): void {
  const queued = queuedByStream(node);
  for (const listen of node.endpoint.state.listens) {
    const { openStream, connection } = listen;
    const { peer, client, who } = clientOfListen(look, listen);
    const ageMs = openStream?.age(now) ?? 0;
    const { transport } = connection;
    const row = clients.get(peer) ?? { peer, transport, client, who, ...idle, idleMs: ageMs };
    clients.set(peer, row);
    row.listens++;
    row.idleMs = Math.min(row.idleMs, ageMs);
    if (openStream !== undefined) row.queuedBytes += openStream.backlog + (queued.get(openStream) ?? 0);
  }
}

const idle = { revision: undefined, running: 0, listens: 0, queuedBytes: 0 };

/** The client of a listen request; its name is known if somebody looked when it opened. */
export function clientOfListen({ running }: Look, { connection }: Listen): ShownClient {
  return clientOf(connection, running.clientOf(connection));
}

/** The bytes in the mailboxes of listen requests that are behind. */
function queuedByStream({ core }: ServedNode): ReadonlyMap<Stream, number> {
  const queued = new Map<Stream, number>();
  for (const listener of core.hub.listeners) {
    if (listener.session === undefined && listener.queued > 0) queued.set(listener.stream, listener.queued);
  }
  return queued;
}
