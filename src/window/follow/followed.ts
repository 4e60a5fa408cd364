// What a follower gets: the messages of a client, with the call, the stream and the task that each belongs to.
import type { JsonObject, RequestId } from "../../base/wire/message.ts";
import type {
  AskEvent,
  GapEvent,
  HandlerErrorEvent,
  RequestEvent,
  SessionEvent,
  StreamEnd,
  StreamEvent,
  TaskEvent,
} from "../../server/diagnostics/events.ts";

/** The members that everything followed has. */
export interface FollowedItem {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The client, as in the rows of a snapshot. */
  readonly peer: string;
  /** Tells connections apart: a session or a pipe has one number, and each request of a modern client over HTTP has its own. */
  readonly connection: number;
  /** The id of the legacy session. */
  readonly session: string | undefined;
}

/** The stream that carries a message, or changes. */
export interface FollowedStreamRef {
  /** As in the rows of a snapshot. */
  readonly id: number;
  readonly kind: StreamEvent["kind"];
  /** Names the stream on all nodes: the beginning of its event ids, if it has any. */
  readonly link: string | undefined;
}

/** One message, as it was read or written. It may contain secrets: show what `withoutSecrets` returns. */
export interface FollowedMessage extends FollowedItem {
  readonly type: "message";
  /** As the client sees it. */
  readonly direction: "sent" | "received";
  readonly kind: "request" | "response" | "notification";
  /** The method of a request or a notification. */
  readonly method: string | undefined;
  /** The id of a request or a response. */
  readonly id: RequestId | null | undefined;
  /** The call that the message begins, ends or belongs to, if this node runs it. */
  readonly call: number | undefined;
  /** The id of the task that the message is about. */
  readonly task: string | undefined;
  /** Undefined for the plain reply to a POST, and on pipes. */
  readonly stream: FollowedStreamRef | undefined;
  readonly eventId: string | undefined;
  readonly message: JsonObject;
  /** The message as JSON. */
  readonly text: string;
}

/** A call began or ended. */
export interface FollowedCall extends FollowedItem {
  readonly type: "call";
  readonly state: "began" | "ended";
  readonly call: number;
  /** The id that the client chose for its request. */
  readonly requestId: RequestId;
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
  /** The token of its progress notifications. */
  readonly progressToken: RequestId | undefined;
  /** How it ended; undefined if it has just begun. */
  readonly end:
    | (Pick<RequestEvent, "outcome" | "errorCode" | "errorId" | "reason" | "durationMs"> & {
        /** The id of the task that it has become. */
        readonly task: string | undefined;
      })
    | undefined;
  /** Whether it was running when the client was followed. */
  readonly isEarlier: boolean;
}

/** A stream was opened, resumed or closed. */
export interface FollowedStream extends FollowedItem {
  readonly type: "stream";
  readonly stream: FollowedStreamRef;
  readonly state: StreamEvent["state"];
  readonly reason: StreamEnd | undefined;
  /** The call whose reply it is. */
  readonly call: number | undefined;
}

/** An event of the client. A gap of everyone is delivered for each followed client. */
export interface FollowedEvent extends Pick<FollowedItem, "at" | "peer"> {
  readonly type: "event";
  readonly event: AskEvent | TaskEvent | SessionEvent | GapEvent | HandlerErrorEvent;
}

/** What a follower gets. */
export type Followed = FollowedMessage | FollowedCall | FollowedStream | FollowedEvent;

/** Receives what happened since it was last called. While its promise is pending, the next batch waits. */
export type Follower = (batch: readonly Followed[], dropped: number) => void | Promise<void>;

/** Which clients are followed, and how much may wait. */
export interface FollowOptions {
  /** The client, by its `peer` in the rows of a snapshot. @default {every client of this node} */
  readonly peer?: string | undefined;
  /** Whether to follow the client on the other nodes of the cluster, too; they must have a window open. @default {false} */
  readonly everywhere?: boolean | undefined;
  /** Items that wait for a follower that is slow. Past it, the oldest are dropped, and `dropped` says how many. @default {1000} */
  readonly maxWaiting?: number | undefined;
  /** Characters of the messages that wait. Past it, the oldest are dropped, too. @default {8388608} */
  readonly maxCharacters?: number | undefined;
}

/** A client that is followed. */
export interface Follow {
  /** Delivers at once what has happened until now, unless the follower is busy. */
  flush(): void;
  /** Stops following. Nothing is delivered any more. */
  stop(): void;
}
