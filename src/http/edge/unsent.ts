// What readers have not taken: how much it is by caller and in all, and since when a reader takes nothing.
import { Shares } from "../../limits/shares.ts";
import type { Heartbeat, Tended } from "./heartbeat.ts";

/** A response on its way to a reader. */
export interface Outgoing {
  /** Who it counts for. */
  readonly caller: string;
  /** Bytes that the reader has not taken. */
  readonly unsent: number;
  /** Bytes that it has. */
  readonly taken: number;
  /** Cuts the connection. */
  destroy(): void;
}

interface Watched {
  bytes: number;
  taken: number;
  /** For how long it has taken no more than that; undefined until it is first looked at. */
  idleMs: number | undefined;
}

/** A process that was held up, or a clock that jumped, says nothing about readers: between two looks so much passes at most. */
const longestLookMs = 2000;

/** Watches responses that their readers have not taken. Most are gone at once, and never come here. */
export class Unsent implements Tended {
  readonly #heartbeat: Heartbeat;
  readonly #shares: Shares;
  readonly #stallMs: number;
  /** Those that have taken nothing for longest come first. */
  readonly #watched = new Map<Outgoing, Watched>();
  #lookedAt = 0;

  constructor(heartbeat: Heartbeat, maxBytes: number, stallMs: number) {
    this.#heartbeat = heartbeat;
    this.#shares = new Shares(maxBytes);
    this.#stallMs = stallMs;
  }

  get bytes(): number {
    return this.#shares.total;
  }

  /** Watches a response until everything has been taken; to be called again when there is more of it. */
  watch(outgoing: Outgoing): void {
    const watched = this.#watched.get(outgoing) ?? { bytes: 0, taken: outgoing.taken, idleMs: undefined };
    this.#watched.set(outgoing, watched);
    this.#heartbeat.add(this);
    this.#count(outgoing, watched);
    this.#enforce();
  }

  /** Everything has been taken, or nobody takes it any more. */
  forget(outgoing: Outgoing): void {
    const watched = this.#watched.get(outgoing);
    if (watched === undefined) return;
    this.#shares.count(outgoing.caller, -watched.bytes);
    this.#watched.delete(outgoing);
  }

  /** Goes on after everything else has stopped: what has been written has not left yet. */
  goOn(): void {
    if (this.#watched.size > 0) this.#heartbeat.add(this);
  }

  tend(now: number): boolean {
    const passedMs = Math.min(Math.max(now - this.#lookedAt, 0), longestLookMs);
    this.#lookedAt = now;
    // What is looked at may move to the end, and must not be looked at twice.
    const all = [...this.#watched];
    for (const [outgoing, watched] of all) this.#look(outgoing, watched, passedMs);
    return this.#watched.size > 0;
  }

  #look(outgoing: Outgoing, watched: Watched, passedMs: number): void {
    const { unsent, taken } = outgoing;
    if (unsent === 0) return this.forget(outgoing);
    this.#count(outgoing, watched);
    const isIdle = watched.taken === taken && watched.idleMs !== undefined;
    watched.idleMs = isIdle ? (watched.idleMs ?? 0) + passedMs : 0;
    if (watched.idleMs >= this.#stallMs) return this.#cut(outgoing);
    if (isIdle) return;
    watched.taken = taken;
    this.#watched.delete(outgoing);
    this.#watched.set(outgoing, watched);
  }

  /** One response counts for a quarter of the limit at most: however long it is, a client that reads it gets it. */
  #count(outgoing: Outgoing, watched: Watched): void {
    const bytes = Math.min(outgoing.unsent, Math.floor(this.#shares.max / 4));
    this.#shares.count(outgoing.caller, bytes - watched.bytes);
    watched.bytes = bytes;
  }

  #enforce(): void {
    while (this.#shares.total > this.#shares.max) {
      const greediest = this.#shares.greediest();
      const first = [...this.#watched.keys()].find(({ caller }) => caller === greediest);
      if (first === undefined) return;
      this.#cut(first);
    }
  }

  #cut(outgoing: Outgoing): void {
    this.forget(outgoing);
    outgoing.destroy();
  }
}
