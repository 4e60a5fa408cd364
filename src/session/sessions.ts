// The sessions that this process serves: a copy of the store for the hot path, with an end to idleness and to number.
import type { Principal } from "../protocol/model.ts";
import type { SessionRecord, SessionStore } from "./store.ts";

/** What a process holds of a session while it serves it. */
export interface LiveSession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Whether a stream is open, so that it is not idle. */
  readonly busy: boolean;
  record(): SessionRecord;
  /** It has ended, or is served elsewhere from now on. */
  close(): void;
}

export interface SessionLimits {
  /** How many sessions this process serves at most; past it, the one idle for longest ends. */
  readonly maxSessions: number;
  /** How long a session may be idle, in milliseconds. */
  readonly idleMs: number;
}

export class Sessions<Live extends LiveSession> {
  readonly #store: SessionStore;
  readonly #limits: SessionLimits;
  readonly #revive: (record: SessionRecord) => Live;
  /** Least recently used first. */
  readonly #live = new Map<string, { readonly session: Live; seenAt: number }>();
  readonly #touched = new Set<string>();

  constructor(store: SessionStore, limits: SessionLimits, revive: (record: SessionRecord) => Live) {
    this.#store = store;
    this.#limits = limits;
    this.#revive = revive;
  }

  get size(): number {
    return this.#live.size;
  }

  values(): Live[] {
    return [...this.#live.values()].map(({ session }) => session);
  }

  /** Takes a new session in. False when there is no room: every session has a stream open. */
  async add(session: Live): Promise<boolean> {
    if (this.#live.size >= this.#limits.maxSessions && !(await this.#endLongestIdle())) return false;
    this.#live.set(session.id, { session, seenAt: Date.now() });
    await this.#store.save(session.record(), this.#limits.idleMs);
    return true;
  }

  /** What is known of the session has changed. */
  async save(session: Live): Promise<void> {
    if (this.#live.has(session.id)) await this.#store.save(session.record(), this.#limits.idleMs);
  }

  /** The session with this id, if it is the principal's own; anybody else's does not exist. */
  async find(id: string, principal: Principal | undefined): Promise<Live | undefined> {
    const held = this.#live.get(id);
    const session = held?.session ?? (await this.#load(id));
    if (session === undefined || !isSamePrincipal(session.principal, principal)) return undefined;
    this.#live.delete(id);
    this.#live.set(id, { session, seenAt: Date.now() });
    this.#touched.add(id);
    return session;
  }

  async end(session: Live): Promise<void> {
    this.#live.delete(session.id);
    session.close();
    await this.#store.remove(session.id);
  }

  /** Ends what has been idle for too long, and tells the store what has not. */
  async sweep(now: number): Promise<void> {
    const touched = [...this.#touched];
    this.#touched.clear();
    if (touched.length > 0) await this.#store.touch(touched, this.#limits.idleMs);
    for (const held of this.#live.values()) {
      if (held.session.busy) held.seenAt = now;
      else if (now - held.seenAt > this.#limits.idleMs) await this.end(held.session);
    }
  }

  /** The process stops: its sessions are not ended, for another process may go on with them. */
  closeAll(): void {
    for (const session of this.values()) session.close();
    this.#live.clear();
  }

  async #load(id: string): Promise<Live | undefined> {
    const record = await this.#store.load(id);
    // Another request may have brought it in meanwhile.
    const held = this.#live.get(id);
    if (held !== undefined || record === undefined) return held?.session;
    return this.#revive(record);
  }

  async #endLongestIdle(): Promise<boolean> {
    for (const { session } of this.#live.values()) {
      if (session.busy) continue;
      await this.end(session);
      return true;
    }
    return false;
  }
}

function isSamePrincipal(one: Principal | undefined, other: Principal | undefined): boolean {
  return one?.issuer === other?.issuer && one?.subject === other?.subject;
}
