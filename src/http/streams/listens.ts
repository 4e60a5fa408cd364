// The open listen requests: how many there are, whose they are, and which one ends when there is no room for another.
import { Holdings } from "../../limits/holdings.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { Heartbeat, Tended } from "../edge/heartbeat.ts";

export interface ListenLimits {
  /** Listen streams that may be open. @default {20000} */
  readonly maxListens: number;
  /** Listen streams that one principal may have open. @default {100} */
  readonly maxListensPerPrincipal: number;
}

export const defaultListenLimits: ListenLimits = { maxListens: 20_000, maxListensPerPrincipal: 100 };

/** An open listen request. */
export interface Listen extends Tended {
  /** A connection that only this request has. */
  readonly connection: Connection;
  /** Whether its time is up. */
  isOver(now: number): boolean;
}

/** The one place that knows them: it ends them, has each tended, and tells when the last has gone. */
export class Listens implements Tended {
  readonly #limits: ListenLimits;
  readonly #heartbeat: Heartbeat;
  readonly #open: Holdings<Listen>;
  #onEmpty: () => void = () => {};

  constructor(limits: ListenLimits, heartbeat: Heartbeat) {
    this.#limits = limits;
    this.#heartbeat = heartbeat;
    this.#open = new Holdings(limits.maxListens);
  }

  get size(): number {
    return this.#open.shares.total;
  }

  /**
   * Whether one more listen request may be open. When all are taken, the oldest of the caller that has the most ends in good
   * order for it; unless that is the newcomer itself, or has no more than it.
   */
  makeRoomFor({ connection: { caller, principal } }: Listen): boolean {
    const { maxListens, maxListensPerPrincipal } = this.#limits;
    if (principal !== undefined && this.#open.shares.of(caller) >= maxListensPerPrincipal) return false;
    if (this.size < maxListens) return true;
    const ending = this.#open.oldestBefore(caller);
    if (ending === undefined) return false;
    this.delete(ending);
    ending.connection.endSubscriptions();
    return true;
  }

  add(listen: Listen): void {
    this.#open.add(listen.connection.caller, listen);
    this.#heartbeat.add(this);
  }

  /** Its stream has ended. */
  delete(listen: Listen): void {
    this.#open.delete(listen.connection.caller, listen);
    if (this.size === 0) this.#onEmpty();
  }

  /** Ends each with its closing result, and resolves when their streams have ended. */
  endAll(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      for (const { connection } of this.#open) connection.endSubscriptions();
      if (this.size === 0) resolve();
    });
  }

  tend(now: number): boolean {
    for (const listen of this.#open) {
      if (listen.isOver(now)) listen.connection.endSubscriptions();
      else listen.tend(now);
    }
    return this.size > 0;
  }
}
