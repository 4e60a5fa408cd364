// Bytes that wait to be sent: in chunks, since each chunk that a client takes shows that it still reads. Disconnects stalled and
// greedy clients.
import { Shares } from "../../../base/limits/shares.ts";
import type { Heartbeat, Tended } from "./heartbeat.ts";
import { Fifo } from "../../../base/wire/fifo.ts";

/** A client that reads less than this within `stallMs` counts as stalled. */
const chunkBytes = 32 * 1024;

/** A reader with more unread bytes than this is behind. */
export const highWater: number = 64 * 1024;

/** The bytes that wait for one client. */
export class ChunkQueue {
  readonly #waiting = new Fifo<Uint8Array>();
  #bytes = 0;

  /** The bytes in the queue. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
  }

  /** Removes and returns the next chunk; undefined if the queue is empty. */
  next(): Uint8Array | undefined {
    const { first } = this.#waiting;
    if (first === undefined) return undefined;
    const chunk = first.subarray(0, chunkBytes);
    this.#bytes -= chunk.length;
    if (chunk.length === first.length) this.#waiting.shift();
    else this.#waiting.replaceFirst(first.subarray(chunkBytes));
    return chunk;
  }

  clear(): void {
    this.#waiting.clear();
    this.#bytes = 0;
  }
}

/** A response that is being sent. */
export interface OutgoingResponse {
  /** The caller that it counts for. */
  readonly caller: string;
  /** Bytes that the client has not read. */
  readonly unsent: number;
  /** Bytes that the client has read. */
  readonly taken: number;
  /** Closes the connection immediately. */
  destroy(): void;
}

interface Watched {
  bytes: number;
  taken: number;
  /** How long `taken` has not changed; undefined before the first check. */
  idleMs: number | undefined;
}

/** The most that one check adds to `idleMs`: clients must not pay for a process that was suspended. */
const longestLookMs = 2000;

/** Watches responses that clients read slowly; most responses are sent at once and never get here. */
export class Unsent implements Tended {
  readonly #heartbeat: Heartbeat;
  readonly #shares: Shares;
  readonly #stallMs: number;
  /** Longest idle first. */
  readonly #watched = new Map<OutgoingResponse, Watched>();
  #lookedAt = 0;

  constructor(heartbeat: Heartbeat, maxBytes: number, stallMs: number) {
    this.#heartbeat = heartbeat;
    this.#shares = new Shares(maxBytes);
    this.#stallMs = stallMs;
  }

  get bytes(): number {
    return this.#shares.total;
  }

  /** Watches a response until the client has read all of it; call it again after each write. */
  watch(outgoing: OutgoingResponse): void {
    const watched = this.#watched.get(outgoing) ?? { bytes: 0, taken: outgoing.taken, idleMs: undefined };
    this.#watched.set(outgoing, watched);
    this.#heartbeat.add(this);
    this.#count(outgoing, watched);
    this.#enforce();
  }

  /** Stops watching a response that was read completely, or whose client has disconnected. */
  forget(outgoing: OutgoingResponse): void {
    const watched = this.#watched.get(outgoing);
    if (watched === undefined) return;
    this.#shares.count(outgoing.caller, -watched.bytes);
    this.#watched.delete(outgoing);
  }

  /** Keeps watching after the heartbeat was stopped, while responses are still being sent. */
  keepWatching(): void {
    if (this.#watched.size > 0) this.#heartbeat.add(this);
  }

  tend(now: number): boolean {
    const passedMs = Math.min(Math.max(now - this.#lookedAt, 0), longestLookMs);
    this.#lookedAt = now;
    // A copy, since `#look` moves entries to the end.
    const all = [...this.#watched];
    for (const [outgoing, watched] of all) this.#look(outgoing, watched, passedMs);
    return this.#watched.size > 0;
  }

  #look(outgoing: OutgoingResponse, watched: Watched, passedMs: number): void {
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

  /** Counts at most a quarter of the limit for one response, so that a client that reads can get one of any size. */
  #count(outgoing: OutgoingResponse, watched: Watched): void {
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

  #cut(outgoing: OutgoingResponse): void {
    this.forget(outgoing);
    outgoing.destroy();
  }
}
