// The process of a stdio server as a wire: one message a line on its input and output, and what it says on its standard error.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { within } from "../../async/timers.ts";
import { clip } from "../../errors.ts";
import { Fifo } from "../../wire/fifo.ts";
import { LineDecoder } from "../../wire/lines.ts";
import type { Wire } from "../../wire/wire.ts";
import { CannotStart, ConnectionLost } from "../settings/errors.ts";
import { explainSpawnError, isWindows, type Spawning } from "./node-environment.ts";
import { ProcessTree } from "./node-process-tree.ts";

/** A command to start, and the limits of what it writes. */
export interface ServerCommand extends Spawning {
  readonly args: readonly string[];
  readonly graceMs: number;
  readonly maxBytes: number;
  readonly maxStderrBytes: number;
}

/** What a server writes besides messages. */
export interface ServerOutput {
  /** A line of standard error. */
  stderr(line: string): void;
  /** A line of standard output that is not a message. */
  stray(line: string): void;
  /** A message that begins like this exceeds `maxBytes`. */
  tooLong(start: string): void;
}

/** A message is an object; in a batch, objects in an array. */
const messageStart = /^\s*(?:\[\s*)?\{/;
const brace = 0x7b;

/** How long the streams of a server may stay open once its processes have ended: what escaped may hold them. */
const drainMs = 1000;

/** How many lines of standard output that are no messages an error shows. */
const maxStray = 5;

/** Starts a server. Rejects with {@link CannotStart} if the operating system cannot start its command. */
export async function startServer(command: ServerCommand, output: ServerOutput): Promise<ServerProcess> {
  try {
    const child = spawn(command.command, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: !isWindows,
      windowsHide: true,
    });
    const server = new ServerProcess(child, command, output);
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    return server;
  } catch (error) {
    const problem = explainSpawnError(error as NodeJS.ErrnoException, command);
    const message = `Cannot start ${command.command} in ${command.cwd}: ${problem}`;
    throw new CannotStart({ ...command, stderr: "" }, message, { cause: error });
  }
}

export class ServerProcess implements Wire {
  onMessage: (text: string) => void = () => {};
  onClose: (reason: Error) => void = () => {};
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #command: ServerCommand;
  readonly #tree: ProcessTree;
  readonly #stderr: LastLines;
  readonly #stray: string[] = [];
  /** Resolves when the process has ended and its streams have closed. */
  readonly #closed: Promise<unknown>;
  #hasSpoken = false;
  #ending: Promise<void> | undefined;
  #draining: Promise<void> | undefined;

  constructor(child: ChildProcessWithoutNullStreams, command: ServerCommand, output: ServerOutput) {
    this.#child = child;
    this.#command = command;
    this.#tree = new ProcessTree(child);
    this.#stderr = new LastLines(command.maxStderrBytes);
    this.#closed = new Promise((resolve) => child.once("close", resolve));
    const end = (): void => void this.close();
    // Without a listener an error would end this process; what it means for the server is told by the end of the wire.
    child.on("error", end).on("exit", end);
    child.stdin.on("error", end);
    child.stdout.on("error", end).on("end", end);
    child.stderr.on("error", () => {});
    this.#readOutput(output);
    this.#readErrors(output);
  }

  send(text: string): void | Promise<void> {
    const { stdin } = this.#child;
    if (this.#ending || !stdin.writable) throw new Error(`${this.#command.command} takes no more input`);
    if (stdin.write(`${text}\n`)) return undefined;
    return (this.#draining ??= this.#drain());
  }

  /** Closes the input of the server, waits for it to end, and ends it by force if it does not. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child;
    stdin.end();
    await this.#tree.end(this.#command.graceMs);
    await within(drainMs, this.#closed);
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    this.onClose(this.#reason());
  }

  /** Resolves when the server has read what was written, and rejects when it ends before. */
  #drain(): Promise<void> {
    const { stdin } = this.#child;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        stdin.off("drain", settle).off("close", settle);
        this.#draining = undefined;
        if (stdin.writable) resolve();
        else reject(new Error(`${this.#command.command} ended before it read its input`));
      };
      stdin.on("drain", settle).on("close", settle);
    });
  }

  #readOutput({ stray, tooLong }: ServerOutput): void {
    const lines = new LineDecoder(this.#command.maxBytes, {
      line: (text) => {
        if (text.charCodeAt(0) === brace || messageStart.test(text)) {
          this.#hasSpoken = true;
          this.onMessage(text);
          return;
        }
        if (this.#stray.length < maxStray) this.#stray.push(clip(text));
        stray(text);
      },
      tooLong,
    });
    this.#child.stdout.on("data", (chunk: Buffer) => lines.feed(chunk)).on("end", () => lines.end());
  }

  #readErrors({ stderr }: ServerOutput): void {
    const take = (line: string): void => {
      this.#stderr.add(line);
      stderr(line);
    };
    const lines = new LineDecoder(this.#command.maxStderrBytes, {
      line: (text) => take(text.endsWith("\r") ? text.slice(0, -1) : text),
      tooLong: (start) => take(`${start}…`),
    });
    this.#child.stderr.on("data", (chunk: Buffer) => lines.feed(chunk)).on("end", () => lines.end());
  }

  /** Why the wire has ended. */
  #reason(): Error {
    const { command, cwd } = this.#command;
    const { exitCode, signalCode } = this.#child;
    const stderr = this.#stderr.toString();
    const end = signalCode ? `was ended by ${signalCode}` : `exited with code ${exitCode ?? "unknown"}`;
    const said = stderr && `\nIts last lines on standard error:\n${stderr}`;
    if (this.#hasSpoken)
      return new ConnectionLost("exited", `${command} ${end}${said}`, { mayHaveRun: true });
    const stray = this.#stray.length > 0 ? `\nIts lines on standard output:\n${this.#stray.join("\n")}` : "";
    return new CannotStart(
      { command, cwd, exitCode: exitCode ?? undefined, stderr },
      `${command} (in ${cwd}) ${end} before it sent a message${stray}${said}`,
    );
  }
}

/** The last lines of a text that does not end, within a limit of bytes. */
class LastLines {
  readonly #maxBytes: number;
  readonly #lines = new Fifo<string>();
  /** With a line break for each. */
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(text: string): void {
    // A copy: a part of a text would keep the whole piece that it arrived in.
    const line = Buffer.from(text).toString();
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
    while (this.#bytes > this.#maxBytes) this.#bytes -= Buffer.byteLength(this.#lines.shift() ?? "") + 1;
  }

  toString(): string {
    return this.#lines.slice().join("\n");
  }
}
