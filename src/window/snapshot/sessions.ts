// The clients: legacy sessions over HTTP, clients on HTTP+SSE streams and pipes, and modern clients with listen requests.
import { Connection } from "../../server/context/connection.ts";
import type { Listener } from "../../server/push/listener.ts";
import { clientOf, clientOfListener, type KnownClient, textOf } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import type { ChosenCopies } from "./copies.ts";
import type { Paging } from "./paging.ts";
import type { SessionView } from "./views.ts";
import type { ListeningClient, Visits } from "./visits.ts";

/** What the rows are made from. */
export interface Source {
  readonly inside: Inside;
  readonly visits: Visits;
  readonly copies: ChosenCopies;
}

export function addSessions(
  paging: Paging<SessionView>,
  source: Source,
  era: SessionView["era"] | undefined,
): void {
  if (era !== "modern") {
    addCopies(paging, source);
    addSseClients(paging, source);
    addPipes(paging, source);
  }
  if (era !== "legacy") addListening(paging, source);
}

function addCopies(paging: Paging<SessionView>, { copies }: Source): void {
  let looked = 0;
  for (const { session, seenAt } of copies.of(paging)) {
    looked++;
    const { connection, streams } = session;
    paging.add(() => {
      let open = 0;
      let unsentBytes = 0;
      for (const { state, backlog } of streams.all) {
        if (state === "open") open++;
        unsentBytes += backlog;
      }
      const idleMs = paging.now - seenAt;
      const { listener } = connection;
      return rowOf({ client: clientOf(connection), connection, listener, idleMs, open, unsentBytes });
    });
  }
  if (!paging.isSearch) paging.skip(copies.size - looked);
}

function addSseClients(paging: Paging<SessionView>, { inside }: Source): void {
  for (const { legacySse } of inside.endpoints) {
    for (const { pipe, sink, openedAt } of legacySse?.clients.values() ?? []) {
      const { connection } = pipe;
      const client = clientOf(connection);
      const idleMs = paging.now - Math.max(openedAt, inside.calls.lastCallOf(connection));
      const { listener } = connection;
      if (paging.matches(client.text, client.view.peer))
        paging.add(() => rowOf({ client, connection, listener, idleMs, open: 1, unsentBytes: sink.unsent }));
    }
  }
}

/** Pipes are known only by the listeners of their sessions, which know the connection if it may have log messages. */
function addPipes(paging: Paging<SessionView>, { inside, visits }: Source): void {
  for (const listener of visits.visited.pipes) {
    const client = clientOfListener(listener);
    const connection = listener.log instanceof Connection ? listener.log : undefined;
    const idleMs = paging.now - inside.calls.lastCallOf(connection);
    if (paging.matches(client.text, client.view.peer))
      paging.add(() => rowOf({ client, connection, listener, idleMs, open: 1, unsentBytes: 0 }));
  }
}

function addListening(paging: Paging<SessionView>, { inside, visits }: Source): void {
  const { listening } = visits.visited;
  if (listening.size === 0) return;
  const running = runningByPeer(inside);
  for (const found of listening.values()) {
    const { text, view } = found.client;
    if (paging.matches(`${text} ${textOf([found.revision])}`, view.peer))
      paging.add(() => modernRow(found, running.get(view.peer) ?? 0, paging.now));
  }
}

function runningByPeer({ calls }: Inside): Map<string, number> {
  const byPeer = new Map<string, number>();
  for (const { call } of calls) {
    if (call.session !== undefined || call.row.stream) continue;
    const { peer } = clientOf(call.exchange.connection, call.client).view;
    byPeer.set(peer, (byPeer.get(peer) ?? 0) + 1);
  }
  return byPeer;
}

interface Legacy {
  readonly client: KnownClient;
  readonly connection: Connection | undefined;
  readonly listener: Listener | undefined;
  readonly idleMs: number;
  /** Its open streams. */
  readonly open: number;
  readonly unsentBytes: number;
}

function rowOf({ client: { view }, connection, listener, idleMs, open, unsentBytes }: Legacy): SessionView {
  return {
    peer: view.peer,
    client: view.client,
    who: view.who,
    era: "legacy",
    transport: connection?.transport ?? listener?.transport ?? "",
    session: connection?.session ?? listener?.session,
    revision: connection?.revision?.date,
    idleMs,
    running: connection?.running ?? 0,
    streams: open,
    subscriptions: listener?.addedTopics ?? 0,
    logLevel: connection?.logLevel,
    queuedBytes: unsentBytes + (listener?.queued ?? 0),
  };
}

function modernRow(found: ListeningClient, running: number, now: number): SessionView {
  const { client, connection, revision, listens, queuedBytes, openedAt } = found;
  return {
    ...client.view,
    era: "modern",
    transport: connection.transport,
    session: undefined,
    revision,
    idleMs: now - openedAt,
    running,
    streams: listens,
    subscriptions: listens,
    logLevel: undefined,
    queuedBytes,
  };
}
