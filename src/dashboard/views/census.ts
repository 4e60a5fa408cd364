// Counts what is open on this node. Visiting every session takes long, so the more there are, the less often it happens.
import type { Endpoint } from "../../transports/http/endpoint.ts";
import type { HttpSession } from "../../transports/http/session.ts";
import type { Copy } from "../../server/session/copies.ts";
import type { Listener, Stream } from "../../server/push/listener.ts";
import type { Core } from "../../server/calls/core.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { Look, Looking } from "../sampling/looking.ts";
import type { Opened, Samples } from "../sampling/samples.ts";
import { clientOf, type ShownClient } from "./clients.ts";

/** Milliseconds between two visits for each thing that was visited: 10,000 sessions with a stream are visited every ten seconds. */
const visitMs = 0.5;

/** A modern client whose listen requests are open. */
export interface ListeningClient extends ShownClient {
  readonly transport: string;
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

interface Visit {
  readonly visited: Visited;
  /** How many were open when sampling began, as calculated from events. */
  readonly base: Readonly<Opened>;
  readonly samples: Samples;
}

export class Census {
  readonly #core: Core;
  readonly #endpoint: Endpoint;
  readonly #looking: Looking;
  #last: Visit | undefined;
  #until = 0;

  constructor(core: Core, endpoint: Endpoint, looking: Looking) {
    this.#core = core;
    this.#endpoint = endpoint;
    this.#looking = looking;
  }

  /** How many are open: those at the last visit, and those that opened since. */
  counts(): Readonly<Opened> {
    const { base, samples } = this.#visit();
    const { opened } = samples;
    return {
      sessions: base.sessions + opened.sessions,
      streams: base.streams + opened.streams,
      subscriptions: base.subscriptions + opened.subscriptions,
    };
  }

  /** What the last visit found. */
  get visited(): Visited {
    return this.#visit().visited;
  }

  #visit(): Visit {
    const { samples } = this.#looking.ask();
    const now = performance.now();
    if (this.#last?.samples === samples && now < this.#until) return this.#last;
    const { state, legacySse } = this.#endpoint;
    const { sessions, subscribed, pipes, waiting } = this.#visitListeners();
    const behind = new Set<Copy<HttpSession>>();
    let streams = state.listens.size + (legacySse?.size ?? 0);
    for (const copy of state.sessions.copies) {
      for (const stream of copy.session.streams.all) if (stream.state === "open") streams++;
      if (isBehind(copy.session)) behind.add(copy);
    }
    const { opened } = samples;
    const base = {
      sessions: sessions - opened.sessions,
      streams: streams - opened.streams,
      subscriptions: this.#core.hub.listeners.size - sessions + subscribed - opened.subscriptions,
    };
    this.#until = now + (sessions + streams) * visitMs;
    const visited = { behind, pipes, listening: this.#visitListens(waiting) };
    return (this.#last = { visited, base, samples });
  }

  #visitListeners(): {
    readonly sessions: number;
    /** The resources that sessions subscribe to, counted for each session. */
    readonly subscribed: number;
    readonly pipes: readonly Listener[];
    readonly waiting: ReadonlyMap<Stream, number>;
  } {
    const pipes: Listener[] = [];
    /** The bytes in the mailboxes of listen requests. */
    const waiting = new Map<Stream, number>();
    let sessions = 0;
    let subscribed = 0;
    for (const listener of this.#core.hub.listeners) {
      const { session, transport, stream } = listener;
      if (session === undefined) {
        if (listener.queued > 0) waiting.set(stream, listener.queued);
        continue;
      }
      sessions++;
      subscribed += listener.addedTopics;
      if (transport !== "http" && transport !== "sse") pipes.push(listener);
    }
    return { sessions, subscribed, pipes, waiting };
  }

  #visitListens(waiting: ReadonlyMap<Stream, number>): Map<string, ListeningClient> {
    const look = this.#looking.ask();
    const now = performance.now();
    const clients = new Map<string, ListeningClient>();
    for (const { connection, openStream } of this.#endpoint.state.listens) {
      const client = clientOfListen(look, connection);
      const openedAt = now - (openStream?.age(now) ?? 0);
      let known = clients.get(client.peer);
      if (known === undefined) {
        known = { ...client, transport: connection.transport, listens: 0, queuedBytes: 0, openedAt };
        clients.set(client.peer, known);
      }
      known.listens++;
      known.openedAt = Math.max(known.openedAt, openedAt);
      if (openStream !== undefined) known.queuedBytes += openStream.backlog + (waiting.get(openStream) ?? 0);
    }
    return clients;
  }
}

function isBehind({ connection, streams }: HttpSession): boolean {
  return (connection.listener?.queued ?? 0) > 0 || streams.congested;
}

/** The client of a listen request. Its name is known if a page was open when it opened. */
export function clientOfListen({ running }: Look, connection: Connection): ShownClient {
  return clientOf(connection, running.clientOf(connection));
}
