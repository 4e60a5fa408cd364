// One pipe that carries every message of a peer, both ways: what stdio, the in-memory pair and sockets have in common.
import { errorCodes } from "../errors.ts";
import type { Principal } from "../protocol/model.ts";
import { assertPrincipal } from "../protocol/principal.ts";
import { Callbacks } from "../async/callbacks.ts";
import type { Stream } from "../push/listener.ts";
import { Connection, type Exchange } from "../server/context/connection.ts";
import { peerOf } from "../diagnostics/events.ts";
import { RateLimitedLog } from "../diagnostics/rate-limited-log.ts";
import { internalError } from "../diagnostics/error-ids.ts";
import type { Detach } from "../server/calls/attach.ts";
import type { SessionEnd } from "../server/calls/notifications.ts";
import type { ServerPort } from "../server/port.ts";
import { parseJson } from "../wire/json.ts";
import {
  encodeNotification,
  type Incoming,
  isBatch,
  isSilent,
  isSilentMessage,
  type RpcError,
} from "../wire/message.ts";
import { within } from "../async/timers.ts";

/** Where a pipe's messages go. */
export interface PipeOutput {
  /** Writes one message. False: taken, but nothing more should come until {@link Pipe.drained}. */
  write(text: string): boolean;
  /** Ends the pipe, because the reader is too slow. */
  destroy(reason: string): void;
}

/** How a {@link Pipe} behaves. */
export interface PipeOptions {
  /** The name of the transport. */
  readonly transport: string;
  /** Who is at the other end, where the transport knows. */
  readonly principal?: Principal | undefined;
  /**
   * Whether the other end is the user whom this process works for. Without a principal it may use every definition; any other
   * peer without one is refused those that name `scopes`. @default {false}
   */
  readonly peerIsUser?: boolean | undefined;
  /** Whether the reader may be pushed what needs these scopes. @default {if `principal` has them} */
  readonly permits?: ((scopes: readonly string[]) => boolean) | undefined;
  /** Who a peer without a principal counts as where callers share a limit, such as its address. @default {the pipe itself} */
  readonly caller?: string | undefined;
  /** Called when {@link Pipe.receive} answered false and more may come now. */
  readonly onResume?: (() => void) | undefined;
  /** Called with what went wrong in a call, and the id that the client is given in its place. */
  readonly onFailure?: ((errorId: string, error: unknown) => void) | undefined;
}

/** What goes with one message. */
export interface ReceiveOptions extends Pick<Exchange, "principal" | "checkedScopes" | "load"> {
  /** Called when it has been answered, or needs no answer. */
  readonly onDone?: (() => void) | undefined;
}

const noOptions: ReceiveOptions = {};

const receiveOptions: readonly string[] = [
  "principal",
  "checkedScopes",
  "load",
  "onDone",
] satisfies readonly (keyof ReceiveOptions)[];

/** A principal that went unread would be nobody: the mistake must show at the first message. */
function assertReceiveOptions(options: object): void {
  const unknown =
    Object.keys(options).find((field) => !receiveOptions.includes(field)) ??
    (["issuer", "subject"] as const).find((field) => field in options);
  if (unknown === undefined) return;
  const remedy = "pass who sent the message as { principal }, not the principal itself";
  throw new TypeError(`receive() has no option "${unknown}", only ${receiveOptions.join(", ")}: ${remedy}`);
}

/**
 * Serves one peer over a pipe: give it each message that arrives, and it writes those that go out.
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
    assertPrincipal(options.principal, "The principal of a pipe");
    this.connection = new Connection({
      transport: options.transport,
      session: crypto.randomUUID(),
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
   * Takes one message: its text or, where the transport has parsed it, what `readIncoming` says of it, with the `load` that it
   * weighs. False: it was taken, but nothing more should come until `onResume`. Throws for options that it does not know, such
   * as a principal that is not in an object.
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

  /** A message was too long to be read. */
  refuseLong(maxBytes: number): void {
    const message = `The message is larger than ${maxBytes} bytes`;
    const error = { code: errorCodes.invalidRequest, message };
    const event = { type: "refusal", errorCode: error.code, reason: message } as const;
    this.#server.observe?.({ ...event, ...peerOf(this.connection) });
    this.#writeError(error);
  }

  /** The output has room again. */
  drained(): void {
    this.#congested = false;
    this.#drains.call();
    this.#resume();
  }

  /**
   * Ends the pipe, because the peer is gone: nothing more is taken, nobody can be asked any more, running calls may finish
   * within `graceMs`, and what still runs then is cancelled.
   */
  end(graceMs: number, reason: SessionEnd = "left"): Promise<void> {
    return (this.#ending ??= this.#end(graceMs, reason));
  }

  /**
   * Prepares for the end while the peer is still there: no request is taken any more, subscriptions get their closing
   * result, and running calls may finish within `graceMs`, with the answers to what they ask. {@link Pipe.end} comes next.
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

  /** Whether a message asks for no reply: a server that ends takes no more requests. */
  #isSilent(message: string | Incoming): boolean {
    if (typeof message !== "string") return !isBatch(message) && isSilentMessage(message);
    const parsed = parseJson(message, this.#server.limits);
    return parsed.ok && isSilent(parsed.value);
  }

  /** Never rejects: nobody waits for it. */
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
      // From here on a legacy peer knows what it will be told; before, a notification would overtake the reply.
      const isAgreedNow = !wasAgreed && this.connection.revision !== undefined;
      if (isAgreedNow && !this.#draining) this.#detach ??= this.#server.attach(this.connection, this.#stream);
    } catch (error) {
      // Something is wrong with the server itself; others in this process must not feel it.
      this.#writeError(this.#failure("A message could not be answered", error));
    } finally {
      if (--this.#running === 0 && this.#draining) this.#idles.call();
      if (onDone !== undefined) this.#tryOut(onDone);
    }
  }

  /** Runs what the author of the transport gave, and must not throw. */
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

  /** An error that answers no request in particular. */
  #writeError(error: RpcError): void {
    const unreadable = this.connection.revision?.unreadableId === "null" ? { id: null } : {};
    this.#write(JSON.stringify({ jsonrpc: "2.0", ...unreadable, error }));
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
    try {
      this.#congested = !this.#output.write(text) || this.#congested;
    } catch (error) {
      // One peer that is gone must not fail the call, or keep others from being told.
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

  /** Resolves when every reply has been written. */
  #idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) resolve();
      else this.#idles.add(resolve);
    });
  }
}
