// The topics of the hub, and who subscribes to each.
import type { Listener, Stream } from "../../server/push/listener.ts";
import { partsOf } from "../../server/push/topic.ts";
import { clientOf, clientOfListener } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import type { PeerView } from "../inside/peers.ts";
import type { Paging } from "./paging.ts";
import type { SubscriptionView } from "./views.ts";

/** Listeners of a topic that are named. */
const maxNamed = 5;

export function addSubscriptions(
  paging: Paging<SubscriptionView>,
  inside: Inside,
  topics: readonly string[] | undefined,
): void {
  const { hub } = inside.core;
  const nameOf = namesOn(inside);
  for (const topic of topics ?? hub.topics.keys()) {
    if (paging.isSearch && !paging.matches(topic.toLowerCase())) continue;
    paging.add(() => rowOf(topic, hub.topics.get(topic), nameOf));
  }
}

function rowOf(
  topic: string,
  listeners: ReadonlySet<Listener> | undefined,
  nameOf: (listener: Listener) => PeerView,
): SubscriptionView {
  const peers: PeerView[] = [];
  for (const listener of listeners ?? []) {
    if (peers.length === maxNamed) break;
    peers.push(nameOf(listener));
  }
  return { ...partsOf(topic), subscribers: listeners?.size ?? 0, peers };
}

/** Names the client of a listener. Those of listen requests are found by their streams, once one of them is wanted. */
function namesOn({ endpoints, calls }: Inside): (listener: Listener) => PeerView {
  let byStream: Map<Stream, PeerView> | undefined;
  const listens = (): Map<Stream, PeerView> => {
    const found = new Map<Stream, PeerView>();
    for (const { state } of endpoints)
      for (const { connection, openStream } of state.listens)
        if (openStream !== undefined)
          found.set(openStream, clientOf(connection, calls.clientOf(connection)).view);
    return found;
  };
  return (listener) => {
    const { session, stream } = listener;
    if (session === undefined) return (byStream ??= listens()).get(stream) ?? clientOfListener(listener).view;
    for (const { state, legacySse } of endpoints) {
      const found = state.sessions.peek(session);
      if (found !== undefined) return clientOf(found.connection).view;
      if (listener.transport !== "sse") continue;
      for (const { pipe } of legacySse?.clients.values() ?? [])
        if (pipe.connection.session === session) return clientOf(pipe.connection).view;
    }
    return clientOfListener(listener).view;
  };
}
