// Which clients are followed: decides once for each connection, and passes what happens on it to its followers in batches.
import { inBackground } from "../../base/async/timers.ts";
import { type Incoming, isBatch, isObject } from "../../base/wire/message.ts";
import type { ServerEvent } from "../../server/diagnostics/events.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { CallOutcome } from "../../server/calls/outcome.ts";
import type { ConnectionWatch } from "../../server/calls/window-seam.ts";
import { Connection } from "../../server/context/connection.ts";
import { clientOfCall } from "../inside/clients.ts";
import type { Inside } from "../inside/inside.ts";
import type { Observers } from "../inside/observers.ts";
import { peerIdOf } from "../inside/peers.ts";
import type { CallEvents, Running } from "../inside/running-calls.ts";
import { FollowQueue } from "./follow-queue.ts";
import { FollowedConnection, type FollowHost } from "./followed-connection.ts";
import type { Follow, Followed, FollowedEvent, Follower, FollowOptions } from "./followed.ts";

/** Milliseconds until followers get what has happened: reading messages one by one would cost several times as much. */
const batchMs = 25;
/** Messages and other items that wait for that, and their characters. Past it, followers get them at once. */
const maxWaiting = 500;
const maxCharacters = 1_048_576;
/** Tasks of followed clients whose ends are awaited. */
const maxTasks = 1000;

/** What happened, and who gets it. */
interface Waiting {
  readonly peer: string;
  readonly make: () => readonly Followed[];
}

export class Follows implements ConnectionWatch, CallEvents, FollowHost {
  readonly #inside: () => Inside;
  readonly #observers: Observers;
  /** By client, and those of every client under an empty name. */
  readonly #queues = new Map<string, Set<FollowQueue>>();
  readonly #tasks = new Map<string, string>();
  #decision = 0;
  #waiting: Waiting[] = [];
  #characters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopObserving: (() => void) | undefined;

  constructor(inside: () => Inside, observers: Observers) {
    this.#inside = inside;
    this.#observers = observers;
  }

  follow(options: FollowOptions, take: Follower): Follow {
    const { peer = everyone } = options;
    const queue = new FollowQueue(take, options, (error) => this.#failed(error));
    // What happened before is for the others.
    this.flush();
    const queues = this.#queues.get(peer) ?? new Set();
    this.#queues.set(peer, queues.add(queue));
    this.#begin();
    this.#enterPresent(peer, queue);
    return {
      flush: () => this.flush(),
      stop: () => {
        queue.isOver = true;
        if (queues.delete(queue) && queues.size === 0) this.#queues.delete(peer);
        this.#decision++;
        if (this.#queues.size === 0) this.#end();
      },
    };
  }

  /** Passes on what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    for (const { peer, make } of waiting) {
      const items = this.#read(make);
      for (const queue of this.#queuesOf(peer)) for (const item of items) queue.add(item);
    }
    for (const queues of this.#queues.values()) for (const queue of queues) queue.deliver();
  }

  // Called by the core.

  received(connection: Connection, incoming: Incoming): void {
    const followed =
      connection.followDecision === this.#decision
        ? connection.follower
        : this.#decide(connection, clientNameIn(incoming));
    if (followed instanceof FollowedConnection) followed.received(incoming);
  }

  opened(connection: Connection): void {
    if (connection.followDecision !== this.#decision) this.#decide(connection, undefined);
  }

  began(running: Running): void {
    const { follower } = running.call.exchange.connection;
    if (follower instanceof FollowedConnection) follower.began(running);
  }

  ended(running: Running, end: CallOutcome, durationMs: number): void {
    const { follower } = running.call.exchange.connection;
    if (follower instanceof FollowedConnection) follower.ended(running, end, durationMs);
  }

  // Called by followed connections.

  take({ peer }: FollowedConnection, characters: number, make: () => readonly Followed[]): void {
    this.#add({ peer, make }, characters);
  }

  callOf(request: object): number | undefined {
    return this.#inside().calls.idOf(request);
  }

  #add(waiting: Waiting, characters: number): void {
    this.#waiting.push(waiting);
    this.#characters += characters;
    if (this.#waiting.length >= maxWaiting || this.#characters >= maxCharacters) this.flush();
    else this.#timer ??= this.#wait();
  }

  /** An error here must not fail anything, whatever a client or a tool has sent. */
  #read(make: () => readonly Followed[]): readonly Followed[] {
    try {
      return make();
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  #failed(error: unknown): void {
    RateLimitedLog.of(this.#inside().core.settings.logger).error("A follower failed", { error });
  }

  *#queuesOf(peer: string): Iterable<FollowQueue> {
    if (peer !== everyone) yield* this.#queues.get(peer) ?? [];
    yield* this.#queues.get(everyone) ?? [];
  }

  #wants(peer: string): boolean {
    return this.#queues.has(peer) || this.#queues.has(everyone);
  }

  /** Decides whether a connection is followed. A modern client is known by its first request on it. */
  #decide(connection: Connection, clientName: string | undefined): FollowedConnection | undefined {
    connection.followDecision = this.#decision;
    const isLegacy = connection.session !== undefined && clientName === undefined;
    const session = isLegacy ? connection.session : undefined;
    const peer = peerIdOf({ session, caller: connection.caller }, clientName);
    const before = connection.follower;
    const isSame = before instanceof FollowedConnection && before.peer === peer;
    const followed = !this.#wants(peer)
      ? undefined
      : isSame
        ? before
        : new FollowedConnection(connection, peer, session, this);
    connection.follower = followed;
    return followed;
  }

  #begin(): void {
    this.#decision++;
    const { core } = this.#inside();
    core.window.connections = this;
    this.#stopObserving ??= this.#observers.add((event) => this.#observe(event));
  }

  #end(): void {
    this.#inside().core.window.connections = undefined;
    this.#stopObserving?.();
    this.#stopObserving = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
    this.#tasks.clear();
  }

  /** Follows the connections that are open, and delivers the calls and streams of the client. */
  #enterPresent(peer: string, queue: FollowQueue): void {
    const { calls, core, endpoints } = this.#inside();
    for (const { state, legacySse } of endpoints) {
      for (const { session } of state.sessions.copies) this.opened(session.connection);
      for (const { pipe } of legacySse?.clients.values() ?? []) this.opened(pipe.connection);
    }
    for (const { log } of core.hub.listeners) if (log instanceof Connection) this.opened(log);
    for (const { call } of calls) {
      const { connection } = call.exchange;
      if (call.era !== "modern") continue;
      const client = call.client ?? calls.clientOf(connection);
      this.#decide(connection, client?.name ?? "");
    }
    const before = queue.size;
    for (const item of this.#present(peer)) queue.add(item);
    if (queue.size > before) this.#timer ??= this.#wait();
  }

  /** The calls and streams of a client, or of all, that are open. */
  *#present(peer: string): Iterable<Followed> {
    const { calls, endpoints } = this.#inside();
    const followed = ({ follower }: Connection): FollowedConnection | undefined =>
      follower instanceof FollowedConnection && (peer === everyone || follower.peer === peer)
        ? follower
        : undefined;
    for (const running of calls)
      yield* followed(running.call.exchange.connection)?.presentCall(running) ?? [];
    for (const { state } of endpoints) {
      for (const { session } of state.sessions.copies) {
        const own = followed(session.connection);
        if (own === undefined) continue;
        for (const stream of session.streams.all) if (stream.state === "open") yield* own.present(stream);
      }
      for (const { connection, openStream } of state.listens)
        if (openStream) yield* followed(connection)?.present(openStream) ?? [];
    }
  }

  #wait(): ReturnType<typeof setTimeout> {
    return inBackground(setTimeout(() => this.flush(), batchMs));
  }

  readonly #observe = (event: ServerEvent): void => {
    if (!isOfClient(event)) return;
    const at = Date.now();
    for (const peer of this.#peersOf(event)) {
      if (!this.#wants(peer)) continue;
      const item: FollowedEvent = { type: "event", at, peer, event };
      this.#add({ peer, make: () => [item] }, 0);
    }
  };

  /** A modern client's questions have no client's name; its tasks are found by their ids. */
  #peersOf(event: FollowedEvent["event"]): Iterable<string> {
    if (event.session !== undefined) return [peerIdOf(event, undefined)];
    if (event.type === "gap") return [...this.#queues.keys()];
    if (event.type !== "task") return [];
    const { taskId, state } = event;
    const call = this.#inside().core.tasks.runs.get(taskId)?.call;
    const owner = this.#tasks.get(taskId) ?? (call && clientOfCall(call).peer);
    if (state === "ended") this.#tasks.delete(taskId);
    else if (owner !== undefined && this.#tasks.size < maxTasks) this.#tasks.set(taskId, owner);
    return owner === undefined ? [] : [owner];
  }
}

/** Stands for all clients, whose names are never empty. */
const everyone = "";

const clientEvents: ReadonlySet<ServerEvent["type"]> = new Set([
  "ask",
  "task",
  "session",
  "gap",
  "handler-error",
]);

function isOfClient(event: ServerEvent): event is FollowedEvent["event"] {
  return clientEvents.has(event.type);
}

/** The name that a modern client gives itself in its request; undefined for a legacy message. */
function clientNameIn(incoming: Incoming): string | undefined {
  if (isBatch(incoming) || !incoming.ok || incoming.kind === "response") return undefined;
  const meta = incoming.message.params?.["_meta"];
  if (!isObject(meta) || meta[metaKeys.protocolVersion] === undefined) return undefined;
  const info = meta[metaKeys.clientInfo];
  const name = isObject(info) ? info["name"] : undefined;
  return typeof name === "string" ? name : "";
}
