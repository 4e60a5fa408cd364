// The process of a stdio server as a wire: one message per line on its standard input and output, with its standard error.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { within } from "../../base/async/timers.ts";
import { clip } from "../../base/errors.ts";
import { Fifo } from "../../base/wire/fifo.ts";
import { LineDecoder } from "../../base/wire/lines.ts";
import type { Wire } from "../../base/wire/wire.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { CannotStart, ConnectionLost } from "../settings/errors.ts";
import { printable } from "../settings/shown.ts";
import { explainSpawnError, type Spawning } from "./node-environment.ts";
import { isWindows, programOf } from "./node-program.ts";
import { ProcessTree } from "./node-process-tree.ts";

/** A command to start, and the limits of its output. */
export interface ServerCommand extends Spawning {
  readonly args: readonly string[];
  readonly graceMs: number;
  readonly maxBytes: number;
  readonly maxStderrBytes: number;
}

/** Receives the output of a server besides messages. */
export interface ServerOutput {
  /** A line of standard error. */
  stderr(line: string): void;
  /** A line of standard output that is not a message. */
  stray(line: string): void;
  /** A message that begins like this exceeds `maxBytes`. */
  tooLong(start: string): void;
}

/** A message that the system has not accepted yet. */
interface Held {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** A message is an object; in a batch, objects in an array. */
const messageStart = /^\s*(?:\[\s*)?\{/;
const brace = 0x7b;

/** How many characters of waiting messages are written together: writing one at a time is slower for many concurrent calls. */
const maxTogether = 65_536;

/** How long the streams of a server may stay open after its processes have ended: a detached descendant may hold them. */
const drainMs = 1000;

const isServer = ": is it an MCP server on stdio?";

/** How many lines of standard output that are not messages an error shows. */
const maxStray = 5;

/** Starts a server. Rejects with {@link CannotStart} if the operating system cannot start its command. */
export async function startServer(
  command: ServerCommand,
  secrets: Secrets,
  output: ServerOutput,
): Promise<ServerProcess> {
  try {
    const { file, args, isVerbatim } = programOf(command);
    const child = spawn(file, args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: !isWindows(),
      windowsHide: true,
      windowsVerbatimArguments: isVerbatim,
    });
    const server = new ServerProcess(child, command, secrets, output);
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    return server;
  } catch (error) {
    const problem = explainSpawnError(error as NodeJS.ErrnoException, command);
    const message = `Cannot start ${command.command} in ${command.cwd}: ${problem}`;
    // Node adds the arguments to the error, and they may be secrets.
    delete (error as { spawnargs?: unknown }).spawnargs;
    throw new CannotStart({ ...command, stderr: "" }, message, { cause: error });
  }
}

export class ServerProcess implements Wire {
  /** Returns false for a text without a message. */
  onMessage: (text: string) => unknown = () => {};
  onClose: (reason: Error) => void = () => {};
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #command: ServerCommand;
  readonly #secrets: Secrets;
  readonly #tree: ProcessTree;
  readonly #stderr: LastLines;
  readonly #stray: string[] = [];
  readonly #lines: LineDecoder;
  /** Resolves when the process has ended and its streams have closed. */
  readonly #closed: Promise<unknown>;
  #hasSpoken = false;
  #ending: Promise<void> | undefined;
  /** How many messages were written without a callback yet, and the callbacks that wait for the last of them. */
  #unsettled = 0;
  #settle: ((error?: Error | null) => void) | undefined;
  /** The messages that wait until the system has accepted the one before. */
  readonly #held = new Set<Held>();

  constructor(
    child: ChildProcessWithoutNullStreams,
    command: ServerCommand,
    secrets: Secrets,
    output: ServerOutput,
  ) {
    this.#child = child;
    this.#command = command;
    this.#secrets = secrets;
    this.#tree = new ProcessTree(child);
    this.#stderr = new LastLines(command.maxStderrBytes);
    this.#closed = new Promise((resolve) => child.once("close", resolve));
    const end = (): void => void this.close();
    // Without a listener an error would end this process. The end of the wire reports it.
    child.on("error", end).on("exit", end);
    child.stdin.on("error", end);
    child.stdout.on("error", end).on("end", end);
    child.stderr.on("error", () => {});
    this.#lines = this.#readOutput(output);
    this.#readErrors(output);
  }

  /** Resolves when the system has accepted the message. Rejects with ConnectionLost if the server may have read it anyway. */
  send(text: string): void | Promise<void> {
    const { stdin } = this.#child;
    if (this.#ending || !stdin.writable) throw this.#unread();
    const isFree = this.#held.size === 0 && stdin.writableLength === 0;
    if (isFree) return this.#write([text]);
    return new Promise((resolve, reject) => void this.#held.add({ text, resolve, reject }));
  }

  /**
   * Writes messages to the process, which may read them from then on even if the rest fails. Throws if the system refuses them at
   * once, because the input is closed.
   */
  #write(texts: readonly string[]): void | Promise<void> {
    const { stdin } = this.#child;
    this.#unsettled += texts.length;
    if (texts.length > 1) stdin.cork();
    for (const text of texts) stdin.write(`${text}\n`, this.#written);
    if (texts.length > 1) stdin.uncork();
    if (stdin.errored) throw this.#unread();
    if (stdin.writableLength === 0) return undefined;
    return new Promise((resolve, reject) => {
      this.#settle = (error) => {
        if (error) return reject(this.#halfRead(error));
        resolve();
        this.#writeHeld();
      };
    });
  }

  /** One callback for all messages: a stream calls it for many at once, and no message is written after one that takes time. */
  readonly #written = (error?: Error | null): void => {
    this.#unsettled--;
    if (!error && this.#unsettled > 0) return;
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(error);
  };

  #writeHeld(): void {
    const { stdin } = this.#child;
    while (this.#held.size > 0 && stdin.writable && stdin.writableLength === 0) {
      const together = this.#takeHeld();
      const write = async (): Promise<void> => this.#write(together.map(({ text }) => text));
      write().then(
        () => together.forEach(({ resolve }) => resolve()),
        (error: Error) => together.forEach(({ reject }) => reject(error)),
      );
    }
  }

  /** The next message, and the following ones that are small enough to be written with it. */
  #takeHeld(): readonly Held[] {
    const taken: Held[] = [];
    let length = 0;
    for (const held of this.#held) {
      length += held.text.length;
      if (taken.length > 0 && length > maxTogether) break;
      taken.push(held);
      this.#held.delete(held);
    }
    return taken;
  }

  /** Closes the input of the server, waits for it to end, and kills it if it does not. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child;
    for (const { reject } of this.#held) reject(this.#unread());
    this.#held.clear();
    stdin.end();
    await this.#tree.end(this.#command.graceMs);
    await within(drainMs, this.#closed);
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    this.onClose(this.#reason(await this.#texts()));
  }

  /** The output of the server besides messages, as errors show it. */
  async written(): Promise<string> {
    const said = this.#hasSpoken ? "" : `; it sent no message${isServer}`;
    return `${said}${quoted(await this.#texts())}`;
  }

  async #texts(): Promise<Texts> {
    const { unfinished } = this.#lines;
    const lines = [this.#stderr.toString(), ...this.#stray, ...(unfinished && [`${unfinished}…`])];
    // Cleaned one by one, because the redactor looks for a cut-off secret at the end of each text.
    const [stderr = "", ...stray] = await this.#secrets.clean(lines.map(printable));
    return { stderr, stray: stray.join("\n") };
  }

  #unread(): Error {
    return new Error(`${this.#command.command} takes no more input`);
  }

  #halfRead(cause: Error): ConnectionLost {
    const message = `${this.#command.command} ended before it read its input`;
    return new ConnectionLost("exited", message, { mayHaveRun: true, cause });
  }

  #readOutput({ stray, tooLong }: ServerOutput): LineDecoder {
    const lines = new LineDecoder(this.#command.maxBytes, {
      line: (text) => {
        const mayBeMessage = text.charCodeAt(0) === brace || messageStart.test(text);
        if (mayBeMessage && this.onMessage(text) !== false) this.#hasSpoken = true;
        else {
          if (this.#stray.length < maxStray) this.#stray.push(clip(text));
          if (!mayBeMessage) stray(text);
        }
      },
      tooLong,
    });
    this.#child.stdout.on("data", (chunk: Buffer) => lines.feed(chunk)).on("end", () => lines.end());
    return lines;
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

  /** The error for the end of the wire, with the output of the server. */
  #reason({ stderr, stray }: Texts): Error {
    const { command, cwd } = this.#command;
    const { exitCode, signalCode } = this.#child;
    const end = signalCode ? `was ended by ${signalCode}` : `exited with code ${exitCode ?? "unknown"}`;
    if (this.#hasSpoken)
      return new ConnectionLost("exited", `${command} ${end}${quoted({ stderr, stray: "" })}`, {
        mayHaveRun: true,
      });
    return new CannotStart(
      { command, cwd, exitCode: exitCode ?? undefined, stderr },
      `${command} (in ${cwd}) ${end} before it sent a message${this.#hint(stderr)}${quoted({ stderr, stray })}`,
    );
  }

  /** Advice for a program that is not a server, or for TypeScript that Node cannot run. */
  #hint(stderr: string): string {
    const { command, args } = this.#command;
    const script = args.find((arg) => /\.[cm]?[jt]sx?$/.test(arg));
    if (this.#child.exitCode === 0) return script ? `: does ${script} call serveStdio()?` : isServer;
    if (args.some((arg) => /^(?:~\/|\$\{?\w)/.test(arg)))
      return ": nothing replaces ~ and variables in args: pass the values";
    const isTypeScript = /\bnode(?:\.exe)?$/.test(command) && args.some((arg) => /\.[cm]?tsx?$/.test(arg));
    if (!isTypeScript || !/SyntaxError|ERR_UNKNOWN_FILE_EXTENSION|ERR_UNSUPPORTED/.test(stderr)) return "";
    return ': node cannot run this TypeScript file: pass { command: "npx", args: ["tsx", …] }';
  }
}

/** The output of a server besides messages, without secrets. */
interface Texts {
  /** The last lines. */
  readonly stderr: string;
  /** The first lines of standard output. */
  readonly stray: string;
}

function quoted({ stderr, stray }: Texts): string {
  const printed = stray && `\nIts first lines on standard output, which may carry only messages:\n${stray}`;
  return `${printed}${stderr && `\nIts last lines on standard error:\n${stderr}`}`;
}

/** Keeps the last lines of an endless text, within a limit of bytes. */
class LastLines {
  readonly #maxBytes: number;
  readonly #lines = new Fifo<string>();
  /** Counts a line break for each. */
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(text: string): void {
    // Copied, because a slice would keep the whole piece in memory that it arrived in.
    const line = Buffer.from(text).toString();
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
    while (this.#bytes > this.#maxBytes) this.#bytes -= Buffer.byteLength(this.#lines.shift() ?? "") + 1;
  }

  toString(): string {
    return this.#lines.slice().join("\n");
  }
}
