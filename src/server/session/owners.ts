// The sessions of each principal, counted in the engine, so that a limit holds for all nodes together.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { changeInTurn } from "../../cluster/engine/edits.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import { readJson } from "../../base/wire/json.ts";
import { isTexts } from "../../base/wire/message.ts";

/** Checks and ends the sessions past the limit. */
export interface OwnedSessions {
  /** Whether the session still exists. */
  exists(id: string): Promise<boolean>;
  /** Ends a session on all nodes, if it exists. */
  end(id: string): Promise<void>;
}

/** Milliseconds between two searches for sessions that have ended, since one reads every session of a principal. */
const pruneMs = 1000;

export class Owners {
  readonly #cluster: Cluster;
  readonly #maxOwned: number;
  readonly #keepMs: number;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(cluster: Cluster, maxOwned: number, keepMs: number) {
    this.#cluster = cluster;
    this.#maxOwned = maxOwned;
    this.#keepMs = keepMs;
  }

  /** Adds a session to those of its owner. Past the limit the oldest one ends. */
  add(owner: string, id: string, sessions: OwnedSessions): Promise<void> {
    return this.#edit(owner, async (ids) => {
      const kept = ids.length < this.#maxOwned ? ids : await this.#prune(ids, sessions);
      const ending = kept.slice(0, Math.max(0, kept.length - this.#maxOwned + 1));
      for (const oldest of ending) await sessions.end(oldest);
      return [...kept.slice(ending.length), id];
    });
  }

  remove(owner: string, id: string): Promise<void> {
    return this.#edit(owner, async (ids) =>
      ids.includes(id) ? ids.filter((other) => other !== id) : undefined,
    );
  }

  async #prune(ids: readonly string[], sessions: OwnedSessions): Promise<readonly string[]> {
    const now = performance.now();
    if (now - this.#prunedAt < pruneMs) return ids;
    this.#prunedAt = now;
    const exist = await Promise.all(ids.map((id) => sessions.exists(id)));
    return ids.filter((_, at) => exist[at]);
  }

  /** Replaces the list, oldest first, by what `edit` returns, unless that is undefined. */
  async #edit(
    owner: string,
    edit: (ids: readonly string[]) => Promise<readonly string[] | undefined>,
  ): Promise<void> {
    const what = "The list of a principal's sessions";
    await changeInTurn(this.#cluster.engine, ownerKeyOf(owner), what, async (stored) => {
      const edited = await edit(stored === undefined ? [] : this.#read(stored.text));
      return edited && { text: JSON.stringify(edited), ttlMs: this.#keepMs };
    });
  }

  /** The ids in a list; none if it is invalid. */
  #read(text: string): readonly string[] {
    const ids = readJson(text);
    if (isTexts(ids)) return ids;
    this.#cluster.ignoreInvalid("owner");
    return [];
  }
}

/** The name of the list of a principal's sessions. */
export function ownerKeyOf(owner: string): ValueKey {
  return { kind: "owner", tag: owner };
}
