// The client of a connection, a listener or a call: its digest, its name and its user, computed once.
import type { Implementation } from "../../protocol/model.ts";
import type { Call } from "../../server/calls/call.ts";
import { Connection } from "../../server/context/connection.ts";
import type { Listener } from "../../server/push/listener.ts";
import { clientText, peerIdOf, type PeerView, whoOf } from "./peers.ts";

export interface KnownClient {
  readonly view: PeerView;
  /** The text that a search compares, in lower case. */
  readonly text: string;
}

const known = new WeakMap<object, KnownClient>();

/** The client of a connection. `given` is the client of a modern request, whose connection does not know it. */
export function clientOf(connection: Connection, given?: Implementation): KnownClient {
  const before = known.get(connection);
  if (before !== undefined) return before;
  const info = given ?? connection.clientInfo;
  const made = describe(connection, info, connection.revision?.date);
  // A client may still send its name.
  if (info !== undefined || connection.session === undefined) known.set(connection, made);
  return made;
}

/** The client of a listener. The hub knows the connection only of a session that may have log messages. */
export function clientOfListener(listener: Listener): KnownClient {
  if (listener.log instanceof Connection) return clientOf(listener.log);
  const found = known.get(listener) ?? describe(listener, undefined, undefined);
  known.set(listener, found);
  return found;
}

export function clientOfCall(call: Call, info: Implementation | undefined = call.client): PeerView {
  if (call.session !== undefined) return clientOf(call.exchange.connection).view;
  const { transport, principal, caller } = call;
  const peer = peerIdOf({ caller }, info?.name);
  return { peer, client: clientText(info), who: whoOf({ transport, principal, caller }) };
}

function describe(
  given: Connection | Listener,
  info: Implementation | undefined,
  revision: string | undefined,
): KnownClient {
  const view: PeerView = {
    peer: peerIdOf(given, info?.name),
    client: clientText(info),
    who: whoOf(given),
  };
  return { view, text: textOf([view.peer, view.client, view.who, given.transport, revision]) };
}

/** The text that a search compares. */
export function textOf(words: readonly (string | undefined)[]): string {
  return words.join(" ").toLowerCase();
}
