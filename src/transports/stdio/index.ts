/**
 * Serves one client over standard input and output, one message per line.
 *
 * @module
 */
import type { Readable, Writable } from "node:stream";
import { flag, type Known, pause, preset, withMethods } from "../../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../../base/options.ts";
import { Pipe } from "../../server/pipe.ts";
import { within } from "../../base/async/timers.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { type Logger, outliveStderr } from "../../base/logging/logger.ts";
import { portOf, type Servable, type ServerPort } from "../../server/calls/port.ts";
import { LineDecoder } from "../../base/wire/lines.ts";
import { type ClaimedStdout, claimStdout, LineWriter } from "./stdout.ts";
import { WaitingLines } from "./waiting-lines.ts";

/** Options of {@link serveStdio}; all are optional. */
export interface StdioOptions {
  /** @default {process.stdin} */
  readonly input?: Readable | undefined;
  /** @default {process.stdout} */
  readonly output?: Writable | undefined;
  /**
   * Whether the client is the user that this process works for, and may use definitions that have `scopes`. Pass true only if no
   * other user can write to `input`. @default {true on process.stdin}
   */
  readonly peerIsUser?: boolean | undefined;
  /**
   * Milliseconds that running calls have to finish after the client has disconnected. After it, the server cancels them.
   * @default {5000}
   */
  readonly graceMs?: number | undefined;
  /** Whether SIGTERM and SIGINT close the server, and the process exits when it has closed. @default {true on process.stdin} */
  readonly endsProcess?: boolean | undefined;
}

const knownOptions: Known<StdioOptions, Filled<Pick<StdioOptions, "graceMs">>> = {
  input: withMethods("a readable stream", "on", "pause", "resume"),
  output: withMethods("a writable stream", "on", "write", "end"),
  graceMs: preset(pause, 5000),
  endsProcess: flag,
  peerIsUser: flag,
};

function problem(field: string): string | undefined {
  return field === "port" ? "is not an option: stdio has none; use serveHttp of halyard/node" : undefined;
}

/** A server on stdio. */
export interface StdioServer {
  /** Resolves when the client has disconnected and everything has been written. */
  readonly closed: Promise<void>;
  /** Lets running calls finish within `graceMs`, then closes. */
  close(): Promise<void>;
}

/**
 * Serves `server` to the client that started this process. Until it closes, everything else that is written to standard output, such
 * as `console.log`, goes to standard error. A message may have at most `limits.maxBytes` of the server.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { serveStdio } from "halyard/stdio";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * await serveStdio(server);
 * ```
 */
export async function serveStdio(server: Servable, options: StdioOptions = {}): Promise<StdioServer> {
  const port = portOf(server, "serveStdio");
  checkOptions({ subject: "serveStdio", such: "{ input, output }", problem }, options, knownOptions);
  // Claim it at once, because the author may log while the node joins.
  const stdout = claimStdout(options.output ?? process.stdout);
  await port.cluster.join().catch(async (error: unknown) => {
    stdout.release();
    await port.cluster.leave();
    throw error;
  });
  // Created after joining, because the id of its session begins with the node.
  const stdio = new Stdio(port, options, stdout);
  stdio.start();
  return stdio;
}

const terminal =
  "serveStdio reads messages from a terminal: add this program to an MCP client, which starts it, or serve it with serveHttp";

class Stdio implements StdioServer {
  readonly closed: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #stdout: ClaimedStdout;
  readonly #writer: LineWriter;
  readonly #pipe: Pipe;
  readonly #decoder: LineDecoder;
  readonly #lines: WaitingLines;
  readonly #graceMs: number;
  readonly #logger: Logger;
  readonly #cluster: ServerPort["cluster"];
  readonly #endsProcess: boolean;
  readonly #onSignal = (): void => this.#closeLater();
  #markClosed: () => void = () => {};
  #closing = false;
  #endsAt: number | undefined;

  constructor(server: ServerPort, options: StdioOptions, stdout: ClaimedStdout) {
    const { input = process.stdin, output = process.stdout } = options;
    const { maxBytes } = server.limits;
    this.closed = new Promise((resolve) => {
      this.#markClosed = resolve;
    });
    this.#input = input;
    this.#output = output;
    this.#graceMs = withDefaults(options, knownOptions).graceMs;
    this.#logger = server.logger;
    this.#cluster = server.cluster;
    this.#endsProcess = options.endsProcess ?? input === process.stdin;
    this.#stdout = stdout;
    this.#writer = new LineWriter(output, {
      write: this.#stdout.write,
      onDrained: () => this.#pipe.drained(),
    });
    this.#pipe = new Pipe(
      server,
      { write: (text) => this.#writer.write(text), destroy: () => this.#closeLater() },
      {
        transport: "stdio",
        peerIsUser: options.peerIsUser ?? input === process.stdin,
        onResume: () => this.#lines.resume(),
      },
    );
    this.#lines = new WaitingLines({
      take: (line) => this.#pipe.receive(line),
      held: () => input.pause(),
      empty: () => input.resume(),
    });
    this.#decoder = new LineDecoder(maxBytes, {
      line: (text) => this.#lines.add(text),
      tooLong: () => this.#pipe.refuseLong(maxBytes),
    });
  }

  start(): void {
    outliveStderr();
    if ("isTTY" in this.#input && this.#input.isTTY === true) this.#logger.warn(terminal);
    this.#input.on("data", (chunk: Buffer | string) => {
      this.#decoder.feed(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      this.#lines.give();
    });
    this.#input.on("end", () => {
      this.#decoder.end();
      const taken = within(this.#graceLeft(), this.#lines.taken());
      logRejection(
        this.#logger,
        "The end of the input",
        taken.then(() => this.#leave()),
      );
    });
    // A stream that is destroyed without an error emits only `close`.
    this.#input.on("close", () => {
      if (!this.#input.readableEnded) this.#leave();
    });
    this.#output.on("close", () => this.#leave());
    for (const stream of [this.#input, this.#output]) stream.on("error", () => this.#leave());
    if (!this.#endsProcess) return;
    for (const signal of signals) process.once(signal, this.#onSignal);
  }

  async close(): Promise<void> {
    if (this.#closing) return this.closed;
    this.#closing = true;
    // The client may still be connected, and answer questions.
    await this.#pipe.drain(this.#graceLeft());
    this.#input.pause();
    await this.#pipe.end(0);
    // A client that does not read must not keep the process alive.
    await within(this.#graceMs, this.#writer.end());
    this.#stdout.release();
    await this.#cluster.leave();
    this.#markClosed();
    if (!this.#endsProcess) return;
    for (const signal of signals) process.off(signal, this.#onSignal);
    // Without a client, neither endless handlers nor the author's timers may keep the process alive.
    process.exit();
  }

  /** The client has disconnected, so questions fail. */
  #leave(): void {
    logRejection(this.#logger, "The end of the pipe", this.#pipe.end(this.#graceLeft()));
    this.#closeLater();
  }

  #closeLater(): void {
    logRejection(this.#logger, "The end of the server", this.close());
  }

  #graceLeft(): number {
    this.#endsAt ??= performance.now() + this.#graceMs;
    return Math.max(0, Math.ceil(this.#endsAt - performance.now()));
  }
}

const signals = ["SIGTERM", "SIGINT"] as const;
