// Writes lines: everything from one turn of the event loop in one write.
import type { Writable } from "node:stream";

export interface LineWriterOptions {
  /** Writes to the stream, whose own `write` may have been redirected. */
  readonly write: Writable["write"];
  readonly onDrained: () => void;
}

/**
 * Characters waiting on stdio. The client has not read them yet. Past it, the server pauses reading, and drops progress and
 * logs until the client has read.
 */
const highWater = 1024 * 1024;

export class LineWriter {
  readonly #stream: Writable;
  readonly #options: LineWriterOptions;
  readonly #onDrain = (): void => this.#drained();
  #pending = "";
  #scheduled = false;
  #blocked = false;
  #congested = false;

  constructor(stream: Writable, options: LineWriterOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on("drain", this.#onDrain);
  }

  /** Returns false if the reader is behind. */
  write(text: string): boolean {
    this.#pending += `${text}\n`;
    if (!this.#scheduled && !this.#blocked) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
    // It stays behind until everything has been written, since only that calls `onDrained`.
    if (this.#pending.length >= highWater) this.#congested = true;
    return !this.#congested;
  }

  /** Resolves when everything has been passed to the system, or the stream has closed. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stream.off("drain", this.#onDrain);
        this.#stream.off("close", done);
        resolve();
      };
      if (this.#stream.destroyed) return done();
      this.#stream.once("close", done);
      this.#options.write.call(this.#stream, this.#take(), "utf8", done);
    });
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#pending === "" || this.#stream.destroyed) return;
    this.#blocked = !this.#options.write.call(this.#stream, this.#take(), "utf8");
    if (!this.#blocked) this.#settle();
  }

  #take(): string {
    const text = this.#pending;
    this.#pending = "";
    return text;
  }

  #drained(): void {
    this.#blocked = false;
    if (this.#pending === "") this.#settle();
    else this.#flush();
  }

  #settle(): void {
    if (!this.#congested) return;
    this.#congested = false;
    this.#options.onDrained();
  }
}
