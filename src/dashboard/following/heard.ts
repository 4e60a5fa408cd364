// The inputs of a timeline: a message, a change of a stream, or an event of the server.
import type { RecordedLine } from "../../client/recording.ts";
import type {
  AskEvent,
  GapEvent,
  RequestEvent,
  SessionEvent,
  StreamEnd,
  StreamEvent,
  TaskEvent,
} from "../../server/diagnostics/events.ts";
import type { RequestId, RpcRequest } from "../../base/wire/message.ts";

/** The stream that carries a message, or changes. */
export interface HeardStream {
  /** Names the stream in this process and in recordings, such as `get 3`. */
  readonly name: string;
  readonly kind: StreamEvent["kind"];
  /** Names the stream on all nodes: the first part of its event ids, if it has any. */
  readonly id: string | undefined;
  /** The id of the request whose reply the stream is, if that is known. */
  readonly request: RequestId | undefined;
}

/** Request ids are unique within a scope: the session, or one request of a modern client. */
export const sessionScope = "session";

/** A message without its secrets. */
export interface HeardMessage {
  readonly type: "message";
  readonly at: number;
  /** As the client sees it. */
  readonly direction: RecordedLine["direction"];
  /** Undefined for the plain reply to a POST. */
  readonly stream: HeardStream | undefined;
  readonly scope: string;
  readonly eventId: string | undefined;
  /** The message or batch as JSON; of one that is too large only the envelope. */
  readonly text: string;
  readonly isShortened: boolean;
}

export interface HeardChange {
  readonly type: "stream";
  readonly at: number;
  readonly scope: string;
  readonly stream: HeardStream;
  readonly change: StreamEvent["state"];
  readonly reason: StreamEnd | undefined;
}

/** The events that belong to a client. */
export type ClientEvent = RequestEvent | AskEvent | TaskEvent | SessionEvent | GapEvent;

export interface HeardEvent {
  readonly type: "event";
  readonly at: number;
  readonly event: ClientEvent;
}

/** A call that was already running when its client was followed. */
export interface HeardCall {
  readonly type: "call";
  readonly at: number;
  readonly scope: string;
  readonly request: RpcRequest;
}

export type Heard = HeardMessage | HeardChange | HeardEvent | HeardCall;
