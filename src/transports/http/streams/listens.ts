// The open listen requests: counts them by caller, and ends the oldest when the limit is reached.
import { Holdings, roomFor } from "../../../base/limits/holdings.ts";
import type { Revision } from "../../../protocol/revision.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { Heartbeat, Tended } from "../edge/heartbeat.ts";
import type { EventStream } from "./event-stream.ts";

export interface ListenLimits {
  /**
   * Listen requests that may be open. Past it, the oldest one of the caller with the most ends with its closing result; that
   * caller itself gets 429. @default {20000}
   */
  readonly maxListens: number;
  /** Listen requests that one principal may have open. Past it, the server responds with 429. @default {100} */
  readonly maxListensPerPrincipal: number;
}

export const defaultListenLimits: ListenLimits = { maxListens: 20_000, maxListensPerPrincipal: 100 };

/** An open listen request. */
export interface Listen extends Tended {
  /** The connection of this request alone. */
  readonly connection: Connection;
  /** Whether it has lasted as long as it may. */
  isOver(now: number): boolean;
  readonly revision: Revision | undefined;
  /** Its stream, once that is open. */
  readonly openStream: EventStream | undefined;
}

/** Owns the open listen requests: it tends and ends them, and resolves `endAll` after the last. */
export class Listens implements Tended {
  readonly #maxPerPrincipal: number;
  readonly #heartbeat: Heartbeat;
  readonly #open: Holdings<Listen>;
  #onEmpty: (() => void) | undefined;

  constructor({ maxListens, maxListensPerPrincipal }: ListenLimits, heartbeat: Heartbeat) {
    this.#maxPerPrincipal = maxListensPerPrincipal;
    this.#heartbeat = heartbeat;
    this.#open = new Holdings(maxListens);
  }

  get size(): number {
    return this.#open.shares.total;
  }

  /**
   * Returns whether one more listen request may open. When the limit is reached, it ends the oldest one of the caller that has the
   * most, if that is more than the new caller has.
   */
  makeRoomFor({ connection: { caller, principal } }: Listen): boolean {
    const room = roomFor(this.#open, caller, principal ? this.#maxPerPrincipal : Number.POSITIVE_INFINITY);
    if (typeof room === "boolean") return room;
    this.delete(room);
    room.connection.endSubscriptions();
    return true;
  }

  [Symbol.iterator](): Iterator<Listen> {
    return this.#open[Symbol.iterator]();
  }

  add(listen: Listen): void {
    this.#open.add(listen.connection.caller, listen);
    this.#heartbeat.add(this);
  }

  /** Removes a listen request whose stream has ended. */
  delete(listen: Listen): void {
    this.#open.delete(listen.connection.caller, listen);
    if (this.size === 0) this.#onEmpty?.();
  }

  /** Sends each its closing result, and resolves when all their streams have ended. */
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
