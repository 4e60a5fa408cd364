// The streams to clients: GETs and replies of sessions, listen requests, and HTTP+SSE.
import type { EventStream } from "../../transports/http/streams/event-stream.ts";
import type { Listener, Stream } from "../../server/push/listener.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { StreamRow } from "../answers.ts";
import { clientOfListen } from "./census.ts";
import { clientOf, type ShownClient } from "./clients.ts";
import { chosenCopies } from "./copies.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import type { ServedNode } from "./served-node.ts";
import type { SharedView } from "./view.ts";

export const streams: SharedView<"streams", RowsPart<StreamRow>> = {
  answer(node, question) {
    const finding = new Finding<StreamRow>(node, question);
    addSessions(finding);
    addSseClients(finding);
    addListens(finding);
    const { rows, total } = finding.part();
    // Without a search, not all streams were visited.
    return { rows, total: finding.isSearch ? total : Math.max(total, node.census.counts().streams) };
  },
  merge(parts) {
    const keyOf = ({ client, who, peer, kind, node, id }: StreamRow): string =>
      `${client} ${who} ${peer} ${kind} ${node} ${id}`;
    return {
      rows: shownRows(
        parts.flatMap(({ part }) => part.rows),
        keyOf,
      ),
      total: parts.reduce((sum, { part }) => sum + part.total, 0),
    };
  },
};

/** What differs between the kinds of streams. */
type Figures = Pick<
  StreamRow,
  "id" | "kind" | "state" | "ageMs" | "lastEventId" | "unsentBytes" | "writtenBytes" | "isBehind"
>;

function addSessions(finding: Finding<StreamRow>): void {
  for (const { session } of chosenCopies(finding)) {
    const { connection, streams: own } = session;
    for (const stream of own.all) {
      // Messages in the mailbox wait for a GET stream.
      const listener = stream.kind === "get" ? connection.listener : undefined;
      finding.add(() => {
        const figures = figuresOf(stream, finding.now);
        return rowOf(finding, connection, clientOf(connection), figures, listener);
      });
    }
  }
}

function addSseClients(finding: Finding<StreamRow>): void {
  const { activity, since } = finding.look.samples;
  for (const { pipe, sink, isBehind } of finding.node.endpoint.legacySse?.clients.values() ?? []) {
    const { connection } = pipe;
    const client = clientOf(connection);
    const figures: Figures = {
      id: idOf(sink),
      kind: "sse",
      state: "open",
      ageMs: finding.now - (activity.of(connection.session)?.openedAt ?? since),
      lastEventId: undefined,
      unsentBytes: sink.unsent,
      writtenBytes: 0,
      isBehind: isBehind || sink.congested,
    };
    if (finding.matches(client.text))
      finding.add(() => rowOf(finding, connection, client, figures, connection.listener));
  }
}

function addListens(finding: Finding<StreamRow>): void {
  const { look, node } = finding;
  const { listens } = node.endpoint.state;
  const listeners = listens.size === 0 ? undefined : listenersByStream(node);
  for (const { connection, openStream } of listens) {
    if (!finding.isSearch && finding.isFull) {
      finding.skip(1);
      continue;
    }
    const client = clientOfListen(look, connection);
    if (openStream !== undefined && finding.matches(client.text))
      finding.add(() => {
        const figures = figuresOf(openStream, finding.now);
        return rowOf(finding, connection, client, figures, listeners?.get(openStream));
      });
  }
}

/** The listeners of listen requests. */
function listenersByStream({ core }: ServedNode): ReadonlyMap<Stream, Listener> {
  const byStream = new Map<Stream, Listener>();
  for (const listener of core.hub.listeners) {
    if (listener.session === undefined) byStream.set(listener.stream, listener);
  }
  return byStream;
}

function figuresOf(stream: EventStream, now: number): Figures {
  const { kind, state, log, backlog, bytes, congested } = stream;
  return {
    id: idOf(stream),
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
  { name, look }: Finding<StreamRow>,
  { session, revision }: Connection,
  { peer, client, who }: ShownClient,
  figures: Figures,
  listener: Listener | undefined,
): StreamRow {
  const { resumes, gaps } = look.samples.troubles.of(session);
  const { id, kind, state, ageMs, lastEventId, unsentBytes, writtenBytes, isBehind } = figures;
  return {
    id,
    peer,
    kind,
    state,
    client,
    who,
    revision: revision?.date,
    node: name,
    ageMs,
    lastEventId,
    unsentBytes,
    queuedBytes: listener?.queued ?? 0,
    writtenBytes,
    isBehind,
    resumes,
    gaps,
    subscriptions: listener === undefined ? 0 : subscriptionsOf(listener),
  };
}

/** A session subscribes to resources one by one; a listen request to everything at once. */
function subscriptionsOf({ session, addedTopics, topics }: Listener): number {
  return session === undefined ? topics.size : addedTopics;
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** A number for a stream that was shown, since only some have an id of their own. */
function idOf(stream: object): number {
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
