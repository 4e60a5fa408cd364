// The calls that are running, from the moment that a window is opened.
import type { RpcResponse } from "../../base/wire/message.ts";
import type { Implementation } from "../../protocol/model.ts";
import type { Call } from "../../server/calls/call.ts";
import { type CallOutcome, outcomeOf } from "../../server/calls/outcome.ts";
import type { CallTracker } from "../../server/calls/window-seam.ts";
import type { Connection } from "../../server/context/connection.ts";
import { keptClient } from "./peers.ts";

/** A running call. */
export interface Running {
  /** Unique in this process. */
  readonly id: number;
  readonly call: Call;
  /** On the monotonic clock. */
  readonly startedAt: number;
}

/** Called when a call ends. */
type OnEnd = (end: CallOutcome, response: RpcResponse, durationMs: number) => void;

/** Called when a call of a followed connection begins or ends. */
export interface CallEvents {
  began(running: Running): void;
  ended(running: Running, end: CallOutcome, durationMs: number): void;
}

export class RunningCalls implements CallTracker {
  readonly since: number = performance.now();
  readonly #running = new Map<Call, Running>();
  readonly #listening = new WeakMap<Connection, Implementation>();
  /** When clients of pipes and HTTP+SSE last called; their transports do not record it. */
  readonly #calledAt = new WeakMap<Connection, number>();
  readonly #ids = new WeakMap<object, number>();
  readonly #onEnd = new Map<Call, OnEnd>();
  readonly #events: CallEvents;
  #lastId = 0;
  #streams = 0;

  constructor(events: CallEvents) {
    this.#events = events;
  }

  /** The number of running calls, without listen requests. */
  get size(): number {
    return this.#running.size - this.#streams;
  }

  [Symbol.iterator](): Iterator<Running> {
    return this.#running.values();
  }

  of(call: Call): Running | undefined {
    return this.#running.get(call);
  }

  /** The client of a listen request, which its call has dropped. */
  clientOf(connection: Connection): Implementation | undefined {
    return this.#listening.get(connection);
  }

  /** When a client that has no session over HTTP last called, as far as known. */
  lastCallOf(connection: Connection | undefined): number {
    return (connection && this.#calledAt.get(connection)) ?? this.since;
  }

  /** The id of the call that answers a request of a followed connection. */
  idOf(request: object): number | undefined {
    return this.#ids.get(request);
  }

  /** Calls `callback` when a call ends that is about to begin. */
  onEnd(call: Call, callback: OnEnd): void {
    this.#onEnd.set(call, callback);
  }

  began(call: Call, startedAt: number): void {
    const { connection } = call.exchange;
    const running: Running = { id: ++this.#lastId, call, startedAt };
    this.#running.set(call, running);
    if (call.row.stream) {
      this.#streams++;
      if (call.client !== undefined) this.#listening.set(connection, keptClient(call.client));
    }
    if (connection.transport !== "http") this.#calledAt.set(connection, startedAt);
    if (connection.follower === undefined) return;
    this.#ids.set(call.request, running.id);
    this.#events.began(running);
  }

  ended(call: Call, response: RpcResponse, durationMs: number): void {
    const running = this.#running.get(call);
    if (running === undefined) return;
    this.#running.delete(call);
    if (call.row.stream) this.#streams--;
    const isFollowed = call.exchange.connection.follower !== undefined;
    const onEnd = this.#onEnd.get(call);
    if (!isFollowed && onEnd === undefined) return;
    this.#onEnd.delete(call);
    const end = outcomeOf(call, response);
    onEnd?.(end, response, durationMs);
    if (isFollowed) this.#events.ended(running, end, durationMs);
  }
}
