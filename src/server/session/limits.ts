// The limits of sessions over HTTP, and how long the data of a session is kept.
export interface SessionLimits {
  /**
   * Sessions that this process may hold. Past it, one of the caller that has the most ends, or the new session gets 503; with
   * a backplane, that session only leaves this process, and any node continues it. @default {10000}
   */
  readonly maxSessions: number;
  /**
   * Sessions that one principal may have, in all processes of a backplane. Past it, one of its own that is idle or
   * disconnected ends; if all are connected, the new session gets 503, or with a backplane the oldest ends. @default {1000}
   */
  readonly maxSessionsPerPrincipal: number;
  /**
   * Sessions in all processes of a backplane, roughly. Past it, a new session gets 503 if its caller would then have more than
   * remains for all others. @default {100000}
   */
  readonly maxSharedSessions: number;
  /**
   * Milliseconds that a session may be idle; an open stream keeps it. After it, the session ends and requests with its id get
   * 404; with a backplane, after up to half as long again. @default {1800000}
   */
  readonly idleMs: number;
}

export const defaultSessionLimits: SessionLimits = {
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1000,
  maxSharedSessions: 100_000,
  idleMs: 30 * 60_000,
};

/** How much longer than `idleMs` an engine keeps the record of a session: the time between two touches of one in use. */
export const keptPerIdle = 1.25;

/** Milliseconds that an engine keeps the log of a session: as long as its record, since messages wait there for its client. */
export function logKeptMs({ keepMs, idleMs }: { readonly keepMs: number; readonly idleMs: number }): number {
  return Math.max(keepMs, idleMs * keptPerIdle);
}
