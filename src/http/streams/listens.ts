// The open listen requests: how many there are, whose they are, and which one goes when there is no room for another.
import { Holdings } from "../../limits/holdings.ts";
import type { Connection } from "../../server/context/connection.ts";

/** One open listen request. */
export interface Listen {
  readonly connection: Connection;
  /** Resolves when its stream has ended. */
  readonly ended: Promise<void>;
}

export interface ListenLimits {
  readonly maxListens: number;
  readonly maxListensPerPrincipal: number;
}

export class Listens {
  readonly #limits: ListenLimits;
  readonly #held: Holdings<Connection>;
  readonly #open = new Map<Connection, Promise<void>>();

  constructor(limits: ListenLimits) {
    this.#limits = limits;
    this.#held = new Holdings(limits.maxListens);
  }

  get size(): number {
    return this.#open.size;
  }

  has(connection: Connection): boolean {
    return this.#open.has(connection);
  }

  /**
   * Whether one more listen request may be open. When all are taken, the oldest of whoever has the most ends in good order for
   * it; unless that is the newcomer itself, or has no more than it.
   */
  makeRoomFor({ caller, principal }: Connection): boolean {
    const { maxListens, maxListensPerPrincipal } = this.#limits;
    if (principal !== undefined && this.#held.shares.of(caller) >= maxListensPerPrincipal) return false;
    if (this.#open.size < maxListens) return true;
    const ending = this.#held.oldestBefore(caller);
    if (ending === undefined) return false;
    this.#delete(ending);
    ending.endSubscriptions();
    return true;
  }

  add(connection: Connection, ended: Promise<void>): void {
    this.#held.add(connection.caller, connection);
    // Not finally(), which keeps twice as much for each of many that stay open.
    this.#open.set(
      connection,
      ended.then(() => this.#delete(connection)),
    );
  }

  *[Symbol.iterator](): Iterator<Listen> {
    for (const [connection, ended] of this.#open) yield { connection, ended };
  }

  #delete(connection: Connection): void {
    this.#open.delete(connection);
    this.#held.delete(connection.caller, connection);
  }
}
