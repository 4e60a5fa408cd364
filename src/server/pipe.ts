// Serves a peer over one pipe for all messages in both directions: stdio, the in-memory pair, HTTP+SSE and sockets use it.
import { newIdOn } from "../cluster/node/cluster.ts";
import { errorCodes } from "../base/errors.ts";
import { func, type Known } from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import type { Principal } from "../protocol/model.ts";
import { assertPrincipal } from "../protocol/principal.ts";
import { Callbacks } from "../base/async/callbacks.ts";
import type { Stream } from "./push/listener.ts";
import { Connection, type Exchange, knownConnection } from "./context/connection.ts";
import { peerOf, type SessionEnd } from "./diagnostics/events.ts";
import { RateLimitedLog } from "../base/logging/rate-limited-log.ts";
import { internalError } from "../base/logging/logger.ts";
import type { Detach } from "./calls/attach.ts";
import type { ServerPort } from "./calls/port.ts";
import { parseJson } from "../base/wire/json.ts";
import {
  encodeNotification,
  type Incoming,
  isBatch,
  isSilent,
  isSilentMessage,
  type RpcError,
} from "../base/wire/message.ts";
import { within } from "../base/async/timers.ts";

/** Sends the messages of a pipe. */
export interface PipeOutput {
  /** Writes one message. Return false if the reader is behind, and call {@link Pipe.drained} when it has caught up. */
  write(text: string): boolean;
  /** Closes the pipe, because the reader is too slow. */
  destroy(reason: string): void;
}

/** Options of a {@link Pipe}. */
export interface PipeOptions {
  /** The name of the transport. */
  readonly transport: string;
  /** The peer's principal, if the transport knows it. */
  readonly principal?: Principal | undefined;
  /**
   * Whether the peer is the user that this process works for. Such a peer may use every definition without a principal; any other
   * peer without one cannot use definitions that have `scopes`. @default {false}
   */
  readonly peerIsUser?: boolean | undefined;
  /** Returns whether the reader may get pushes that require these scopes. @default {if `principal` has them} */
  readonly permits?: ((scopes: readonly string[]) => boolean) | undefined;
  /** The key that limits count a peer without a principal for, such as its address. @default {the pipe itself} */
  readonly caller?: string | undefined;
  /** Called when you may call {@link Pipe.receive} again after it returned false. */
  readonly onResume?: (() => void) | undefined;
  /**
   * Called with the error of a failed call, and the error id that the client gets instead. The default logger does not write these
   * errors then; a `logger` of the author still receives them.
   */
  readonly onFailure?: ((errorId: string, error: unknown) => void) | undefined;
}

// Bundlers can leave out reads of members that are not used, and cannot leave out a pattern.
const knownOptions: Known<PipeOptions> = {
  transport: knownConnection.transport,
  principal: knownConnection.principal,
  peerIsUser: knownConnection.peerIsUser,
  caller: knownConnection.caller,
  onFailure: knownConnection.onFailure,
  permits: func,
  onResume: func,
};

/** Options of {@link Pipe.receive}. */
export interface ReceiveOptions extends Pick<Exchange, "principal" | "checkedScopes" | "load"> {
  /** Called when the message has been answered, or needs no answer. */
  readonly onDone?: (() => void) | undefined;
}

const noOptions: ReceiveOptions = {};

const receiveOptions: readonly string[] = [
  "principal",
  "checkedScopes",
  "load",
  "onDone",
] satisfies readonly (keyof ReceiveOptions)[];

/** Throws for an unknown option: a principal passed in its place would be ignored silently. */
function assertReceiveOptions(options: object): void {
  const unknown =
    Object.keys(options).find((field) => !receiveOptions.includes(field)) ??
    (["issuer", "subject"] as const).find((field) => field in options);
  if (unknown === undefined) return;
  const remedy = "pass the sender as { principal }, not the principal itself";
  throw new TypeError(`receive() has no option "${unknown}", only ${receiveOptions.join(", ")}: ${remedy}`);
}

/**
 * Serves one peer over a pipe: pass each message that arrives to `receive`, and it writes messages to its output.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { Pipe, portOf } from "halyard/transport";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * const pipe = new Pipe(
 *   portOf(server),
 *   { write: (text) => (console.error(text), true), destroy: () => {} },
 *   { transport: "example" },
 * );
 * pipe.receive('{"jsonrpc":"2.0","id":1,"method":"ping"}');
 * await pipe.end(1000);
 * ```
 */
export class Pipe {
  readonly connection: Connection;
  readonly #server: ServerPort;
  readonly #output: PipeOutput;
  readonly #stream: Stream;
  readonly #exchange: Exchange;
  readonly #drains = new Callbacks();
  readonly #losses = new Callbacks();
  readonly #onResume: () => void;
  readonly #idles = new Callbacks();
  #detach: Detach | undefined;
  #running = 0;
  #congested = false;
  #paused = false;
  #draining = false;
  #ending: Promise<void> | undefined;

  constructor(server: ServerPort, output: PipeOutput, options: PipeOptions) {
    checkOptions({ subject: "Pipe" }, options, knownOptions);
    assertPrincipal(options.principal, "The principal of a pipe");
    this.connection = new Connection({
      transport: options.transport,
      session: newIdOn(server.cluster),
      principal: options.principal,
      peerIsUser: options.peerIsUser,
      caller: options.caller,
      sharesPipe: true,
      onFailure: options.onFailure,
    });
    this.#server = server;
    this.#output = output;
    this.#stream = this.#openStream(options);
    this.#exchange = { connection: this.connection, stream: this.#stream };
    this.#onResume = options.onResume ?? (() => {});
  }

  /**
   * Accepts one message: its text or, if the transport has parsed it, the value of `readIncoming` with its `load`. Returns false if
   * the reader is behind: pass no more until `onResume` is called. Throws for unknown options.
   */
  receive(message: string | Incoming, options: ReceiveOptions = noOptions): boolean {
    if (options !== noOptions) assertReceiveOptions(options);
    const { principal, onDone } = options;
    assertPrincipal(principal, "The principal of a message");
    const isTaken = !this.#draining || this.#isSilent(message);
    if (this.#ending !== undefined || !isTaken) {
      onDone?.();
      return this.#ending === undefined;
    }
    this.#running++;
    const exchange = options === noOptions ? this.#exchange : { ...this.#exchange, ...options, principal };
    void this.#answer(message, exchange, onDone);
    this.#paused = this.#congested;
    return !this.#paused;
  }

  /** Refuses a message that was too long to read. */
  refuseLong(maxBytes: number): void {
    const message = `The message is larger than ${maxBytes} bytes`;
    const error = { code: errorCodes.invalidRequest, message };
    const event = { type: "refusal", errorCode: error.code, reason: message } as const;
    this.#server.observe?.({ ...event, ...peerOf(this.connection) });
    this.#writeError(error);
  }

  /** Call this when the output has room again. */
  drained(): void {
    this.#congested = false;
    this.#drains.call();
    this.#resume();
  }

  /**
   * Ends the pipe, because the peer has disconnected. It accepts no more messages, and questions fail. Running calls may finish
   * within `graceMs`; after that they are cancelled.
   */
  end(graceMs: number, reason: SessionEnd = "left"): Promise<void> {
    return (this.#ending ??= this.#end(graceMs, reason));
  }

  /**
   * Prepares to end while the peer is still connected. It accepts no more requests, subscriptions get their closing result, and
   * running calls may finish within `graceMs`, with the answers to their questions. Call {@link Pipe.end} next.
   */
  async drain(graceMs: number, reason: SessionEnd = "shutdown"): Promise<void> {
    const isFirst = !this.#draining;
    this.#draining = true;
    const told = this.#detach?.(reason);
    this.#detach = undefined;
    const ended = isFirst ? this.connection.endSubscriptions() : [];
    await within(graceMs, Promise.all([this.#idle(), told]));
    for (const requestId of ended) {
      this.#write(
        encodeNotification("notifications/cancelled", { requestId, reason: "The server is shutting down" }),
      );
    }
  }

  async #end(graceMs: number, reason: SessionEnd): Promise<void> {
    this.#losses.finish();
    await this.drain(graceMs, reason);
    this.connection.inFlight.cancelAll("The connection has ended");
  }

  /** Whether a message expects no response; a draining pipe accepts only those. */
  #isSilent(message: string | Incoming): boolean {
    if (typeof message !== "string") return !isBatch(message) && isSilentMessage(message);
    const parsed = parseJson(message, this.#server.limits);
    return parsed.ok && isSilent(parsed.value);
  }

  /** Never rejects, since nothing awaits it. */
  async #answer(
    message: string | Incoming,
    exchange: Exchange,
    onDone: (() => void) | undefined,
  ): Promise<void> {
    const wasAgreed = this.connection.revision !== undefined;
    try {
      const isText = typeof message === "string";
      const answer = await (isText
        ? this.#server.handleRaw(message, exchange)
        : this.#server.answer(message, exchange));
      const response = typeof answer === "object" ? this.#server.encode(answer) : answer;
      if (response !== undefined) this.#write(response);
      // Attach after the reply to `initialize`, so that no notification overtakes it.
      const isAgreedNow = !wasAgreed && this.connection.revision !== undefined;
      if (isAgreedNow && !this.#draining) this.#detach ??= this.#server.attach(this.connection, this.#stream);
    } catch (error) {
      // A failure of the server itself, which must not end the process.
      this.#writeError(this.#failure("A message could not be answered", error));
    } finally {
      if (--this.#running === 0 && this.#draining) this.#idles.call();
      if (onDone !== undefined) this.#tryOut(onDone);
    }
  }

  /** Runs a callback of the transport, and logs what it throws. */
  #tryOut(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#failure("A transport failed", error);
    }
  }

  #failure(what: string, error: unknown): RpcError {
    return internalError(RateLimitedLog.of(this.#server.logger), what, error);
  }

  /** Writes an error that belongs to no request. */
  #writeError(error: RpcError): void {
    this.#write(JSON.stringify({ jsonrpc: "2.0", id: this.connection.revision?.unreadableId, error }));
  }

  #openStream({ permits }: PipeOptions): Stream {
    const isCongested = (): boolean => this.#congested;
    const stream: Stream = {
      get congested() {
        return isCongested();
      },
      write: (text) => this.#write(text),
      onDrain: (callback) => this.#drains.add(callback),
      onLost: (callback) => this.#losses.add(callback),
      destroy: (reason) => this.#tryOut(() => this.#output.destroy(reason)),
      ...(permits && {
        forScopes: (scopes) => (scopes.length === 0 || permits(scopes) ? stream : undefined),
      }),
    };
    return stream;
  }

  #write(text: string): boolean {
    this.connection.follower?.wrote(text);
    try {
      this.#congested = !this.#output.write(text) || this.#congested;
    } catch (error) {
      // A disconnected peer must neither fail the call nor prevent pushes to other peers.
      this.#congested = true;
      this.#tryOut(() => this.#output.destroy(`The output failed: ${String(error)}`));
    }
    return !this.#congested;
  }

  #resume(): void {
    if (!this.#paused || this.#congested) return;
    this.#paused = false;
    this.#onResume();
  }

  /** Resolves when no call is running. */
  #idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) resolve();
      else this.#idles.add(resolve);
    });
  }
}
