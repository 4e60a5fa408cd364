// What only a visit to everything finds: slow readers, pipes, and clients with listen requests. The more there are, the less often it
// happens.
import type { Connection } from "../../server/context/connection.ts";
import type { Listener, Stream } from "../../server/push/listener.ts";
import type { Copy } from "../../server/session/copies.ts";
import type { HttpSession } from "../../transports/http/session.ts";
import { clientOf, type KnownClient } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";

/** Milliseconds between two visits for each thing that was visited: 10,000 sessions with a stream are visited every ten seconds. */
const visitMs = 0.5;

/** A modern client whose listen requests are open. */
export interface ListeningClient {
  readonly client: KnownClient;
  readonly connection: Connection;
  readonly revision: string | undefined;
  listens: number;
  queuedBytes: number;
  /** When its last listen request opened. */
  openedAt: number;
}

/** The result of a visit to everything. */
export interface Visited {
  /** The sessions whose clients do not read their queued messages. */
  readonly behind: ReadonlySet<Copy<HttpSession>>;
  /** The listeners of sessions on pipes. */
  readonly pipes: readonly Listener[];
  readonly listening: ReadonlyMap<string, ListeningClient>;
}

export class Visits {
  readonly #inside: Inside;
  #last: Visited | undefined;
  #until = 0;

  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** What the last visit found. */
  get visited(): Visited {
    const now = performance.now();
    if (this.#last !== undefined && now < this.#until) return this.#last;
    const { endpoints, core } = this.#inside;
    const { pipes, waiting } = this.#visitListeners();
    const behind = new Set<Copy<HttpSession>>();
    for (const { state } of endpoints)
      for (const copy of state.sessions.copies) if (isBehind(copy.session)) behind.add(copy);
    const { sessions, subscriptions } = core.hub.counts;
    this.#until = now + (sessions + subscriptions) * visitMs;
    return (this.#last = { behind, pipes, listening: this.#visitListens(waiting, now) });
  }

  #visitListeners(): {
    readonly pipes: readonly Listener[];
    /** The bytes in the mailboxes of listen requests. */
    readonly waiting: ReadonlyMap<Stream, number>;
  } {
    const pipes: Listener[] = [];
    const waiting = new Map<Stream, number>();
    for (const listener of this.#inside.core.hub.listeners) {
      const { session, transport, stream } = listener;
      if (session === undefined) {
        if (listener.queued > 0) waiting.set(stream, listener.queued);
      } else if (transport !== "http" && transport !== "sse") pipes.push(listener);
    }
    return { pipes, waiting };
  }

  #visitListens(waiting: ReadonlyMap<Stream, number>, now: number): Map<string, ListeningClient> {
    const { endpoints, calls } = this.#inside;
    const clients = new Map<string, ListeningClient>();
    for (const { state } of endpoints) {
      for (const { connection, openStream, revision } of state.listens) {
        const client = clientOf(connection, calls.clientOf(connection));
        const { peer } = client.view;
        const openedAt = now - (openStream?.age(now) ?? 0);
        let found = clients.get(peer);
        if (found === undefined) {
          found = { client, connection, revision: revision?.date, listens: 0, queuedBytes: 0, openedAt };
          clients.set(peer, found);
        }
        found.listens++;
        found.openedAt = Math.max(found.openedAt, openedAt);
        if (openStream !== undefined)
          found.queuedBytes += openStream.backlog + (waiting.get(openStream) ?? 0);
      }
    }
    return clients;
  }
}

function isBehind({ connection, streams }: HttpSession): boolean {
  return (connection.listener?.queued ?? 0) > 0 || streams.congested;
}
