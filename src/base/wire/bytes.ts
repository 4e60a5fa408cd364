// Collects pieces of bytes in one buffer that doubles: linear time and memory, however small the pieces are.

const smallest = 1024;

export class GrowingBuffer {
  #buffer = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes that it allocates, used or not. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** A view of the bytes added so far. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length, smallest));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  clear(): void {
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
  }
}

/** A buffer that begins with this piece. */
export function bufferOf(piece: Uint8Array): GrowingBuffer {
  const buffer = new GrowingBuffer();
  buffer.add(piece);
  return buffer;
}
