// Ends a client: its session, its pipe or its listen requests.
import { clientOf, clientOfListener } from "./inside/clients.ts";
import type { Inside } from "./inside/inside.ts";

const reason = "Ended by an operator";

/** What was ended of a client: its legacy session over HTTP, or its streams and pipes on this node. */
export interface PeerEnd {
  readonly sessions: number;
  readonly streams: number;
}

export async function endPeer(inside: Inside, peer: string): Promise<PeerEnd> {
  for (const { state } of inside.endpoints) {
    for (const { session } of state.sessions.copies) {
      if (clientOf(session.connection).view.peer !== peer) continue;
      await state.sessions.end(session, "deleted");
      return { sessions: 1, streams: 0 };
    }
  }
  return { sessions: 0, streams: endOthers(inside, peer) };
}

/** Ends listen requests, HTTP+SSE streams and pipes. */
function endOthers({ core, endpoints, calls }: Inside, peer: string): number {
  let ended = 0;
  for (const { state } of endpoints) {
    for (const { connection } of state.listens) {
      if (clientOf(connection, calls.clientOf(connection)).view.peer === peer)
        ended += connection.endSubscriptions().length;
    }
  }
  for (const listener of core.hub.listeners) {
    if (listener.session === undefined || clientOfListener(listener).view.peer !== peer) continue;
    listener.stream.destroy(reason);
    ended++;
  }
  return ended;
}
