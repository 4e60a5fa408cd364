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
    const idleMs = now - seenAt;
    clients.set(peer, {
      peer,
      transport,
      client,
      who,
      revision,
      idleMs,
      running: 0,
      listens: 0,
      queuedBytes: 0,
    });
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
  for (const { state } of node.endpoints) {
    for (const listen of state.listens) {
      const { peer, client, who } = clientOfListen(look, listen);
      const { openStream, connection } = listen;
      const ageMs = openStream?.age(now) ?? 0;
      let row = clients.get(peer);
      if (row === undefined) {
        row = {
          peer,
          transport: connection.transport,
          client,
          who,
          revision: undefined,
          idleMs: ageMs,
          running: 0,
          listens: 0,
          queuedBytes: 0,
        };
        clients.set(peer, row);
      }
      row.listens++;
      row.idleMs = Math.min(row.idleMs, ageMs);
      if (openStream !== undefined) row.queuedBytes += openStream.backlog + (queued.get(openStream) ?? 0);
    }
  }
}

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
