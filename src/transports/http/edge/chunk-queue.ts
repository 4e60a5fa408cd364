// Bytes that wait to be sent, in chunks: each chunk that the client takes shows that it still reads.
import { Fifo } from "../../../base/wire/fifo.ts";

/** A client that reads less than this within `stallMs` counts as stalled. */
const chunkBytes = 32 * 1024;

/** A reader with more unread bytes than this is behind. */
export const highWater: number = 64 * 1024;

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
