// What the HTTP transport needs of its sessions, and the sessions of a server that runs in one process.
import type { Principal } from "../protocol/model.ts";
import { randomId } from "../protocol/random-id.ts";
import { Copies, type Copy, type LiveSession } from "./copies.ts";

/** Why this process no longer holds a session. */
export type SessionEnd = "deleted" | "idle" | "evicted" | "shutdown";

/** A session that this process can close. */
export interface ClosableSession extends LiveSession {
  /** Closes its streams here and cancels its calls. With a reason, the author's `onSessionClosed` is called. */
  close(reason?: SessionEnd): void;
}

export interface SessionLimits {
  /**
   * Sessions that this process may hold; one more ends a session of the caller that has the most. With a backplane, that session
   * only leaves this process, and any node continues it. @default {10000}
   */
  readonly maxSessions: number;
  /** Sessions that one principal may have, in all processes of a backplane; one more ends one of its own. @default {1000} */
  readonly maxSessionsPerPrincipal: number;
  /**
   * Sessions in all processes of a backplane, roughly. Further ones are refused, and so is one of a caller that would then have more
   * than remains for all others. @default {100000}
   */
  readonly maxSharedSessions: number;
  /** Milliseconds after which an idle session expires; with a backplane, after up to half as long again. @default {1800000} */
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

/** A new session id, of 256 random bits: nobody can guess one. */
export function mintSessionId(): string {
  return randomId(32);
}

/** The sessions of an endpoint. What may need another process returns a promise, which rejects if that fails. */
export interface Sessions<Live> {
  /** How many this process holds. */
  readonly size: number;
  /** Those that this process holds, with the time when each was last used here. */
  readonly copies: Iterable<Copy<Live>>;
  /** Whether {@link Sessions.sweep} has anything to do. */
  readonly needsSweeping: boolean;
  values(): Live[];
  /** The session with this id if this process holds it, whoever its principal is. */
  peek(id: string): Live | undefined;
  /** Adds a new session. Resolves with false if there is no room. */
  add(session: Live): Promise<boolean>;
  /** Finds a session of the principal: synchronously if this process may serve it as it is. It counts for `caller`. */
  find(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Live | undefined | Promise<Live | undefined>;
  /** Finds a session as it is now in all processes. */
  refresh(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Live | undefined | Promise<Live | undefined>;
  /** Saves what has changed, if other processes need it. Resolves with false if the session has ended meanwhile. */
  save(session: Live): Promise<boolean>;
  /** Ends a session in all processes. */
  end(session: Live, reason: SessionEnd): Promise<void>;
  /** Ends idle sessions. Call it about once a second. */
  sweep(now: number): void;
  /** Closes every session here because the process stops. */
  close(): Promise<void>;
}

/** The sessions of one process, in memory. */
export class LocalSessions<Live extends ClosableSession> implements Sessions<Live> {
  readonly #idleMs: number;
  readonly copies: Copies<Live>;

  constructor(limits: SessionLimits) {
    this.#idleMs = limits.idleMs;
    this.copies = new Copies(limits);
  }

  get size(): number {
    return this.copies.size;
  }

  get needsSweeping(): boolean {
    return this.copies.size > 0;
  }

  values(): Live[] {
    return this.copies.sessions();
  }

  peek(id: string): Live | undefined {
    return this.copies.get(id)?.session;
  }

  async add(session: Live): Promise<boolean> {
    const displaced = this.copies.displacedBy(session);
    if (displaced === "nobody") return false;
    this.copies.add({ session, seenAt: performance.now() });
    if (displaced !== undefined) this.#drop(displaced, "evicted");
    return true;
  }

  find(id: string, principal: Principal | undefined): Live | undefined {
    const copy = this.copies.get(id);
    return copy && this.copies.use(copy, principal);
  }

  refresh(id: string, principal: Principal | undefined): Live | undefined {
    return this.find(id, principal);
  }

  async save(session: Live): Promise<boolean> {
    return this.copies.get(session.id) !== undefined;
  }

  async end(session: Live, reason: SessionEnd): Promise<void> {
    this.#drop(session, reason);
  }

  sweep(now: number): void {
    this.copies.useBusy(now, this.#idleMs);
    for (const { session, seenAt } of this.copies) {
      if (now - seenAt > this.#idleMs) this.#drop(session, "idle");
    }
  }

  async close(): Promise<void> {
    for (const { session } of this.copies) this.#drop(session, "shutdown");
  }

  #drop(session: Live, reason: SessionEnd): void {
    this.copies.delete(session);
    session.close(reason);
  }
}
