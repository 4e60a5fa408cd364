// A channel over a wire, and the transport that opens it. All messages share one pipe, so responses are matched to their requests by
// id.
import { isThenable, untilAborted } from "../../base/async/promises.ts";
import { clip, HalyardError } from "../../base/errors.ts";
import {
  encodeNotification,
  isRequestId,
  type RequestId,
  type RpcResponse,
} from "../../base/wire/message.ts";
import {
  CannotStart,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  type LossReason,
} from "../settings/errors.ts";
import type { ClientLimits } from "../settings/limits.ts";
import { printable } from "../settings/shown.ts";
import type { Channel, ChannelRequest, Receiver, Transport } from "./channel.ts";
import { answersNothing, readIncomingText, withoutKnownSecrets } from "./incoming.ts";
import type { Wire, WireSource } from "../../base/wire/wire.ts";
import { Secrets } from "../redaction/secrets.ts";

/** Why the channel carries no more messages. */
interface Loss {
  readonly reason: LossReason;
  readonly message: string;
  readonly cause: unknown;
}

/** A request whose response has not arrived. */
interface Waiting {
  readonly method: string;
  readonly resolve: (response: RpcResponse | Promise<RpcResponse>) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether the wire failed to send it, so that the server cannot have run it. */
  isUnsent: boolean;
}

/** The name of the only stream of a wire, for recordings. */
const stream = "wire";

/** How many cancelled requests are remembered, so that their late responses cause no report. */
const maxCancelled = 1000;

/** Finds the id of a response that is too long to parse, at the places where servers usually write it: the start or the end. */
const idAtStart = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/;
const idAtEnd = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

export class PipeChannel implements Channel {
  readonly #wire: Wire;
  readonly #receiver: Receiver;
  readonly #limits: ClientLimits;
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #cancelled = new Set<RequestId>();
  #loss: Loss | undefined;

  constructor(wire: Wire, receiver: Receiver, limits: ClientLimits) {
    this.#wire = wire;
    this.#receiver = receiver;
    this.#limits = limits;
    wire.onMessage = (text) => this.#read(text);
    wire.onClose = (reason) => this.#end(reason);
  }

  get isListening(): boolean {
    return this.#loss === undefined;
  }

  speak(): void {}

  async listen(): Promise<void> {}

  request(outgoing: ChannelRequest): Promise<RpcResponse> {
    return new Promise((resolve, reject) => {
      const { id, method } = outgoing;
      if (this.#loss) return reject(this.#lost(method, false));
      const waiting = { method, resolve, reject, isUnsent: false };
      this.#waiting.set(id, waiting);
      outgoing.onAbandoned = (reason) => this.#cancel(outgoing, reason);
      this.#write(outgoing.text, (error) => {
        if (isOfOne(error)) return this.#take(id)?.reject(error);
        waiting.isUnsent = isUnsentBy(error);
        void this.#giveUp(error);
      });
    });
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#lost("A message", false));
      const sent = this.#write(text, (error) => {
        if (isOfOne(error)) return reject(error);
        const mayHaveRun = !isUnsentBy(error);
        reject(
          new ConnectionLost(mayHaveRun ? "cut" : "unreachable", textOf(error), { mayHaveRun, cause: error }),
        );
        void this.#giveUp(error);
      });
      if (sent)
        sent.then(
          () => resolve(),
          () => {},
        );
      else resolve();
    });
  }

  async close(): Promise<void> {
    if (this.#loss === undefined)
      this.#lose({ reason: "closed", message: "The client was closed", cause: undefined });
    await this.#wire.close();
  }

  /** Sends a text, and calls `failed` if that fails. Returns a promise if the wire is asynchronous. */
  #write(text: string, failed: (error: unknown) => void): PromiseLike<unknown> | undefined {
    this.#receiver.tap?.("sent", stream, text);
    try {
      const sent = this.#wire.send(text);
      if (!isThenable(sent)) return undefined;
      sent.then(undefined, failed);
      return sent;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /** Ends a wire that cannot send. The wire is closed first, so that it can report a cause such as the exit code of a process. */
  async #giveUp(error: unknown): Promise<void> {
    await this.#wire.close().catch(() => {});
    this.#end(error);
  }

  #end(error: unknown): void {
    if (this.#loss) return;
    const reason =
      error instanceof ConnectionLost ? error.reason : error instanceof CannotStart ? "exited" : "cut";
    this.#lose({ reason, message: textOf(error), cause: error });
    this.#receiver.ended(this.#lost("The connection", true));
  }

  #lose(loss: Loss): void {
    this.#loss = loss;
    const waiting = [...this.#waiting.keys()];
    for (const id of waiting) {
      const request = this.#take(id);
      request?.reject(this.#lost(request.method, !request.isUnsent));
    }
  }

  #lost(what: string, mayHaveRun: boolean): ConnectionLost {
    const { reason = "cut", message = "", cause } = this.#loss ?? {};
    return new ConnectionLost(reason, `${what}: ${message}`, { mayHaveRun, cause });
  }

  /** Returns whether the text contains a message. */
  #read(text: string): boolean {
    if (this.#loss) return false;
    this.#receiver.tap?.("received", stream, text);
    let hasMessage = false;
    readIncomingText(text, this.#limits, {
      message: (message) => {
        hasMessage = true;
        this.#receiver.message(message, stream);
      },
      response: (response) => {
        hasMessage = true;
        this.#respond(response);
      },
      invalid: (problem) => this.#ignore(text, problem),
      unreadable: (problem) => this.refuse(text, problem),
    });
    return hasMessage;
  }

  #ignore(text: string, problem: string): void {
    this.#receiver.ignored(`${problem}: ${printable(clip(text))}`);
  }

  #respond(response: RpcResponse): void {
    const { id } = response;
    // A server that could not read the id of a request responds without one. If only one request waits, the response is for it.
    const [only] =
      this.#waiting.size === 1 && !isRequestId(id) && "error" in response ? this.#waiting.keys() : [id];
    const request = isRequestId(only) ? this.#take(only) : undefined;
    if (request) request.resolve(withoutKnownSecrets(response, this.#receiver.secrets));
    else if (!isRequestId(id) || !this.#cancelled.delete(id))
      this.#receiver.ignored(answersNothing(response));
  }

  /**
   * Receives an unreadable message, or the start of one that is too long. If it is the response to a request, that request fails
   * with this problem.
   */
  refuse(text: string, problem: string): void {
    const id = (idAtStart.exec(text.slice(0, 200)) ?? idAtEnd.exec(text.slice(-200)))?.[1];
    const request = id === undefined ? undefined : this.#take(Number(id));
    if (request) request.reject(new InvalidResponse(`${request.method}: ${problem}`));
    else this.#ignore(text, problem);
  }

  #take(id: RequestId): Waiting | undefined {
    const request = this.#waiting.get(id);
    if (request === undefined) return undefined;
    this.#waiting.delete(id);
    return request;
  }

  #cancel({ id, isUncancellable }: ChannelRequest, reason: unknown): void {
    const request = this.#take(id);
    if (request === undefined) return;
    if (this.#cancelled.size >= maxCancelled) this.#cancelled.clear();
    this.#cancelled.add(id);
    request.reject(reason);
    if (!isUncancellable)
      this.#write(encodeNotification("notifications/cancelled", { requestId: id }), (error) => {
        if (!isOfOne(error)) void this.#giveUp(error);
      });
  }
}

/** Whether only one message failed to send, because the server answered it with an HTTP error. The wire can carry others. */
function isOfOne(error: unknown): error is HttpFailure {
  return error instanceof HttpFailure;
}

/** Whether an error proves that the server did not receive the message. */
function isUnsentBy(error: unknown): boolean {
  return !(error instanceof ConnectionLost && error.mayHaveRun);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export class WireTransport implements Transport {
  readonly kind = "wire";
  readonly hasHeaders = false;
  readonly address = "wire";
  readonly secrets: Secrets = new Secrets();
  readonly reopens: boolean;
  readonly #source: WireSource;
  readonly #limits: ClientLimits;

  constructor(source: WireSource, limits: ClientLimits) {
    this.#source = source;
    this.#limits = limits;
    this.reopens = source.reopens ?? true;
  }

  async open(receiver: Receiver, signal: AbortSignal): Promise<Channel> {
    const opening = this.#open(receiver);
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      // If the wire opens after the failure, it is closed.
      opening.then((channel) => channel.close()).catch(() => {});
      if (signal.aborted || error instanceof HalyardError) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      throw new ConnectionLost("unreachable", `${this.address}: ${problem}`, {
        mayHaveRun: false,
        cause: error,
      });
    }
  }

  async #open(receiver: Receiver): Promise<Channel> {
    return new PipeChannel(await this.#source.openWire(), receiver, this.#limits);
  }
}
