// Newline framing: bytes in, whole lines out, each within a limit. Knows nothing of MCP.
import { GrowingBuffer } from "./bytes.ts";

export interface LineSink {
  line(text: string): void;
  /** A line passed the limit; the rest of it is skipped up to the next newline. */
  tooLong(): void;
}

const newline = 0x0a;

/** Splits a byte stream into lines. */
export class LineDecoder {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  /** What waits for its newline. */
  readonly #pending = new GrowingBuffer();
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
    if (this.#pending.length > 0) this.#endLine(new Uint8Array(0));
  }

  #keep(bytes: Uint8Array): void {
    if (this.#skipping || bytes.length === 0) return;
    if (this.#pending.length + bytes.length > this.#maxBytes) {
      this.#pending.clear();
      this.#skipping = true;
      this.#sink.tooLong();
      return;
    }
    this.#pending.add(bytes);
  }

  #endLine(tail: Uint8Array): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    if (this.#pending.length === 0) return this.#emit(tail);
    this.#keep(tail);
    if (this.#skipping) this.#skipping = false;
    else this.#emit(this.#pending.bytes);
    this.#pending.clear();
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
}
