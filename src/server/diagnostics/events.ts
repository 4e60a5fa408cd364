// The events that `observe` receives, for metrics, traces and dashboards.
import { guard, type Logger } from "../../base/logging/logger.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import type { EngineEvent, NodeEvent } from "../../cluster/node/backplane.ts";
import type { Implementation, Principal } from "../../protocol/model.ts";
import { identityOf } from "../../protocol/principal.ts";

/** Receives reports of the parts of a server. */
export interface Diagnostics {
  readonly logger: Logger;
  /** Read for each event, because observers come and go. */
  observe?: ((event: ServerEvent) => void) | undefined;
}

/** The peer of an event. */
export interface PeerEvent {
  readonly transport: string;
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  /** The key under which limits count the peer: its principal, over HTTP else its address. */
  readonly caller?: string | undefined;
}

/** Copies only these fields: calls, connections and listeners have many more. */
export function peerOf<Peer extends PeerEvent>({
  transport,
  session,
  principal,
  caller,
}: Peer): Pick<Peer, keyof PeerEvent> {
  return { transport, session, principal, caller };
}

/** A request has ended, with or without a response. */
export interface RequestEvent extends PeerEvent {
  readonly type: "request";
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string | undefined;
  readonly revision: string;
  /** The name and version that the client sends about itself. */
  readonly client?: Implementation | undefined;
  /** How long the client waited for its answer: for the handle, if the call became a task. */
  readonly durationMs: number;
  /** The id of the task that the call became, whose end is a `task` event. */
  readonly task?: string | undefined;
  /** A result with `isError` counts as an error, too. */
  readonly outcome: "ok" | "error" | "cancelled";
  /** The JSON-RPC error code; undefined for a result with `isError`. */
  readonly errorCode?: number | undefined;
  /** The error id that the client got, if the handler threw an unexpected error. */
  readonly errorId?: string | undefined;
  /** Why it failed, as the client sees it: the message of the error, or the first text of a result with `isError`. */
  readonly reason?: string | undefined;
}

/** The server rejected a message or an HTTP request before it reached a handler. */
export interface RefusalEvent extends PeerEvent {
  readonly type: "refusal";
  /** The HTTP status, if the HTTP transport rejected it. */
  readonly status?: number | undefined;
  readonly errorCode: number;
  readonly reason: string;
}

/**
 * Why a session has ended in this process: its client disconnected (`left`), deleted it, was idle for too long, was evicted
 * to make room for another session, or held a token that expired; or the server shuts down.
 */
export type SessionEnd = "left" | "deleted" | "idle" | "evicted" | "expired" | "shutdown";

/** A legacy session began in this process, because its client initialized or another node had it before, or ended here. */
export interface SessionEvent extends PeerEvent {
  readonly type: "session";
  readonly state: "made" | "revived" | "ended";
  /** Why it ended; undefined if another node may continue it. */
  readonly reason?: SessionEnd | undefined;
}

/** A listen request opened or closed. */
export interface SubscriptionEvent extends PeerEvent {
  readonly type: "subscription";
  readonly state: "opened" | "closed";
  /** The name and version that the client sends about itself, if the request has just opened. */
  readonly client?: Implementation | undefined;
}

/**
 * Why the connection of a stream closed: the client or the network cut it, its reader was too slow, the server had nothing more to
 * send, the server lets the client resume it, or the client has resumed it on another node.
 */
export type StreamEnd = "cut" | "slow" | "ended" | "paused" | "moved";

/** The event stream of an HTTP response opened, was resumed on another connection, or closed. */
export interface StreamEvent extends PeerEvent {
  readonly type: "stream";
  readonly state: "opened" | "resumed" | "closed";
  /** The GET of a session, the reply to a POST, a listen request, or the stream of HTTP+SSE. */
  readonly kind: "get" | "post" | "listen" | "sse";
  readonly reason?: StreamEnd | undefined;
  /** Characters written so far. */
  readonly bytes: number;
  /** Bytes that the client has not read, as far as known. */
  readonly backlog: number;
  /** How long the connection lasted, if it has closed. */
  readonly durationMs?: number | undefined;
}

/** The server sent a notification to subscribers or sessions. */
export interface PushEvent {
  readonly type: "push";
  readonly notification: string;
  /** The URI or another key of the topic, if it went to subscribers of one. */
  readonly key?: string | undefined;
  /** The session, if it went to one only. */
  readonly session?: string | undefined;
  readonly delivered: number;
}

/** A notification replaced an earlier one of the same topic, which waited because its reader is slow. */
export interface MergeEvent {
  readonly type: "merge";
  readonly notification: string;
  readonly key?: string | undefined;
}

/**
 * The server sent a question to a client, or a question ended, with or without an answer. The event has neither the question nor
 * the answer. A question that the handler awaits again in a later round is not reported again. A modern client may never retry;
 * then the question has no second event.
 */
export interface AskEvent extends PeerEvent {
  readonly type: "ask";
  readonly state: "asked" | "answered" | "failed";
  /** The method of the question, such as `elicitation/create`. */
  readonly method: string;
  /** The task that asked. */
  readonly taskId?: string | undefined;
  /** How long it was open. Unknown if a retry contains the answer, because another process may have asked. */
  readonly durationMs?: number | undefined;
  /** Why it failed. */
  readonly reason?: string | undefined;
}

/** A call has become a task, or its task has ended. The process that runs the handler reports each once. */
export interface TaskEvent extends PeerEvent {
  readonly type: "task";
  readonly state: "created" | "ended";
  readonly taskId: string;
  readonly tool: string;
  /** How it ended: `failed` also if its result could not be stored, `expired` if its `ttlMs` ended before its work. */
  readonly status?: "completed" | "failed" | "cancelled" | "expired" | undefined;
  readonly durationMs?: number | undefined;
}

export type TaskEnd = NonNullable<TaskEvent["status"]>;

/** A handler threw an unexpected error. */
export interface HandlerErrorEvent extends PeerEvent {
  readonly type: "handler-error";
  readonly method: string;
  /** The error id that the client got. */
  readonly errorId: string;
  readonly error: unknown;
}

/** The client of a session resumes a stream on this node, after another node had it. */
export interface HandoverEvent extends PeerEvent {
  readonly type: "handover";
  /** The other node, if that is known. */
  readonly from?: string | undefined;
}

/**
 * Messages may be lost: of a session, which gets notifications to read everything again, or, without a session, of every
 * listener.
 */
export interface GapEvent {
  readonly type: "gap";
  readonly session?: string | undefined;
}

/** An event that {@link ServerOptions.observe} receives. */
export type ServerEvent =
  | RequestEvent
  | RefusalEvent
  | SessionEvent
  | SubscriptionEvent
  | StreamEvent
  | PushEvent
  | MergeEvent
  | AskEvent
  | TaskEvent
  | HandlerErrorEvent
  | NodeEvent
  | EngineEvent
  | HandoverEvent
  | GapEvent;

/** Logs errors of the observer, and reduces each principal to its identity, without the claims of its token. */
export function guardedObserver(
  observe: (event: ServerEvent) => void,
  logger: Logger,
): (event: ServerEvent) => void {
  const onFailure = (error: unknown): void => RateLimitedLog.of(logger).error("observe() failed", { error });
  return (event) =>
    guard(
      () => observe("principal" in event ? { ...event, principal: identityOf(event.principal) } : event),
      onFailure,
    );
}
