// Newline framing: takes bytes and emits complete lines, each within a limit. Knows nothing of MCP.
import { GrowingBuffer } from "./bytes.ts";

export interface LineSink {
  line(text: string): void;
  /** A line that begins like this exceeds the limit. The decoder skips the rest of it. */
  tooLong(start: string): void;
}

const newline = 0x0a;

/** How many bytes of a line that is too long are reported. */
const startBytes = 200;

export class LineDecoder {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  /** The start of a line whose newline has not arrived yet. */
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

  /** The start of a line whose newline has not arrived. */
  get unfinished(): string {
    return this.#decoder.decode(this.#pending.bytes.subarray(0, startBytes));
  }

  /** Ends the input. A last line without a newline counts. */
  end(): void {
    if (this.#pending.length > 0) this.#endLine(new Uint8Array(0));
  }

  #keep(bytes: Uint8Array): void {
    if (this.#skipping || bytes.length === 0) return;
    if (this.#pending.length + bytes.length > this.#maxBytes) {
      this.#pending.add(bytes.subarray(0, startBytes));
      const start = this.#decoder.decode(this.#pending.bytes.subarray(0, startBytes));
      this.#pending.clear();
      this.#skipping = true;
      this.#sink.tooLong(start);
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

  /** Emits the lines in `bytes`, which end with a complete line. Decoding them together costs one call. */
  #emit(bytes: Uint8Array): void {
    for (const text of this.#decoder.decode(bytes).split("\n")) {
      // A line may end with CRLF. JSON allows white space around a message, so only empty lines need care.
      if (text === "" || text === "\r") continue;
      if (text.length > this.#maxBytes) this.#sink.tooLong(text.slice(0, startBytes));
      else this.#sink.line(text);
    }
  }
}
