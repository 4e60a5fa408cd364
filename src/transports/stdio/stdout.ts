// Standard output: claims it for protocol messages while a server uses it, and writes everything from one turn of the event loop
// in one write.
import { Console } from "node:console";
import type { Writable } from "node:stream";
import { ConfigurationError } from "../../base/errors.ts";

/** Writes to the claimed stream, and releases it. */
export interface ClaimedStdout {
  readonly write: Writable["write"];
  release(): void;
}

/** Marks the `write` of a claimed stream, for other copies of this package too. */
const claimed = Symbol.for("halyard.claimedStdout");

/** Redirects everything else that is written to `process.stdout`, such as `console.log`, to standard error. */
export function claimStdout(output: Writable): ClaimedStdout {
  const write = output.write;
  if (output !== process.stdout) return { write, release: () => {} };
  if (claimed in write) {
    const where = { subject: "serveStdio", field: "output" };
    throw new ConfigurationError(
      "INVALID_OPTION",
      where,
      "is process.stdout, which is claimed already: close the other server, or pass another output",
    );
  }
  const redirected = Object.assign(process.stderr.write.bind(process.stderr), { [claimed]: true });
  const restoreWrite = replace(process.stdout, { write: redirected });
  const restoreConsole = hasOwnConsole() ? replace(console, consoleOnStderr()) : undefined;
  return {
    write,
    release: () => {
      restoreWrite();
      restoreConsole?.();
    },
  };
}

/** Whether `console` writes to the system by itself: on Bun and Deno it does, on Node it calls `process.stdout.write`. */
function hasOwnConsole(): boolean {
  return "bun" in process.versions || "deno" in process.versions;
}

function consoleOnStderr(): Record<string, unknown> {
  const methods = Object.entries(new Console(process.stderr)).filter(
    ([, value]) => typeof value === "function",
  );
  // Only Bun has `console.write`.
  const write = (...texts: unknown[]): boolean => process.stderr.write(texts.join(""));
  return { ...Object.fromEntries(methods), ...("write" in console && { write }) };
}

/** Replaces members of an object. The returned function restores those that nothing else has replaced since. */
function replace(target: object, members: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(members).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  Object.assign(target, members);
  return () => {
    for (const [name, own] of before) {
      if ((target as Record<string, unknown>)[name] !== members[name]) continue;
      if (own) Object.defineProperty(target, name, own);
      else delete (target as Record<string, unknown>)[name];
    }
  };
}

interface LineWriterOptions {
  /** Writes to the stream, whose own `write` may have been redirected. */
  readonly write: Writable["write"];
  readonly onDrained: () => void;
}

/**
 * Characters waiting on stdio. The client has not read them yet. Past it, the server pauses reading, and drops progress and
 * logs until the client has read.
 */
const highWater = 1024 * 1024;

/** Writes lines. */
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
