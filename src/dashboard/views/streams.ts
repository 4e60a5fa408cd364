// The streams to clients: GETs and replies of sessions, listen requests, and HTTP+SSE.
import type { Endpoint } from "../../http/endpoint.ts";
import type { EventStream } from "../../http/streams/event-stream.ts";
import { StreamLog } from "../../http/streams/stream-log.ts";
import type { Listener, Stream } from "../../push/listener.ts";
import type { Connection } from "../../server/context/connection.ts";
import { maxRows, type StreamRow } from "../answers.ts";
import type { Look } from "../sampling/looking.ts";
import { clientOf, type ShownClient } from "./clients.ts";
import { clientOfListen } from "./modern-clients.ts";
import { type Match, matchOf, Picked, type RowsPart, shownRows } from "./rows.ts";
import type { ServedNode } from "./served-node.ts";
import { isBehind } from "./sessions.ts";
import type { SharedView } from "./view.ts";

/** A stream as its node has it. */
type Row = Omit<StreamRow, "node">;

export const streams: SharedView<"streams", RowsPart<Row>> = {
  answer(node, question) {
    const picked = new Picked<Row>();
    const look = node.looking.ask();
    const match = matchOf(question, node);
    addSessions(picked, look, node.endpoint, match);
    addSseClients(picked, look, node.endpoint, match);
    addListens(picked, look, node, match);
    return picked.part();
  },
  merge(parts) {
    const rows = parts.flatMap(({ node, part }) => part.rows.map((row) => ({ ...row, node })));
    const total = parts.reduce((sum, { part }) => sum + part.total, 0);
    const keyOf = ({ client, who, peer, kind, lastEventId, node }: StreamRow): string =>
      `${client} ${who} ${peer} ${kind} ${lastEventId?.split(".", 1)[0]} ${node}`;
    return { rows: shownRows(rows, keyOf), total };
  },
};

/** If nobody searches, only sessions that are behind and those used last are looked at closely. */
function addSessions(picked: Picked<Row>, look: Look, { state }: Endpoint, match: Match | undefined): void {
  let older = state.sessions.size - maxRows;
  for (const { session } of state.sessions.copies) {
    const { connection, streams: own } = session;
    if (match === undefined && older-- > 0 && !isBehind(session)) {
      picked.skip(own.openGets);
      continue;
    }
    const all = own.all;
    if (all.length === 0 || (match !== undefined && !match(clientOf(connection).text))) continue;
    for (const stream of all) picked.add(() => sessionRow(look, connection, stream));
  }
}

function addListens(picked: Picked<Row>, look: Look, node: ServedNode, match: Match | undefined): void {
  const { listens } = node.endpoint.state;
  const listeners = listens.size === 0 ? undefined : listenersByStream(node);
  for (const listen of listens) {
    if (match === undefined && picked.isFull) {
      picked.skip(1);
      continue;
    }
    const { openStream, connection } = listen;
    const client = clientOfListen(look, listen);
    if (openStream === undefined || (match !== undefined && !match(client.text))) continue;
    const listener = listeners?.get(openStream);
    picked.add(() => ({
      ...streamRow(look, connection, client, openStream),
      queuedBytes: listener?.queued ?? 0,
      subscriptions: listener?.topics.size ?? 0,
    }));
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

function addSseClients(
  picked: Picked<Row>,
  look: Look,
  { legacySse }: Endpoint,
  match: Match | undefined,
): void {
  for (const { pipe, sink, isBehind: isFull } of legacySse?.clients.values() ?? []) {
    const { connection } = pipe;
    if (match !== undefined && !match(clientOf(connection).text)) continue;
    const openedAt = look.samples.activity.of(connection.session)?.openedAt ?? look.samples.since;
    picked.add(() => ({
      ...clientPart(look, connection, clientOf(connection)),
      kind: "sse",
      state: "open",
      ageMs: performance.now() - openedAt,
      lastEventId: undefined,
      kept: undefined,
      unsentBytes: sink.unsent,
      queuedBytes: connection.listener?.queued ?? 0,
      writtenBytes: 0,
      isBehind: isFull || sink.congested,
      subscriptions: connection.listener?.addedTopics ?? 0,
    }));
  }
}

function sessionRow(look: Look, connection: Connection, stream: EventStream): Row {
  const { listener } = connection;
  const isGet = stream.kind === "get";
  return {
    ...streamRow(look, connection, clientOf(connection), stream),
    queuedBytes: isGet ? (listener?.queued ?? 0) : 0,
    subscriptions: isGet ? (listener?.addedTopics ?? 0) : 0,
  };
}

function streamRow(look: Look, connection: Connection, client: ShownClient, stream: EventStream): Row {
  const { kind, log, congested, backlog, bytes } = stream;
  return {
    ...clientPart(look, connection, client),
    kind,
    state: stream.state === "lost" ? "lost" : "open",
    ageMs: stream.age(performance.now()),
    lastEventId: shortEventId(log?.eventId()),
    kept: log instanceof StreamLog && log.isKept ? { messages: log.kept, bytes: log.bytes } : undefined,
    unsentBytes: backlog,
    queuedBytes: 0,
    writtenBytes: bytes,
    isBehind: congested,
    subscriptions: 0,
  };
}

function clientPart(
  { samples }: Look,
  { session, revision }: Connection,
  { peer, client, who }: ShownClient,
): Pick<Row, "peer" | "client" | "who" | "revision" | "resumes" | "gaps"> {
  return { peer, client, who, revision: revision?.date, ...samples.troubles.of(session) };
}

/** Enough of an event id to recognise it: with all of it and a session somebody could resume the stream. */
function shortEventId(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= 16) return id;
  const dot = id.indexOf(".");
  return `${id.slice(0, 8)}…${id.slice(Math.max(dot, id.length - 12))}`;
}
