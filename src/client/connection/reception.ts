// Receives the messages of one channel: answers the questions of a legacy server, and passes on everything else.
import { pauseInBackground } from "../../base/async/timers.ts";
import { clip, errorCodes } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  encodeResponse,
  isRequestId,
  type RequestId,
  type RpcError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { Attempts } from "../channel/backoff.ts";
import type { Channel, Receiver, Tap, Transport } from "../channel/channel.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { HttpFailure } from "../settings/errors.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import { isTransient } from "./verdicts.ts";

/** Receives what a reception passes on. */
export interface ReceptionSettings {
  readonly answers: QuestionAnswers;
  readonly tap: Tap | undefined;
  readonly backoff: Backoff;
  readonly observe: ((event: ClientEvent) => void) | undefined;
  readonly limits: Pick<ClientLimits, "maxQuestions">;
  notified(message: RpcNotification): void;
  gap(reception: Reception): void;
  ended(reception: Reception, reason: Error): void;
}

/** How often a response is sent again. */
const responseAttempts = 5;

export class Reception implements Receiver {
  readonly #settings: ReceptionSettings;
  /** The questions that are being answered. */
  readonly #asked = new Map<RequestId, AbortController>();
  /** The requests of the server whose response has not been sent: those with a handler, and as many that are refused. */
  #open = 0;
  #channel: Channel | undefined;
  #end: Error | undefined;
  /** The revision that the server speaks, or that `initialize` requests. */
  revision: Revision | undefined;
  readonly secrets: Secrets;
  /** Whether anything has arrived besides responses. */
  hasReceived = false;

  private constructor(settings: ReceptionSettings, secrets: Secrets) {
    this.#settings = settings;
    this.secrets = secrets;
  }

  static async open(
    transport: Transport,
    settings: ReceptionSettings,
    signal: AbortSignal,
  ): Promise<Reception> {
    const reception = new Reception(settings, transport.secrets);
    reception.#channel = await transport.open(reception, signal);
    return reception;
  }

  get channel(): Channel {
    if (this.#channel === undefined) throw new Error("The channel is not open yet");
    return this.#channel;
  }

  /** Why the channel has ended. */
  get end(): Error | undefined {
    return this.#end;
  }

  get tap(): Tap | undefined {
    return this.#settings.tap;
  }

  /** Ignores all further messages except responses to waiting requests. */
  retire(reason: Error): void {
    this.#end ??= reason;
    for (const controller of this.#asked.values()) controller.abort(reason);
    this.#asked.clear();
  }

  async close(): Promise<void> {
    this.retire(new Error("The client has closed the connection"));
    await this.#channel?.close().catch(() => {});
  }

  message(message: RpcRequest | RpcNotification): void {
    if (this.#end) return;
    this.hasReceived = true;
    if ("id" in message) return this.#ask(message);
    if (message.method === "notifications/cancelled" && this.revision?.era === "legacy")
      this.#cancel(message);
    this.#settings.notified(message);
  }

  ignored(reason: string): void {
    this.#settings.observe?.({ type: "ignored", reason });
  }

  gap(): void {
    if (!this.#end) this.#settings.gap(this);
  }

  stream(state: "opened" | "resumed" | "lost" | "given-up", stream: string, reason?: string): void {
    if (!this.#end) this.#settings.observe?.({ type: "stream", stream, state, reason });
  }

  ended(reason: Error): void {
    if (this.#end) return;
    this.retire(reason);
    this.#settings.ended(this, reason);
  }

  #ask(request: RpcRequest): void {
    const { id, method } = request;
    const { revision } = this;
    const { maxQuestions } = this.#settings.limits;
    // A modern client sends no responses: its server asks in results.
    if (revision?.era !== "legacy")
      this.ignored(`The request ${clip(method)}: a modern server may not send requests`);
    else if (this.#open >= 2 * maxQuestions)
      this.ignored(
        `The request ${clip(method)}: ${this.#open} others wait for their responses: raise limits.maxQuestions to answer more`,
      );
    else if (method === "ping") this.#respond({ jsonrpc: "2.0", id, result: {} });
    else if (this.#asked.has(id)) this.#reject(id, errorCodes.invalidRequest, "This id is in use");
    else if (!revision.clientRequests.has(method) && !this.#settings.answers.knows?.(method)) {
      this.#settings.observe?.({ type: "unhandled", message: "request", method: clip(method) });
      this.#reject(id, errorCodes.methodNotFound, `Unknown method: ${clip(method)}`);
    } else void this.#answer(request, revision);
  }

  async #answer({ id, method, params = {} }: RpcRequest, revision: Revision): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#asked.set(id, controller);
    this.#open++;
    try {
      const answered = await this.#settings.answers.answer({ method, params }, revision, signal);
      if (signal.aborted) return;
      if (answered.ok) this.#respond({ jsonrpc: "2.0", id, result: answered.result });
      else this.#respond({ jsonrpc: "2.0", id, error: answered.error });
    } catch {
      if (!signal.aborted) this.#reject(id, errorCodes.internal, "The client failed to answer");
    } finally {
      this.#open--;
      if (this.#asked.get(id) === controller) this.#asked.delete(id);
    }
  }

  #cancel({ params }: RpcNotification): void {
    const id = params?.["requestId"];
    if (!isRequestId(id)) return;
    this.#asked.get(id)?.abort(new Error("The server has cancelled its question"));
    this.#asked.delete(id);
  }

  #reject(id: RequestId, code: RpcError["code"], message: string): void {
    this.#respond({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #respond(response: RpcResponse): void {
    this.#open++;
    this.#send(encodeResponse(response))
      .catch((error: unknown) => this.ignored(`A response could not be sent: ${String(error)}`))
      .finally(() => void this.#open--);
  }

  /** Sends a response, again if it may not have arrived: the server waits for it, and accepts it once. */
  async #send(text: string): Promise<void> {
    const attempts = new Attempts({ ...this.#settings.backoff, maxAttempts: responseAttempts });
    for (;;) {
      try {
        return await this.#channel?.send(text);
      } catch (error) {
        const floorMs = error instanceof HttpFailure ? error.retryAfterMs : 0;
        const waitMs = isTransient(error, "http") && !this.#end ? attempts.next(floorMs) : undefined;
        if (waitMs === undefined) throw error;
        await pauseInBackground(waitMs);
      }
    }
  }
}
