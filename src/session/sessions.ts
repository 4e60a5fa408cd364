// The sessions that this process serves: a copy of the store for the hot path, with an end to idleness and to number.
import type { Principal } from "../protocol/model.ts";
import { isSamePrincipal, principalKey } from "../protocol/principal.ts";
import type { SessionRecord, SessionStore } from "./store.ts";

/** What a process holds of a session while it serves it. */
export interface LiveSession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Whether a stream is open or a call is running, so that it is not idle. */
  readonly busy: boolean;
  record(): SessionRecord;
  /** It has ended, or is served elsewhere from now on. */
  close(reason: SessionEnd): void;
}

/** Why this process no longer serves a session. */
type SessionEnd = "deleted" | "idle" | "evicted" | "shutdown";

export interface SessionLimits {
  /** How many sessions this process serves at most; past it, the one idle for longest ends. */
  readonly maxSessions: number;
  /** How many of them one principal may have; past it, its own that is idle for longest ends. */
  readonly maxSessionsPerPrincipal: number;
  /** How long a session may be idle, in milliseconds. */
  readonly idleMs: number;
}

/** A session, when it was last used, and when the store was last told that it is in use. */
interface Held<Live> {
  readonly session: Live;
  seenAt: number;
  touchedAt: number;
  /** The number of its last use, among those of all sessions: times in milliseconds are often the same. */
  use: number;
}

export class Sessions<Live extends LiveSession> {
  readonly #store: SessionStore;
  readonly #limits: SessionLimits;
  readonly #revive: (record: SessionRecord) => Live;
  /** Least recently used first. */
  readonly #live = new Map<string, Held<Live>>();
  /** Those of each principal, by its key. */
  readonly #owned = new Map<string, Set<Held<Live>>>();
  #uses = 0;

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

  /** Takes a new session in. False when there is no room: every session is busy. */
  async add(session: Live): Promise<boolean> {
    const ending = this.#pushedOutBy(session.principal);
    if (ending === "nobody") return false;
    // Takes its place before anything is waited for: others may be coming in at the same time.
    this.#hold(session);
    if (ending !== undefined) await this.end(ending, "evicted");
    await this.#store.save(session.record(), this.#limits.idleMs);
    return true;
  }

  /** What is known of the session has changed. */
  async save(session: Live): Promise<void> {
    if (this.#live.has(session.id)) await this.#store.save(session.record(), this.#limits.idleMs);
  }

  /** The session with this id, if it is the principal's own; anybody else's does not exist. At once, if it is served here. */
  find(id: string, principal: Principal | undefined): Live | undefined | Promise<Live | undefined> {
    const held = this.#live.get(id);
    if (held !== undefined) return this.#use(held, principal);
    return this.#load(id, principal).then((loaded) => loaded && this.#use(loaded, principal));
  }

  /** The session with this id, if it is served here, whoever asks. */
  peek(id: string): Live | undefined {
    return this.#live.get(id)?.session;
  }

  #use(held: Held<Live>, principal: Principal | undefined): Live | undefined {
    const { session } = held;
    if (!isSamePrincipal(session.principal, principal)) return undefined;
    held.seenAt = Date.now();
    held.use = ++this.#uses;
    this.#live.delete(session.id);
    this.#live.set(session.id, held);
    return session;
  }

  async end(session: Live, reason: SessionEnd): Promise<void> {
    this.#letGo(session, reason);
    await this.#store.remove(session.id);
  }

  /** Lets go of what has been idle for too long, and tells the store what has not. */
  async sweep(now: number): Promise<void> {
    const { idleMs } = this.#limits;
    const touched: string[] = [];
    for (const held of this.#live.values()) {
      // A session that is busy for long need not be mentioned every time.
      if (held.session.busy && now - held.seenAt > idleMs / 4) held.seenAt = now;
      if (now - held.seenAt > idleMs) this.#letGo(held.session, "idle");
      else if (held.seenAt > held.touchedAt) touched.push(held.session.id);
      held.touchedAt = held.seenAt;
    }
    if (touched.length > 0) await this.#store.touch(touched, idleMs);
  }

  /** The process stops: its sessions are not ended, for another process may go on with them. */
  closeAll(): void {
    for (const session of this.values()) session.close("shutdown");
    this.#live.clear();
    this.#owned.clear();
  }

  /** Goes on with a session of the store. One that exists is served even where every other session is busy. */
  async #load(id: string, principal: Principal | undefined): Promise<Held<Live> | undefined> {
    const record = await this.#store.load(id);
    // Another request may have brought it in meanwhile.
    const held = this.#live.get(id);
    if (held !== undefined || record === undefined) return held;
    if (!isSamePrincipal(record.principal, principal)) return undefined;
    const ending = this.#pushedOutBy(record.principal);
    const revived = this.#hold(this.#revive(record));
    if (ending !== undefined && ending !== "nobody") await this.end(ending, "evicted");
    return revived;
  }

  #hold(session: Live): Held<Live> {
    const now = Date.now();
    const held = { session, seenAt: now, touchedAt: now, use: ++this.#uses };
    this.#live.set(session.id, held);
    const key = session.principal && principalKey(session.principal);
    if (key !== undefined) this.#owned.set(key, (this.#owned.get(key) ?? new Set()).add(held));
    return held;
  }

  /** The store forgets it by itself: it is not for one process to say that no other serves it. */
  #letGo(session: Live, reason: SessionEnd): void {
    const held = this.#live.get(session.id);
    const key = session.principal && principalKey(session.principal);
    const owned = key === undefined ? undefined : this.#owned.get(key);
    if (held !== undefined) owned?.delete(held);
    if (key !== undefined && owned?.size === 0) this.#owned.delete(key);
    this.#live.delete(session.id);
    session.close(reason);
  }

  /** Which session ends for one more of this principal; nobody's, if all that could are busy. Undefined while there is room. */
  #pushedOutBy(principal: Principal | undefined): Live | "nobody" | undefined {
    const { maxSessions, maxSessionsPerPrincipal } = this.#limits;
    const owned = principal && this.#owned.get(principalKey(principal));
    if (owned !== undefined && owned.size >= maxSessionsPerPrincipal) return longestIdle(owned) ?? "nobody";
    if (this.#live.size < maxSessions) return undefined;
    for (const { session } of this.#live.values()) if (!session.busy) return session;
    return "nobody";
  }
}

function longestIdle<Live extends LiveSession>(sessions: Iterable<Held<Live>>): Live | undefined {
  let longest: Held<Live> | undefined;
  for (const held of sessions) {
    const isIdler = longest === undefined || held.use < longest.use;
    if (isIdler && !held.session.busy) longest = held;
  }
  return longest?.session;
}
