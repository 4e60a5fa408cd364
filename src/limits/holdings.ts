// Things that callers hold of a limit, so that what has to go when there are too many is the oldest of the greediest.
import { Shares } from "./shares.ts";

export class Holdings<Thing> {
  readonly shares: Shares;
  /** Of each caller, longest held first. */
  readonly #things = new Map<string, Set<Thing>>();

  constructor(max: number) {
    this.shares = new Shares(max);
  }

  /** The caller holds it, as the last one; or holds it again. */
  add(caller: string, thing: Thing, amount = 1): void {
    let things = this.#things.get(caller);
    if (things === undefined) this.#things.set(caller, (things = new Set()));
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

  /** What this caller holds, longest held first. */
  of(caller: string): Iterable<Thing> {
    return this.#things.get(caller) ?? [];
  }

  /** What this caller has held for longest. */
  oldestOf(caller: string): Thing | undefined {
    const [oldest] = this.of(caller);
    return oldest;
  }

  /** What the greediest caller has held for longest. */
  oldestOfGreediest(): Thing | undefined {
    const greediest = this.shares.greediest();
    return greediest === undefined ? undefined : this.oldestOf(greediest);
  }

  /**
   * What goes where everything is in use and one more caller wants some: the oldest of the greediest, if that holds more than
   * the newcomer will. Undefined when it does not.
   */
  oldestBefore(newcomer: string): Thing | undefined {
    const greediest = this.shares.greediest();
    if (greediest === undefined || this.shares.of(greediest) <= this.shares.of(newcomer) + 1)
      return undefined;
    return this.oldestOf(greediest);
  }
}
