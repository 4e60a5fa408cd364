// The sessions that this process holds, so that most requests need no store; ends idle ones, and limits their number.
import { evictedFor, Holdings } from "../limits/holdings.ts";
import type { Principal } from "../protocol/model.ts";
import { isSamePrincipal } from "../protocol/principal.ts";
import { randomId } from "../protocol/random-id.ts";
import type { SessionRecord, SessionStore } from "./store.ts";

/** A session that this process holds. */
export interface LiveSession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** The key that limits count it for. */
  readonly caller: string;
  /** Whether a stream is open or a call is running. */
  readonly busy: boolean;
  /** Whether its client is connected: to a stream, or waiting for the response to a call. */
  readonly connected: boolean;
  record(): SessionRecord;
  /** Closes its streams here. Another process may continue the session, unless the reason is `deleted`. */
  close(reason: SessionEnd): void;
}

/** Why this process no longer holds a session. */
type SessionEnd = "deleted" | "idle" | "evicted" | "shutdown";

export interface SessionLimits {
  /** Sessions that this process may hold; one more ends a session of the caller that has the most. @default {10000} */
  readonly maxSessions: number;
  /** Sessions that one principal may have; one more ends one of its own. @default {1000} */
  readonly maxSessionsPerPrincipal: number;
  /** Milliseconds after which an idle session expires. @default {1800000} */
  readonly idleMs: number;
}

export const defaultSessionLimits: SessionLimits = {
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1000,
  idleMs: 30 * 60_000,
};

/** Restores a session from its record; it counts for `caller`. */
export type Revive<Live> = (record: SessionRecord, caller: string) => Live;

/** A session, and when it was last used and touched in the store. */
interface Held<Live> {
  readonly session: Live;
  seenAt: number;
  touchedAt: number;
  /** Whether a change is not saved yet. */
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
  /** The same sessions, by caller. */
  readonly #held: Holdings<Live>;
  /** Ids of ended sessions that the store has not removed yet: they must not be loaded again. */
  readonly #ended = new Set<string>();
  #isUpdating = false;

  constructor(store: SessionStore, limits: SessionLimits, revive: Revive<Live>) {
    this.#store = store;
    this.#limits = limits;
    this.#revive = revive;
    this.#held = new Holdings(limits.maxSessions);
  }

  get size(): number {
    return this.#live.size;
  }

  /** Whether {@link sweep} has anything to do. */
  get needsSweeping(): boolean {
    return this.#live.size > 0 || this.#ended.size > 0;
  }

  values(): Live[] {
    return [...this.#live.values()].map(({ session }) => session);
  }

  /** Adds a new session after saving it. Returns false if there is no room. */
  async add(session: Live): Promise<boolean> {
    if (this.#pushedOutBy(session) === "nobody") return false;
    await this.#store.save(session.record(), this.#limits.idleMs);
    // Chosen again after the await, since other sessions may have been added meanwhile.
    const ending = this.#pushedOutBy(session);
    if (ending === "nobody") {
      this.#forget(session.id);
      return false;
    }
    this.#hold(session);
    if (ending !== undefined) this.#pushOut(ending);
    return true;
  }

  /** Saves a changed session. If the store fails, the change applies here, and {@link sweep} saves it later. */
  async save(session: Live): Promise<void> {
    const held = this.#live.get(session.id);
    if (held !== undefined) await this.#save(held).catch(() => {});
  }

  /**
   * Finds a session of the principal: synchronously if this process holds it, else in the store, and then it counts for `caller`.
   * A session of another principal is not found. Rejects if the store fails.
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

  /** The session with this id if this process holds it, whoever its principal is. */
  peek(id: string): Live | undefined {
    return this.#live.get(id)?.session;
  }

  /** Ends a session. Rejects if the store fails; {@link sweep} then removes it later, and until then it is not found here. */
  async end(session: Live, reason: SessionEnd): Promise<void> {
    this.#drop(session, reason);
    await this.#remove(session.id);
  }

  /** Drops expired sessions, touches used ones in the store, and retries what the store failed to save or remove. */
  sweep(now: number): void {
    const { idleMs } = this.#limits;
    for (const held of this.#live.values()) {
      // Touching a busy session four times per `idleMs` is enough.
      if (held.session.busy && now - held.seenAt > idleMs / 4) held.seenAt = now;
      if (now - held.seenAt > idleMs) this.#drop(held.session, "idle");
    }
    if (this.#live.size >= this.#limits.maxSessions) this.#putConnectedLast();
    if (this.#isUpdating) return;
    this.#isUpdating = true;
    const isDone = (): void => void (this.#isUpdating = false);
    // A failure is retried in the next sweep.
    this.#updateStore().then(isDone, isDone);
  }

  /** Closes every session because the process stops; another process may continue them. */
  closeAll(): void {
    for (const { session } of this.#live.values()) this.#drop(session, "shutdown");
  }

  /** While the limit is reached, keeps the sessions that may be evicted in front, where they are found first. */
  #putConnectedLast(): void {
    // A copy, since `#putLast` moves entries to the end of what is iterated.
    const connected = [...this.#live.values()].filter(({ session }) => session.connected);
    for (const held of connected) this.#putLast(held);
  }

  /** Updates the store step by step until one fails, so that a recovering store is not overloaded. */
  async #updateStore(): Promise<void> {
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

  /** Removes a session from the store, now or in a later sweep. */
  #forget(id: string): void {
    this.#remove(id).catch(() => {});
    // The store drops untouched sessions itself, so this list needs a bound only.
    for (const oldest of this.#ended) {
      if (this.#ended.size <= this.#limits.maxSessions) break;
      this.#ended.delete(oldest);
    }
  }

  #pushOut(session: Live): void {
    this.#drop(session, "evicted");
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

  /** Restores a session from the store, even if there is no room for a new one. */
  async #load(id: string, principal: Principal | undefined, caller: string): Promise<Held<Live> | undefined> {
    if (this.#ended.has(id)) return void (await this.#remove(id));
    const record = await this.#store.load(id);
    // Another request may have restored or ended it meanwhile.
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

  /** Leaves the record to expire in the store, since another process may use it. */
  #drop(session: Live, reason: SessionEnd): void {
    if (this.#live.delete(session.id)) this.#held.delete(session.caller, session);
    session.close(reason);
  }

  /**
   * Chooses the session to end for a new one of this caller; undefined while there is room, `nobody` if none may end. It prefers a
   * session that is idle or whose client has disconnected: of the caller that has the most, else of any that has at least as many
   * as the new caller. Else it is a busy session of a caller that has more. The least recently used comes first.
   */
  #pushedOutBy({ caller, principal }: Live): Live | "nobody" | undefined {
    const { maxSessions, maxSessionsPerPrincipal } = this.#limits;
    const { shares } = this.#held;
    const own = shares.of(caller);
    if (principal !== undefined && own >= maxSessionsPerPrincipal) {
      return leaving(this.#held.of(caller), own) ?? "nobody";
    }
    if (this.#live.size < maxSessions) return undefined;
    const greediest = evictedFor(this.#held, caller);
    const ofGreediest = greediest && leaving(this.#held.of(greediest.caller), maxLookedAt);
    if (ofGreediest !== undefined) return ofGreediest;
    const others = leaving(this.#ofAtLeast(own), maxLookedAt);
    return others ?? greediest ?? leaving(this.#held.of(caller), maxLookedAt) ?? "nobody";
  }

  /** The sessions of callers that have at least `count`, least recently used first. */
  *#ofAtLeast(count: number): Iterable<Live> {
    let lookedAt = 0;
    for (const { session } of this.#live.values()) {
      if (this.#held.shares.of(session.caller) >= count) yield session;
      if (++lookedAt === maxLookedAt) return;
    }
  }
}

/** How many sessions are searched for one that may end; `sweep` puts connected ones last. */
const maxLookedAt = 200;

/** The first idle session, else the first whose client has disconnected. */
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
