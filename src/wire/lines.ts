// Newline framing: bytes in, whole lines out, each within a limit. Knows nothing of MCP.

export interface LineSink {
  line(text: string): void;
  /** A line passed the limit; the rest of it is skipped up to the next newline. */
  tooLong(): void;
}

const newline = 0x0a;

/** Splits a byte stream into lines. What waits for its newline is in one buffer that doubles: linear time, however it comes. */
export class LineDecoder {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  #buffer = new Uint8Array(0);
  #pending = 0;
  #skipping = false;

  constructor(maxBytes: number, sink: LineSink) {
    this.#maxBytes = maxBytes;
    this.#sink = sink;
  }

  feed(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(newline);
    if (last < 0) return this.#keep(chunk);
    const first = chunk.indexOf(newline);
    this.#endLine(chunk.subarray(0, first));
    if (last > first) this.#emit(chunk.subarray(first + 1, last));
    this.#keep(chunk.subarray(last + 1));
  }

  /** Ends the input: a last line without a newline still counts. */
  end(): void {
    if (this.#pending > 0) this.#endLine(new Uint8Array(0));
  }

  #keep(bytes: Uint8Array): void {
    if (this.#skipping || bytes.length === 0) return;
    const length = this.#pending + bytes.length;
    if (length > this.#maxBytes) {
      this.#reset();
      this.#skipping = true;
      this.#sink.tooLong();
      return;
    }
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#pending));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#pending);
    this.#pending = length;
  }

  #endLine(tail: Uint8Array): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    if (this.#pending === 0) return this.#emit(tail);
    this.#keep(tail);
    if (this.#skipping) this.#skipping = false;
    else this.#emit(this.#buffer.subarray(0, this.#pending));
    this.#reset();
  }

  /** Emits the lines in `bytes`, which ends where a line ends: decoding them together costs one call. */
  #emit(bytes: Uint8Array): void {
    for (const text of this.#decoder.decode(bytes).split("\n")) {
      // The wire may use CRLF; JSON allows white space around a message, so only emptiness matters.
      if (text === "" || text === "\r") continue;
      if (text.length > this.#maxBytes) this.#sink.tooLong();
      else this.#sink.line(text);
    }
  }

  #reset(): void {
    this.#buffer = new Uint8Array(0);
    this.#pending = 0;
  }
}
