// The sessions that this process serves: a copy of the store for the hot path, with an end to idleness and to number.
import { Holdings } from "../limits/holdings.ts";
import type { Principal } from "../protocol/model.ts";
import { isSamePrincipal } from "../protocol/principal.ts";
import { randomId } from "../protocol/random-id.ts";
import type { SessionRecord, SessionStore } from "./store.ts";

/** What a process holds of a session while it serves it. */
export interface LiveSession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** Who it is counted for. */
  readonly caller: string;
  /** Whether a stream is open or a call is running, so that it is not idle. */
  readonly busy: boolean;
  /** Whether its client is there: it reads a stream, or waits for the answer to a call. */
  readonly connected: boolean;
  record(): SessionRecord;
  /** It has ended, or is served elsewhere from now on. */
  close(reason: SessionEnd): void;
}

/** Why this process no longer serves a session. */
type SessionEnd = "deleted" | "idle" | "evicted" | "shutdown";

export interface SessionLimits {
  /** How many sessions this process serves at most; past it, one ends of the caller who has the most. @default {10000} */
  readonly maxSessions: number;
  /** How many of them one principal may have; past it, one of its own ends. @default {1000} */
  readonly maxSessionsPerPrincipal: number;
  /** How long a session may be idle, in milliseconds. @default {1800000} */
  readonly idleMs: number;
}

export const defaultSessionLimits: SessionLimits = {
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1000,
  idleMs: 30 * 60_000,
};

/** Makes a session of a record, for whoever asks for it. */
export type Revive<Live> = (record: SessionRecord, caller: string) => Live;

/** A session, when it was last used, and what the store knows of it. */
interface Held<Live> {
  readonly session: Live;
  seenAt: number;
  touchedAt: number;
  /** A change that the store could not keep. */
  isUnsaved: boolean;
}

/** A new session id, of 256 random bits: nobody can guess one. */
export function mintSessionId(): string {
  return randomId(32);
}

export class Sessions<Live extends LiveSession> {
  readonly #store: SessionStore;
  readonly #limits: SessionLimits;
  readonly #revive: Revive<Live>;
  /** Least recently used first. */
  readonly #live = new Map<string, Held<Live>>();
  /** The same, by caller. */
  readonly #held: Holdings<Live>;
  /** Ended here, and not known to the store to have ended: not to be loaded again. */
  readonly #ended = new Set<string>();
  #isTelling = false;

  constructor(store: SessionStore, limits: SessionLimits, revive: Revive<Live>) {
    this.#store = store;
    this.#limits = limits;
    this.#revive = revive;
    this.#held = new Holdings(limits.maxSessions);
  }

  get size(): number {
    return this.#live.size;
  }

  /** Whether there is something to look after. */
  get needsSweeping(): boolean {
    return this.#live.size > 0 || this.#ended.size > 0;
  }

  values(): Live[] {
    return [...this.#live.values()].map(({ session }) => session);
  }

  /** Takes a new session in, once the store has it. False when there is no room. */
  async add(session: Live): Promise<boolean> {
    if (this.#pushedOutBy(session) === "nobody") return false;
    await this.#store.save(session.record(), this.#limits.idleMs);
    // Nothing is waited for between the choice and the change: others may be coming in at the same time.
    const ending = this.#pushedOutBy(session);
    if (ending === "nobody") {
      this.#forget(session.id);
      return false;
    }
    this.#hold(session);
    if (ending !== undefined) this.#pushOut(ending);
    return true;
  }

  /** What is known of the session has changed. Where the store fails the change holds here, and is told later. */
  async save(session: Live): Promise<void> {
    const held = this.#live.get(session.id);
    if (held !== undefined) await this.#save(held).catch(() => {});
  }

  /**
   * The session with this id, if it is the principal's own; anybody else's does not exist. At once, if it is served here.
   * `caller` is who it is counted for when it is loaded. Rejects when the store is needed and fails.
   */
  find(
    id: string,
    principal: Principal | undefined,
    caller: string,
  ): Live | undefined | Promise<Live | undefined> {
    const held = this.#live.get(id);
    if (held !== undefined) return this.#use(held, principal);
    return this.#load(id, principal, caller).then((loaded) => loaded && this.#use(loaded, principal));
  }

  /** The session with this id, if it is served here, whoever asks. */
  peek(id: string): Live | undefined {
    return this.#live.get(id)?.session;
  }

  /** Ends it here at once. Rejects when the store could not be told: it is told later, and until then nobody gets it here. */
  async end(session: Live, reason: SessionEnd): Promise<void> {
    this.#letGo(session, reason);
    await this.#remove(session.id);
  }

  /** Lets go of what has been idle for too long, and tells the store what has not, and what it could not be told before. */
  sweep(now: number): void {
    const { idleMs } = this.#limits;
    for (const held of this.#live.values()) {
      // A session that is busy for long need not be mentioned every time.
      if (held.session.busy && now - held.seenAt > idleMs / 4) held.seenAt = now;
      if (now - held.seenAt > idleMs) this.#letGo(held.session, "idle");
    }
    if (this.#live.size >= this.#limits.maxSessions) this.#putConnectedLast();
    if (this.#isTelling) return;
    this.#isTelling = true;
    const isDone = (): void => void (this.#isTelling = false);
    // What could not be told is told the next time.
    this.#tell().then(isDone, isDone);
  }

  /** The process stops: its sessions are not ended, for another process may go on with them. */
  closeAll(): void {
    for (const { session } of this.#live.values()) this.#letGo(session, "shutdown");
  }

  /** Where one has to go for each that comes, those that may are found in front. */
  #putConnectedLast(): void {
    // First found, then moved: what is put last would be found again.
    const connected = [...this.#live.values()].filter(({ session }) => session.connected);
    for (const held of connected) this.#putLast(held);
  }

  /** One thing after the other, until one fails: a store that is just coming back is not overrun. */
  async #tell(): Promise<void> {
    for (const id of this.#ended) await this.#remove(id);
    const used: (readonly [Held<Live>, number])[] = [];
    for (const held of this.#live.values()) {
      if (held.isUnsaved) await this.#save(held);
      if (held.seenAt > held.touchedAt) used.push([held, held.seenAt]);
    }
    if (used.length === 0) return;
    const ids = used.map(([{ session }]) => session.id);
    await this.#store.touch(ids, this.#limits.idleMs);
    for (const [held, seenAt] of used) held.touchedAt = seenAt;
  }

  async #save(held: Held<Live>): Promise<void> {
    held.isUnsaved = true;
    await this.#store.save(held.session.record(), this.#limits.idleMs);
    held.isUnsaved = false;
  }

  async #remove(id: string): Promise<void> {
    this.#ended.add(id);
    await this.#store.remove(id);
    this.#ended.delete(id);
  }

  /** Has the store forget it; when it cannot be told now, later. */
  #forget(id: string): void {
    this.#remove(id).catch(() => {});
    // The store itself forgets what nobody mentions.
    for (const oldest of this.#ended) {
      if (this.#ended.size <= this.#limits.maxSessions) break;
      this.#ended.delete(oldest);
    }
  }

  #pushOut(session: Live): void {
    this.#letGo(session, "evicted");
    this.#forget(session.id);
  }

  #use(held: Held<Live>, principal: Principal | undefined): Live | undefined {
    const { session } = held;
    if (!isSamePrincipal(session.principal, principal)) return undefined;
    held.seenAt = performance.now();
    this.#putLast(held);
    return session;
  }

  #putLast(held: Held<Live>): void {
    const { session } = held;
    this.#live.delete(session.id);
    this.#live.set(session.id, held);
    this.#held.add(session.caller, session, 0);
  }

  /** Goes on with a session of the store. One that exists is served even where there is no room for a new one. */
  async #load(id: string, principal: Principal | undefined, caller: string): Promise<Held<Live> | undefined> {
    if (this.#ended.has(id)) return void (await this.#remove(id));
    const record = await this.#store.load(id);
    // Another request may have brought it in, or ended it, meanwhile.
    const held = this.#live.get(id);
    if (held !== undefined || record === undefined || this.#ended.has(id)) return held;
    if (!isSamePrincipal(record.principal, principal)) return undefined;
    const session = this.#revive(record, caller);
    const ending = this.#pushedOutBy(session);
    const revived = this.#hold(session);
    if (ending !== undefined && ending !== "nobody") this.#pushOut(ending);
    return revived;
  }

  #hold(session: Live): Held<Live> {
    const now = performance.now();
    const held = { session, seenAt: now, touchedAt: now, isUnsaved: false };
    this.#live.set(session.id, held);
    this.#held.add(session.caller, session);
    return held;
  }

  /** The store forgets it by itself: it is not for one process to say that no other serves it. */
  #letGo(session: Live, reason: SessionEnd): void {
    if (this.#live.delete(session.id)) this.#held.delete(session.caller, session);
    session.close(reason);
  }

  /**
   * Which session ends for one more of this caller: one that is idle, or whose client has gone, of the caller who has the most,
   * else of any who has no less than the newcomer; else one that is in use, of a caller who has more. The longest unused goes
   * first. Nobody's where there is none; undefined while there is room.
   */
  #pushedOutBy({ caller, principal }: Live): Live | "nobody" | undefined {
    const { maxSessions, maxSessionsPerPrincipal } = this.#limits;
    const { shares } = this.#held;
    const own = shares.of(caller);
    if (principal !== undefined && own >= maxSessionsPerPrincipal) {
      return leaving(this.#held.of(caller), own) ?? "nobody";
    }
    if (this.#live.size < maxSessions) return undefined;
    const greediest = this.#held.oldestBefore(caller);
    const ofGreediest = greediest && leaving(this.#held.of(greediest.caller), maxLookedAt);
    if (ofGreediest !== undefined) return ofGreediest;
    const others = leaving(this.#ofAtLeast(own), maxLookedAt);
    return others ?? greediest ?? leaving(this.#held.of(caller), maxLookedAt) ?? "nobody";
  }

  /** The sessions of callers who have so many, least recently used first. */
  *#ofAtLeast(count: number): Iterable<Live> {
    let lookedAt = 0;
    for (const { session } of this.#live.values()) {
      if (this.#held.shares.of(session.caller) >= count) yield session;
      if (++lookedAt === maxLookedAt) return;
    }
  }
}

/** How many sessions are looked at to find one that may end: those in use have been put behind the others. */
const maxLookedAt = 200;

/** The first that is idle, else the first whose client has gone. */
function leaving<Live extends LiveSession>(sessions: Iterable<Live>, maxLooked: number): Live | undefined {
  let left: Live | undefined;
  let lookedAt = 0;
  for (const session of sessions) {
    if (!session.busy) return session;
    if (left === undefined && !session.connected) left = session;
    if (++lookedAt === maxLooked) break;
  }
  return left;
}
