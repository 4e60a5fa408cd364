// The parts of an endpoint that streams need.
import type { StreamEvent } from "../../../server/diagnostics/events.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { ServerPort } from "../../../server/calls/port.ts";
import type { Heartbeat } from "../edge/heartbeat.ts";

/** Receives the stream events of an endpoint, and counts its streams. */
export interface StreamEvents {
  readonly server: { readonly observe: ((event: StreamEvent) => void) | undefined };
  /** The event streams that have a connection. */
  openStreams: number;
}

/** The times of a stream. */
export interface StreamTimes {
  readonly keepAliveMs: number;
  readonly maxStreamMs: number;
  readonly resumeWindowMs: number;
}

/** The parts of an endpoint that its sessions share. */
export interface StreamHost extends StreamEvents {
  readonly heartbeat: Heartbeat;
  readonly server: ServerPort;
  /** Ends the session on this node if the engine has lost it. */
  checkSession(connection: Connection): void;
  readonly settings: StreamTimes & {
    readonly retryMs: number;
    readonly limits: { readonly keepMs: number; readonly idleMs: number; readonly maxStreamBytes: number };
  };
}
