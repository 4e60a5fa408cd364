// The states of a client, as its user sees them.

/** The state of a client: in `ready`, calls go straight to the server. */
export type StateName = "connecting" | "ready" | "reconnecting" | "needs-auth" | "closed";

/** The state of a client, and the reason for it. */
export interface ClientState {
  readonly name: StateName;
  /** Why the client is in this state, for a person to read. */
  readonly reason: string;
  /** The address that a person must visit to sign in, while the client waits for it in `needs-auth`. */
  readonly url?: string;
  /** The error that led to this state. */
  readonly error?: unknown;
}
