// Tracks the things that each caller holds under a shared limit, to evict the oldest thing of the greediest caller first.
import { Shares } from "./shares.ts";

export class Holdings<Thing> {
  readonly shares: Shares;
  /** The things of each caller, oldest first. */
  readonly #things = new Map<string, Set<Thing>>();

  constructor(max: number) {
    this.shares = new Shares(max);
  }

  /** Adds a thing as the caller's newest. If the caller holds it already, it becomes the newest. */
  add(caller: string, thing: Thing, amount = 1): void {
    let things = this.#things.get(caller);
    if (!things) this.#things.set(caller, (things = new Set()));
    things.delete(thing);
    things.add(thing);
    if (amount !== 0) this.shares.count(caller, amount);
  }

  delete(caller: string, thing: Thing, amount = 1): void {
    const things = this.#things.get(caller);
    if (!things?.delete(thing)) return;
    if (things.size === 0) this.#things.delete(caller);
    if (amount !== 0) this.shares.count(caller, -amount);
  }

  /** The things of all callers. */
  *[Symbol.iterator](): Iterator<Thing> {
    for (const things of this.#things.values()) yield* things;
  }

  /** The things of a caller, oldest first. */
  of(caller: string): Iterable<Thing> {
    return this.#things.get(caller) ?? [];
  }

  oldestOf(caller: string): Thing | undefined {
    const [oldest] = this.of(caller);
    return oldest;
  }

  oldestOfGreediest(): Thing | undefined {
    const greediest = this.shares.greediest();
    return greediest === undefined ? undefined : this.oldestOf(greediest);
  }
}

/**
 * What to evict for a newcomer when the limit is reached: the oldest thing of the greediest caller, or undefined if that caller
 * holds no more than the newcomer would.
 */
export function evictedFor<Thing>(holdings: Holdings<Thing>, newcomer: string): Thing | undefined {
  const { shares } = holdings;
  const greediest = shares.greediest();
  if (greediest === undefined || shares.of(greediest) <= shares.of(newcomer) + 1) return undefined;
  return holdings.oldestOf(greediest);
}

/** Whether the caller may hold one more thing, of at most `maxOwn`; or the thing to evict for it. */
export function roomFor<Thing>(holdings: Holdings<Thing>, caller: string, maxOwn: number): Thing | boolean {
  const { shares } = holdings;
  if (shares.of(caller) >= maxOwn) return false;
  return shares.total < shares.max || (evictedFor(holdings, caller) ?? false);
}
