// What happens inside, as events for `observe`: for metrics, traces and dashboards.
import type { Principal } from "../protocol/model.ts";

/** What all events about a peer say of it. */
interface PeerEvent {
  readonly transport: string;
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
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

/** A handler threw something that was not meant for the client. */
export interface HandlerErrorEvent extends PeerEvent {
  readonly type: "handler-error";
  readonly method: string;
  /** The id that the client was given. */
  readonly errorId: string;
  readonly error: unknown;
}

/** What {@link ServerOptions.observe} receives. */
export type ServerEvent = RequestEvent | RefusalEvent | ListenerEvent | PushEvent | HandlerErrorEvent;
