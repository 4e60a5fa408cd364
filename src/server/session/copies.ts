// The sessions of this process, least recently used first, and the choice of the one that leaves when there are too many.
import { evictedFor, Holdings } from "../../base/limits/holdings.ts";
import type { Principal } from "../../protocol/model.ts";
import { isSamePrincipal } from "../../protocol/principal.ts";
import type { LiveSession } from "./live-session.ts";

/** A session, and when it was last used here. */
export interface Copy<Live> {
  readonly session: Live;
  seenAt: number;
}

export interface CopyLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerPrincipal: number;
}

export class Copies<Live extends LiveSession, Kept extends Copy<Live> = Copy<Live>> {
  readonly #limits: CopyLimits;
  /** Least recently used first. */
  readonly #copies = new Map<string, Kept>();
  /** The same sessions, by caller. */
  readonly #held: Holdings<Live>;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
    this.#held = new Holdings(limits.maxSessions);
  }

  get size(): number {
    return this.#copies.size;
  }

  [Symbol.iterator](): Iterator<Kept> {
    return this.#copies.values();
  }

  sessions(): Live[] {
    return [...this.#copies.values()].map(({ session }) => session);
  }

  get(id: string): Kept | undefined {
    return this.#copies.get(id);
  }

  add(copy: Kept): void {
    const { session } = copy;
    this.#copies.set(session.id, copy);
    this.#held.add(session.caller, session);
  }

  /** Forgets a session. Returns false if it was not held. */
  delete(session: Live): boolean {
    if (!this.#copies.delete(session.id)) return false;
    this.#held.delete(session.caller, session);
    return true;
  }

  /** The session, which is used now, if it belongs to the principal. */
  use(copy: Kept, principal: Principal | undefined): Live | undefined {
    const { session } = copy;
    if (!isSamePrincipal(session.principal, principal)) return undefined;
    copy.seenAt = performance.now();
    this.#putLast(copy);
    return session;
  }

  /** Notes that busy sessions are used. Four times in `idleMs` are enough. */
  useBusy(now: number, idleMs: number): void {
    for (const copy of this.#copies.values()) {
      if (copy.session.busy && now - copy.seenAt > idleMs / 4) copy.seenAt = now;
    }
    if (this.#copies.size >= this.#limits.maxSessions) this.#putConnectedLast();
  }

  /**
   * Chooses the session that leaves for a new one; undefined while there is room, `none` if none may leave. It prefers a session
   * that is idle or whose client has disconnected: of the caller with the most sessions, else of any with at least as many as the
   * new caller. Otherwise it is a busy session of a caller with more. The least recently used comes first.
   */
  displacedBy({ caller, principal }: Live): Live | "none" | undefined {
    const { maxSessions, maxSessionsPerPrincipal } = this.#limits;
    const own = this.#held.shares.of(caller);
    if (principal !== undefined && own >= maxSessionsPerPrincipal) {
      return leaving(this.#held.of(caller), own) ?? "none";
    }
    if (this.#copies.size < maxSessions) return undefined;
    const greediest = evictedFor(this.#held, caller);
    const ofGreediest = greediest && leaving(this.#held.of(greediest.caller), maxLookedAt);
    if (ofGreediest !== undefined) return ofGreediest;
    const others = leaving(this.#ofAtLeast(own), maxLookedAt);
    return others ?? greediest ?? leaving(this.#held.of(caller), maxLookedAt) ?? "none";
  }

  /** The idle session of a caller that was used least recently, other than the one with this id. */
  idleOf(caller: string, otherThan: string): Live | undefined {
    let lookedAt = 0;
    for (const session of this.#held.of(caller)) {
      if (!session.busy && session.id !== otherThan) return session;
      if (++lookedAt === maxLookedAt) break;
    }
    return undefined;
  }

  /** While the limit is reached, keeps the sessions that may leave in front, where they are found first. */
  #putConnectedLast(): void {
    // Copied, because `#putLast` moves entries to the end of the iterated map.
    const connected = [...this.#copies.values()].filter(({ session }) => session.connected);
    for (const copy of connected) this.#putLast(copy);
  }

  #putLast(copy: Kept): void {
    const { session } = copy;
    this.#copies.delete(session.id);
    this.#copies.set(session.id, copy);
    this.#held.add(session.caller, session, 0);
  }

  /** The sessions of callers that have at least `count`, least recently used first. */
  *#ofAtLeast(count: number): Iterable<Live> {
    let lookedAt = 0;
    for (const { session } of this.#copies.values()) {
      if (this.#held.shares.of(session.caller) >= count) yield session;
      if (++lookedAt === maxLookedAt) return;
    }
  }
}

/** How many sessions are searched for one that may leave; `useBusy` puts connected ones last. */
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
