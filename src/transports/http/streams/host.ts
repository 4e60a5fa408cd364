// The parts of an endpoint that streams need, and the witness: it receives their messages while a dashboard follows a client.
import type { StreamEvent } from "../../../server/diagnostics/events.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { ServerPort } from "../../../server/calls/port.ts";
import type { Incoming } from "../../../base/wire/message.ts";
import type { Heartbeat } from "../edge/heartbeat.ts";

/** Receives the stream events of an endpoint. */
export interface Witnessed {
  readonly server: { readonly observe: ((event: StreamEvent) => void) | undefined };
  /** Set only while a dashboard follows a client, so that it otherwise costs nothing. */
  witness: Witness | undefined;
}

/** A stream as a witness knows it: the same object each time. */
export interface HeardStream {
  readonly kind: StreamEvent["kind"];
}

/** Must not throw, and must not change its arguments. */
export interface Witness {
  /** A message or batch of a client, before it is answered. */
  received(connection: Connection, incoming: Incoming): void;
  /** The body of a reply that is not a stream, or a message on an HTTP+SSE, resumable or listen stream. */
  wrote(connection: Connection, text: string, stream?: HeardStream, eventId?: string): void;
  /** A stream was opened, resumed or closed. Without `stream` it is one of HTTP+SSE. */
  changed(connection: Connection, event: StreamEvent, stream?: HeardStream): void;
}

/** The times of a stream. */
export interface StreamTimes {
  readonly keepAliveMs: number;
  readonly maxStreamMs: number;
  readonly resumeWindowMs: number;
}

/** The parts of an endpoint that its sessions share. */
export interface StreamHost extends Witnessed {
  readonly heartbeat: Heartbeat;
  readonly server: ServerPort;
  /** Ends the session on this node if the engine has lost it. */
  checkSession(connection: Connection): void;
  readonly settings: StreamTimes & {
    readonly retryMs: number;
    readonly limits: { readonly keepMs: number; readonly idleMs: number; readonly maxStreamBytes: number };
  };
}
