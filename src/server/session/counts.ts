// How many sessions there are on all nodes: in total, of each caller, and of each principal.
import { ignoreRejection } from "../../base/async/promises.ts";
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import type { Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import { type OwnedSessions, ownerKeyOf, Owners } from "./owners.ts";
import type { SessionLimits } from "./limits.ts";
import { Tallies } from "./tallies.ts";

/** Milliseconds between two counts of all sessions. */
const countMs = 1000;

export class SessionCounts {
  readonly #cluster: Cluster;
  readonly #maxSessions: number;
  readonly #owners: Owners;
  readonly #tallies: Tallies;
  #count = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Sessions that this node has made since. */
  #made = 0;

  constructor(cluster: Cluster, limits: SessionLimits, keepMs: number) {
    this.#cluster = cluster;
    this.#maxSessions = limits.maxSharedSessions;
    this.#owners = new Owners(cluster, limits.maxSessionsPerPrincipal, keepMs);
    this.#tallies = new Tallies(cluster, keepMs);
  }

  /**
   * Counts a session for its caller before it is made, since the caller may send several at once. Resolves with whether the caller then
   * has no more sessions than remain for all others.
   */
  async begin(caller: string): Promise<boolean> {
    this.#tallies.add(caller, 1);
    const room = await this.#room();
    return room > 0 && (await this.#tallies.of(caller, room)) <= room;
  }

  /**
   * Called when the session was created: past the limit of its principal, the oldest one of that principal ends. Resolves with
   * the period it counts in.
   */
  async made(principal: Principal | undefined, id: string, sessions: OwnedSessions): Promise<number> {
    this.#made++;
    if (principal) await this.#owners.add(principalKey(principal), id, sessions);
    return this.#tallies.period;
  }

  /** Stops counting a session that was not created, or has ended. */
  remove(caller: string): void {
    this.#tallies.add(caller, -1);
  }

  /** Takes a session that was deleted from those of its principal. A session that has ended does little harm there. */
  disown(principal: Principal | undefined, id: string): void {
    if (principal) ignoreRejection(this.#owners.remove(principalKey(principal), id));
  }

  /** Counts a session, last counted in the given period, as kept now. Returns the period that it is counted in. */
  keep(caller: string, countedIn: number): number {
    return this.#tallies.keep(caller, countedIn);
  }

  /** The engine's values that must be kept while sessions of these principals are used. */
  keysOf(principals: Iterable<Principal | undefined>): ValueKey[] {
    const owners = new Set<string>();
    for (const principal of principals) if (principal) owners.add(principalKey(principal));
    return [...owners].map(ownerKeyOf);
  }

  /** Forgets callers whose sessions have expired. */
  sweep(): void {
    this.#tallies.sweep();
  }

  /** How many more sessions there may be. The count is at most a second old, and newer if there is little room. */
  async #room(): Promise<number> {
    const max = this.#maxSessions;
    const now = performance.now();
    const isOld = now - this.#countedAt >= countMs || this.#made * 16 >= max - this.#count;
    if (isOld) {
      this.#countedAt = now;
      this.#made = 0;
      this.#count = await this.#cluster.engine.count("session");
    }
    return max - this.#count - this.#made;
  }
}
