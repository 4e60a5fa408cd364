// Listens to the wire and the events of endpoints, and reports each message and event with its client.
import type { ServerEvent, StreamEvent } from "../../server/diagnostics/events.ts";
import type { HttpExchange } from "../../transports/http/exchange.ts";
import type { HttpState } from "../../transports/http/state.ts";
import type { EventStream } from "../../transports/http/streams/event-stream.ts";
import type { HeardStream as Carrier, Witness } from "../../transports/http/streams/host.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { Call } from "../../server/calls/call.ts";
import type { Connection } from "../../server/context/connection.ts";
import { type Incoming, isBatch, isObject } from "../../base/wire/message.ts";
import { cut, cutSubject, peerOf } from "../sampling/peers.ts";
import type { Running } from "../sampling/running.ts";
import { type ClientEvent, type Heard, type HeardMessage, type HeardStream, sessionScope } from "./heard.ts";
import { type KeptText, textOfIncoming, textOfWritten } from "./kept-text.ts";
import { maxText } from "./track.ts";

/** The recipient of the reports. */
export interface Listening {
  /** The running calls, each with its start by `performance.now()`; undefined while no page is open. */
  readonly running: Running | undefined;
  /** Whether the client is followed. */
  wants(peer: string): boolean;
  /** The clients that are followed. */
  followed(): Iterable<string>;
  /** The followed client that has the task. */
  ownerOf(taskId: string): string | undefined;
  take(peer: string, heard: Heard): void;
}

/** The client of a connection, and the scope of its request ids. */
interface Place {
  readonly peer: string;
  readonly scope: string;
}

/** A part of a stream's name that is enough to tell the streams of a client apart. */
const maxStreamId = 9;

export class Hearing implements Witness {
  readonly #listening: Listening;
  /** The requests of modern clients. */
  readonly #places = new WeakMap<Connection, Place>();
  readonly #sessions = new WeakMap<Connection, Place>();
  /** An event on a modern connection before its request was seen. */
  readonly #early = new WeakMap<Connection, () => void>();
  readonly #streams = new WeakMap<object, Pick<HeardStream, "name" | "request">>();
  #count = 0;

  constructor(listening: Listening) {
    this.#listening = listening;
  }

  received(connection: Connection, incoming: Incoming): void {
    const place = this.#placeOf(connection) ?? this.#enter(connection, clientNameIn(incoming));
    if (!this.#wants(place)) return;
    this.#early.get(connection)?.();
    this.#tellMessage(place, "sent", textOfIncoming(incoming, connection.session));
  }

  wrote(connection: Connection, text: string, stream?: Carrier, eventId?: string): void {
    const place = this.#placeOf(connection);
    if (!this.#wants(place)) return;
    const carrier = stream ?? (connection.transport === "sse" ? connection : undefined);
    const heardStream = carrier && this.#streamOf(carrier, stream?.kind ?? "sse", eventId);
    this.#tellMessage(place, "received", textOfWritten(text, connection.session), heardStream, eventId);
  }

  changed(connection: Connection, { state, reason, kind }: StreamEvent, stream?: Carrier): void {
    const tell = (place: Place | undefined): void => {
      if (!this.#wants(place)) return;
      const { peer, scope } = place;
      const heardStream = this.#streamOf(stream ?? connection, kind);
      const at = Date.now();
      this.#listening.take(peer, { type: "stream", at, scope, stream: heardStream, change: state, reason });
    };
    const place = this.#placeOf(connection);
    if (place === undefined) this.#early.set(connection, () => tell(this.#placeOf(connection)));
    else tell(place);
  }

  /** Receives the events of the server. */
  readonly hear = (event: ServerEvent): void => {
    if (!isOfClient(event)) return;
    for (const peer of this.#peersOf(event))
      if (this.#listening.wants(peer))
        this.#listening.take(peer, { type: "event", at: Date.now(), event: keptOf(event) });
  };

  /** The calls and open streams that a client already has when it is followed. */
  *present(peer: string, { sessions, listens }: HttpState): Iterable<Heard> {
    for (const [call, startedAt] of this.#listening.running ?? []) {
      const { peer: owner, scope } = this.#ownerOf(call.exchange.connection, call.client?.name);
      if (owner === peer) yield { type: "call", at: wallTime(startedAt), scope, request: call.request };
    }
    for (const { session } of sessions.copies) {
      if (peerOf(session.connection, undefined) !== peer) continue;
      for (const stream of session.streams.all)
        if (stream.state === "open") yield this.#open(stream, sessionScope);
    }
    for (const { connection, openStream } of listens) {
      const { peer: owner, scope } = this.#ownerOf(connection, undefined);
      if (owner === peer && openStream) yield this.#open(openStream, scope);
    }
  }

  /** The client of a connection. For a listen request, its name is known only if it opened while a page was open. */
  #ownerOf(connection: Connection, clientName: string | undefined): Place {
    const name = clientName ?? this.#listening.running?.clientOf(connection)?.name;
    return this.#placeOf(connection) ?? this.#enter(connection, name);
  }

  #open(stream: EventStream, scope: string): Heard {
    const at = wallTime(performance.now() - stream.age(performance.now()));
    const heardStream = this.#streamOf(stream, stream.kind);
    return { type: "stream", at, scope, stream: heardStream, change: "opened", reason: undefined };
  }

  /** An event of a modern client has its name or no client at all; its tasks are found by their ids. */
  #peersOf(event: ClientEvent): Iterable<string> {
    if (event.session !== undefined) return [peerOf(event, undefined)];
    if (event.type === "gap") return this.#listening.followed();
    if (event.type === "request") return [peerOf(event, event.client?.name)];
    const owner = event.type === "task" ? this.#listening.ownerOf(event.taskId) : undefined;
    return owner === undefined ? [] : [owner];
  }

  #placeOf(connection: Connection): Place | undefined {
    if (connection.session === undefined) return this.#places.get(connection);
    let place = this.#sessions.get(connection);
    if (place === undefined) {
      place = { peer: peerOf(connection, undefined), scope: sessionScope };
      this.#sessions.set(connection, place);
    }
    return place;
  }

  /** Remembers the client of a connection, which its first message names. */
  #enter(connection: Connection, clientName: string | undefined): Place {
    const peer = peerOf(connection, clientName ?? connection.clientInfo?.name);
    const place = { peer, scope: `${++this.#count}` };
    this.#places.set(connection, place);
    return place;
  }

  #wants(place: Place | undefined): place is Place {
    return place !== undefined && this.#listening.wants(place.peer);
  }

  #streamOf(stream: object, kind: HeardStream["kind"], written?: string): HeardStream {
    const known = this.#streams.get(stream) ?? this.#introduce(stream, kind);
    const eventId = written ?? (stream as Partial<EventStream>).log?.eventId();
    return { ...known, kind, id: eventId?.split(".", 1)[0]?.slice(0, maxStreamId) };
  }

  /** Finds the call whose reply the stream is, once. */
  #introduce(stream: object, kind: HeardStream["kind"]): Pick<HeardStream, "name" | "request"> {
    const isIts = ({ exchange }: Call): boolean => (exchange as Partial<HttpExchange>).openStream === stream;
    const call = kind === "post" ? [...(this.#listening.running?.keys() ?? [])].find(isIts) : undefined;
    const known = { name: `${kind} ${++this.#count}`, request: call?.id };
    this.#streams.set(stream, known);
    return known;
  }

  #tellMessage(
    { peer, scope }: Place,
    direction: HeardMessage["direction"],
    kept: KeptText | undefined,
    stream?: HeardStream,
    eventId?: string,
  ): void {
    if (kept === undefined) return;
    const at = Date.now();
    this.#listening.take(peer, { type: "message", at, direction, stream, scope, eventId, ...kept });
  }
}

/** Converts a time of `performance.now()` to the wall clock. */
function wallTime(at: number): number {
  return Math.round(Date.now() - performance.now() + at);
}

const clientEvents: ReadonlySet<ServerEvent["type"]> = new Set(["request", "ask", "task", "session", "gap"]);

function isOfClient(event: ServerEvent): event is ClientEvent {
  return clientEvents.has(event.type);
}

/** The event without members that a client may make large, and without claims of its token. */
function keptOf(event: ClientEvent): ClientEvent {
  if (event.type === "gap") return event;
  const { principal: _, ...kept } = event;
  if (kept.type !== "request") return kept;
  const { client: _client, method, name, ...request } = kept;
  return { ...request, method: cut(method, maxText), name: name && cutSubject(name, maxText) };
}

/** The name that a modern client gives itself in its request. */
function clientNameIn(incoming: Incoming): string | undefined {
  if (isBatch(incoming) || !incoming.ok || incoming.kind === "response") return undefined;
  const meta = incoming.message.params?.["_meta"];
  const info = isObject(meta) ? meta[metaKeys.clientInfo] : undefined;
  const name = isObject(info) ? info["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}
