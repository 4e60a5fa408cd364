// Bytes that wait to leave, handed out in pieces: each that is taken shows that the reader still reads.

/** A reader that takes less than this within `stallMs` counts as one that takes nothing. */
const pieceBytes = 32 * 1024;

/** Past this many bytes that nobody has taken, a reader counts as behind. */
export const highWater: number = 64 * 1024;

export class ChunkQueue {
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;

  /** How much waits. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
  }

  /** The next piece; undefined when nothing waits. */
  next(): Uint8Array | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const piece = first.subarray(0, pieceBytes);
    this.#bytes -= piece.length;
    if (piece.length === first.length) this.#waiting.shift();
    else this.#waiting[0] = first.subarray(pieceBytes);
    return piece;
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#bytes = 0;
  }
}
