// The streams to clients: GETs and replies of sessions, listen requests, and HTTP+SSE.
import type { Connection } from "../../server/context/connection.ts";
import type { Listener, Stream } from "../../server/push/listener.ts";
import type { EventStream } from "../../transports/http/streams/event-stream.ts";
import { clientOf } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import type { PeerView } from "../inside/peers.ts";
import type { Paging } from "./paging.ts";
import type { Source } from "./sessions.ts";
import type { StreamView } from "./views.ts";

export function addStreams(paging: Paging<StreamView>, source: Source): void {
  addOfSessions(paging, source);
  addOfSse(paging, source);
  addListens(paging, source);
}

/** What differs between the kinds of streams. */
type Figures = Pick<
  StreamView,
  "id" | "kind" | "state" | "ageMs" | "lastEventId" | "unsentBytes" | "writtenBytes" | "isBehind"
>;

function addOfSessions(paging: Paging<StreamView>, { copies }: Source): void {
  for (const { session } of copies.of(paging)) {
    const { connection, streams } = session;
    for (const stream of streams.all) {
      // Messages in the mailbox wait for a GET stream.
      const listener = stream.kind === "get" ? connection.listener : undefined;
      paging.add(() => rowOf(connection, clientOf(connection).view, figuresOf(stream, paging.now), listener));
    }
  }
}

function addOfSse(paging: Paging<StreamView>, { inside }: Source): void {
  for (const { legacySse } of inside.endpoints) {
    for (const { pipe, sink, isBehind, openedAt } of legacySse?.clients.values() ?? []) {
      const { connection } = pipe;
      const { text, view } = clientOf(connection);
      const figures: Figures = {
        id: streamId(connection),
        kind: "sse",
        state: "open",
        ageMs: paging.now - openedAt,
        lastEventId: undefined,
        unsentBytes: sink.unsent,
        writtenBytes: 0,
        isBehind: isBehind || sink.congested,
      };
      if (paging.matches(text, view.peer))
        paging.add(() => rowOf(connection, view, figures, connection.listener));
    }
  }
}

function addListens(paging: Paging<StreamView>, { inside }: Source): void {
  for (const { state } of inside.endpoints) {
    const { listens } = state;
    const listeners = listens.size === 0 ? undefined : listenersByStream(inside);
    for (const { connection, openStream } of listens) {
      if (!paging.isSearch && paging.isFull) {
        paging.skip(1);
        continue;
      }
      const { text, view } = clientOf(connection, inside.calls.clientOf(connection));
      if (openStream !== undefined && paging.matches(text, view.peer))
        paging.add(() =>
          rowOf(connection, view, figuresOf(openStream, paging.now), listeners?.get(openStream)),
        );
    }
  }
}

/** The listeners of listen requests. */
function listenersByStream({ core }: Inside): ReadonlyMap<Stream, Listener> {
  const byStream = new Map<Stream, Listener>();
  for (const listener of core.hub.listeners) {
    if (listener.session === undefined) byStream.set(listener.stream, listener);
  }
  return byStream;
}

function figuresOf(stream: EventStream, now: number): Figures {
  const { kind, state, log, backlog, bytes, congested } = stream;
  return {
    id: streamId(stream),
    kind,
    state: state === "lost" ? "lost" : "open",
    ageMs: stream.age(now),
    lastEventId: shortEventId(log?.eventId()),
    unsentBytes: backlog,
    writtenBytes: bytes,
    isBehind: congested,
  };
}

/** Written out, since spreading objects takes ten times as long. */
function rowOf(
  { session, revision }: Connection,
  { peer, client, who }: PeerView,
  figures: Figures,
  listener: Listener | undefined,
): StreamView {
  const { id, kind, state, ageMs, lastEventId, unsentBytes, writtenBytes, isBehind } = figures;
  return {
    id,
    peer,
    client,
    who,
    kind,
    state,
    session,
    revision: revision?.date,
    ageMs,
    lastEventId,
    unsentBytes,
    queuedBytes: listener?.queued ?? 0,
    writtenBytes,
    isBehind,
    subscriptions: listener === undefined ? 0 : subscriptionsOf(listener),
  };
}

/** A session subscribes to resources one by one; a listen request to everything at once. */
function subscriptionsOf({ session, addedTopics, topics }: Listener): number {
  return session === undefined ? topics.size : addedTopics;
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** A number for a stream, since only some have an id of their own. The stream of HTTP+SSE is its connection. */
export function streamId(stream: object): number {
  const id = ids.get(stream) ?? ++lastId;
  ids.set(stream, id);
  return id;
}

/** How many characters of a stream's id are shown. */
const shownOfId = 8;

/** Enough of an event id to recognise it. With the whole id and a session, an attacker could resume the stream. */
function shortEventId(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= 2 * shownOfId) return id;
  const dot = id.indexOf(".");
  return `${id.slice(0, shownOfId)}…${id.slice(Math.max(dot, id.length - 12))}`;
}
