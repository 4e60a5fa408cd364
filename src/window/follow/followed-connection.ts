// One followed connection: takes what is read and written, and finds the call, the stream and the task of each message.
import { readJson } from "../../base/wire/json.ts";
import {
  type Incoming,
  isBatch,
  isObject,
  isRequestId,
  type JsonObject,
  readMessage,
  type RequestId,
} from "../../base/wire/message.ts";
import type { StreamEvent } from "../../server/diagnostics/events.ts";
import { metaKeys } from "../../protocol/meta.ts";
import { subjectOf } from "../../server/calls/failure.ts";
import type { CallOutcome } from "../../server/calls/outcome.ts";
import type { Connection, WriteWatch, WrittenStream } from "../../server/context/connection.ts";
import type { EventStream } from "../../transports/http/streams/event-stream.ts";
import type { Running } from "../inside/running-calls.ts";
import { streamId } from "../snapshot/streams.ts";
import type { Followed, FollowedCall, FollowedMessage, FollowedStreamRef } from "./followed.ts";

/** The parts of what follows that a connection uses. */
export interface FollowHost {
  /** Takes something that happened; `make` is called soon, and outside the call that it is about. */
  take(on: FollowedConnection, characters: number, make: () => readonly Followed[]): void;
  /** The id of the call of a request, if it has begun. */
  callOf(request: object): number | undefined;
}

/** An open call, as long as messages may belong to it. */
interface OpenCall {
  readonly id: number;
  readonly requestId: RequestId;
  readonly progressToken: RequestId | undefined;
  readonly running: Running;
}

/** How a message travels. */
interface Way {
  readonly direction: FollowedMessage["direction"];
  readonly at: number;
  readonly stream?: FollowedStreamRef | undefined;
  /** The call whose reply its stream is. */
  readonly ofStream?: OpenCall | undefined;
  readonly eventId?: string | undefined;
}

/** Calls whose responses may follow: a client may never get some. */
const maxOpen = 2000;
/** A part of a stream's name that is enough to tell the streams of a client apart. */
const maxLink = 9;

let lastId = 0;

export class FollowedConnection implements WriteWatch {
  readonly id: number = ++lastId;
  readonly peer: string;
  readonly connection: Connection;
  /** The session, whose request ids are unique on all nodes. */
  readonly session: string | undefined;
  readonly #host: FollowHost;
  readonly #open = new Map<RequestId, OpenCall>();

  constructor(connection: Connection, peer: string, session: string | undefined, host: FollowHost) {
    this.connection = connection;
    this.peer = peer;
    this.session = session;
    this.#host = host;
  }

  received(incoming: Incoming): void {
    const at = Date.now();
    this.#host.take(this, 0, () => {
      const values: readonly unknown[] = isBatch(incoming) ? incoming : incoming.ok ? [incoming.message] : [];
      return values.flatMap((value) => this.#read(value, { direction: "sent", at }));
    });
  }

  wrote(text: string, stream?: WrittenStream, eventId?: string): void {
    const at = Date.now();
    const isOnStream = stream !== undefined || this.connection.transport === "sse";
    const reference = isOnStream ? this.#streamOf(stream, eventId) : undefined;
    const ofStream = stream?.kind === "post" ? this.#callOn(stream) : undefined;
    this.#host.take(this, text.length, () => {
      const value = readJson(text);
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      const isOne = !Array.isArray(value);
      const way = { direction: "received", at, stream: reference, ofStream, eventId } as const;
      return values.flatMap((one) => this.#read(one, way, isOne ? text : undefined));
    });
  }

  changed({ state, reason, kind }: StreamEvent, stream?: WrittenStream): void {
    const at = Date.now();
    const call = stream && kind !== "get" ? this.#callOn(stream)?.id : undefined;
    const reference = this.#streamOf(stream);
    this.#host.take(this, 0, () => [{ ...this.#item("stream", at), stream: reference, state, reason, call }]);
  }

  /** A stream that is open when the client is followed. */
  *present(stream: EventStream): Iterable<Followed> {
    const at = wallTime(performance.now() - stream.age(performance.now()));
    const reference = this.#streamOf(stream);
    const call = stream.kind === "get" ? undefined : this.#callOn(stream)?.id;
    yield { ...this.#item("stream", at), stream: reference, state: "opened", reason: undefined, call };
  }

  began(running: Running): void {
    const item = this.#enter(running, false);
    this.#host.take(this, 0, () => [item]);
  }

  /** A call that is running when the client is followed. */
  *presentCall(running: Running): Iterable<Followed> {
    yield this.#enter(running, true);
  }

  #enter(running: Running, isEarlier: boolean): FollowedCall {
    const { id: requestId, meta } = running.call;
    const token = meta["progressToken"];
    const progressToken = isRequestId(token) ? token : undefined;
    // A request id that is used again names the later call.
    this.#open.delete(requestId);
    this.#open.set(requestId, { id: running.id, requestId, progressToken, running });
    const [oldest] = this.#open.keys();
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest);
    return this.#callItem(running, "began", progressToken, undefined, isEarlier);
  }

  ended(running: Running, outcome: CallOutcome, durationMs: number): void {
    const { progressToken } = this.#open.get(running.call.id) ?? {};
    const { errorCode, errorId, reason } = outcome;
    const end = {
      outcome: outcome.outcome,
      errorCode,
      errorId,
      reason,
      durationMs,
      task: running.call.taskId,
    };
    const item = this.#callItem(running, "ended", progressToken, end, false);
    this.#host.take(this, 0, () => [item]);
  }

  #callItem(
    { id, call, startedAt }: Running,
    state: FollowedCall["state"],
    progressToken: RequestId | undefined,
    end: FollowedCall["end"],
    isEarlier: boolean,
  ): FollowedCall {
    return {
      ...this.#item("call", isEarlier ? wallTime(startedAt) : Date.now()),
      state,
      call: id,
      requestId: call.id,
      method: call.method,
      name: subjectOf(call),
      progressToken,
      end,
      isEarlier,
    };
  }

  #item<Type extends Followed["type"]>(
    type: Type,
    at: number,
  ): { type: Type; at: number; peer: string; connection: number; session: string | undefined } {
    return { type, at, peer: this.peer, connection: this.id, session: this.session };
  }

  #read(
    value: unknown,
    { direction, at, stream, ofStream, eventId }: Way,
    text: string | undefined = textOf(value),
  ): FollowedMessage[] {
    const read = readMessage(value);
    if (!read.ok || !isObject(value) || text === undefined) return [];
    const { kind } = read;
    const method = kind === "response" ? undefined : read.message.method;
    const id = kind === "notification" ? undefined : read.message.id;
    const call = this.#callOf(direction, value, ofStream);
    const task = taskIn(value);
    return [
      {
        ...this.#item("message", at),
        direction,
        kind,
        method,
        id,
        call,
        task,
        stream,
        eventId,
        message: value,
        text,
      },
    ];
  }

  #callOf(
    direction: FollowedMessage["direction"],
    message: JsonObject,
    ofStream: OpenCall | undefined,
  ): number | undefined {
    const { id, method, params } = message;
    if (direction === "sent") return method === undefined ? undefined : this.#host.callOf(message);
    if (method === undefined) return this.#end(id);
    if (method === "notifications/progress" && isObject(params)) {
      for (const open of this.#open.values())
        if (open.progressToken !== undefined && open.progressToken === params["progressToken"])
          return open.id;
    }
    return ofStream?.id ?? (this.#hasOneRequest ? this.#only?.id : undefined);
  }

  get #hasOneRequest(): boolean {
    return this.session === undefined && this.connection.transport === "http";
  }

  /** The only call of a connection that has one request. */
  get #only(): OpenCall | undefined {
    const [first] = this.#open.values();
    return this.#open.size === 1 ? first : undefined;
  }

  /** The call of a response, which is the last of its messages. */
  #end(requestId: unknown): number | undefined {
    const open = isRequestId(requestId) ? this.#open.get(requestId) : undefined;
    if (open !== undefined) this.#open.delete(open.requestId);
    return open?.id;
  }

  /** The call whose reply is this stream. */
  #callOn(stream: object): OpenCall | undefined {
    for (const open of this.#open.values()) if (open.running.call.exchange.stream === stream) return open;
    return undefined;
  }

  /** The stream of HTTP+SSE is the connection itself. */
  #streamOf(stream: WrittenStream | undefined, written?: string): FollowedStreamRef {
    const eventId = written ?? stream?.log?.eventId();
    const link = eventId?.split(".", 1)[0]?.slice(0, maxLink);
    return { id: streamId(stream ?? this.connection), kind: stream?.kind ?? "sse", link };
  }
}

/** Undefined for a value that is nested too deeply for the stack. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The task that a message is about: one that a call has become, one that it asks for, or the task of a question. */
function taskIn({ params, result }: JsonObject): string | undefined {
  const about = isObject(params) ? params : isObject(result) ? result : {};
  const { task, taskId, _meta: meta } = about;
  const related = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  for (const state of [about, task, related])
    if (isObject(state) && typeof state["taskId"] === "string") return state["taskId"];
  return typeof taskId === "string" ? taskId : undefined;
}

/** Converts a time of `performance.now()` to the wall clock. */
function wallTime(at: number): number {
  return Math.round(Date.now() - performance.now() + at);
}
