// What happens inside, as events for `observe`: for metrics, traces and dashboards.
import type { Principal } from "../protocol/model.ts";

/** What all events about a peer say of it. */
export interface PeerEvent {
  readonly transport: string;
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
}

/** These and nothing else: a call, a connection and a listener are peers too, and much more. */
export function peerOf({ transport, session, principal }: PeerEvent): PeerEvent {
  return { transport, session, principal };
}

/** A request has been answered, or has ended without an answer. */
export interface RequestEvent extends PeerEvent {
  readonly type: "request";
  readonly method: string;
  /** The tool or prompt by name, the resource by URI. */
  readonly name?: string | undefined;
  readonly revision: string;
  readonly durationMs: number;
  readonly outcome: "ok" | "error" | "cancelled";
  /** The JSON-RPC code, when the outcome is an error of the protocol. */
  readonly errorCode?: number | undefined;
}

/** A message, or an HTTP request, was refused before it became a request of the protocol. */
export interface RefusalEvent extends PeerEvent {
  readonly type: "refusal";
  /** The HTTP status, where the transport refused it. */
  readonly status?: number | undefined;
  readonly errorCode: number;
  readonly reason: string;
}

/** A listen request or a legacy session began or ended. */
export interface ListenerEvent extends PeerEvent {
  readonly type: "listener";
  readonly state: "opened" | "closed";
  readonly kind: "session" | "subscription";
}

/** A notification went out to those who listen. */
export interface PushEvent {
  readonly type: "push";
  readonly notification: string;
  readonly key?: string | undefined;
  readonly delivered: number;
}

/**
 * A question to a client went out, or ended: with an answer, whatever it says, or without one. Neither of the two is told, nor
 * what a handler awaits again in a later round. A modern client may leave a question open and never come back.
 */
export interface AskEvent extends PeerEvent {
  readonly type: "ask";
  readonly state: "asked" | "answered" | "failed";
  /** What the client was asked, such as `elicitation/create`. */
  readonly method: string;
  /** The task that it was asked for. */
  readonly taskId?: string | undefined;
  /** How long it was open; not known of an answer that a retry brings, which may be to another process. */
  readonly durationMs?: number | undefined;
  /** Why it failed. */
  readonly reason?: string | undefined;
}

/** A call has become a task, or its task has ended: each is told once, by the process that runs the handler. */
export interface TaskEvent extends PeerEvent {
  readonly type: "task";
  readonly state: "created" | "ended";
  readonly taskId: string;
  readonly tool: string;
  /** How it ended: `failed` also when its result could not be kept, `expired` when its time was up before its work was done. */
  readonly status?: "completed" | "failed" | "cancelled" | "expired" | undefined;
  readonly durationMs?: number | undefined;
}

export type TaskEnd = NonNullable<TaskEvent["status"]>;

/** A handler threw something that was not meant for the client. */
export interface HandlerErrorEvent extends PeerEvent {
  readonly type: "handler-error";
  readonly method: string;
  /** The id that the client was given. */
  readonly errorId: string;
  readonly error: unknown;
}

/** What {@link ServerOptions.observe} receives. */
export type ServerEvent =
  | RequestEvent
  | RefusalEvent
  | ListenerEvent
  | PushEvent
  | AskEvent
  | TaskEvent
  | HandlerErrorEvent;
