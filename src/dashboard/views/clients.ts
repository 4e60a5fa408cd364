// The facts about a client in rows, computed once for each connection: its digest, its name and its user.
import type { Implementation } from "../../protocol/model.ts";
import type { Listener } from "../../server/push/listener.ts";
import { Connection } from "../../server/context/connection.ts";
import { clientTextOf, peerOf, whoOf } from "../sampling/peers.ts";

export interface ShownClient {
  readonly peer: string;
  readonly client: string | undefined;
  readonly who: string | undefined;
  /** The text that a search compares, in lower case. */
  readonly text: string;
}

const shown = new WeakMap<object, ShownClient>();

/** The client of a connection. `given` is the client of a modern request, whose connection does not know it. */
export function clientOf(connection: Connection, given?: Implementation): ShownClient {
  const known = shown.get(connection);
  if (known !== undefined) return known;
  const info = given ?? connection.clientInfo;
  const made = describe(connection, info);
  // A client may still send its name.
  if (info !== undefined || connection.session === undefined) shown.set(connection, made);
  return made;
}

/** The client of a listener. The hub knows the connection only of a session that may have log messages. */
export function clientOfListener(listener: Listener): ShownClient {
  if (listener.log instanceof Connection) return clientOf(listener.log);
  const known = shown.get(listener) ?? describe(listener, undefined);
  shown.set(listener, known);
  return known;
}

function describe(known: Connection | Listener, info: Implementation | undefined): ShownClient {
  const peer = peerOf(known, info?.name);
  const client = clientTextOf(info);
  const who = whoOf(known);
  const revision = known instanceof Connection ? known.revision?.date : undefined;
  return { peer, client, who, text: textOf([peer, client, who, known.transport, revision]) };
}

/** The text that a search compares. */
export function textOf(words: readonly (string | undefined)[]): string {
  return words.join(" ").toLowerCase();
}
