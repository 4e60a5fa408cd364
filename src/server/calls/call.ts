// One request being answered.
import { ignoreRejection } from "../../async/promises.ts";
import type {
  AskOptions,
  Elicited,
  Root,
  Sampled,
  SampleOptions,
  SamplingMessage,
  UrlAskOptions,
} from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import {
  type ClientCapabilities,
  type Implementation,
  isLogged,
  type LogLevel,
  type Principal,
} from "../../protocol/model.ts";
import { logMessage, protocolNotifications } from "../../protocol/notifications.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import type { Grant } from "../../protocol/scopes.ts";
import type { Asks } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { AnySchema, Validated } from "../../schema/compile.ts";
import {
  encodeNotification,
  isShortId,
  type JsonObject,
  type RequestId,
  type RpcRequest,
  type RpcResponse,
} from "../../wire/message.ts";
import type { Features } from "../catalogue/features.ts";
import { type Exchange, grantOf, type Peer } from "../context/connection.ts";
import type { Context } from "../context/context.ts";
import type { Settings } from "../settings/settings.ts";
import { askClient } from "./ask-client.ts";
import type { Conversation, OwnTask, PendingAnswer, Reply } from "./call-parts.ts";

const noMeta: JsonObject = {};
const unknownPeer: Peer = {
  revision: undefined,
  clientInfo: undefined,
  clientCapabilities: {},
  logLevel: undefined,
};

/** What a call needs of its server. */
export interface CallCore {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly features: Features;
  readonly hub: Hub;
  readonly asks: Asks;
  readonly asking: { converse(call: Call): Conversation };
}

/** One request being answered. Handlers see it as a {@link Context}; what they may not need is made on first use. */
export class Call implements Context {
  readonly core: CallCore;
  request: RpcRequest;
  exchange: Exchange;
  peer: Peer;
  /** The revision that the request is answered under. */
  readonly protocol: Revision;
  readonly row: RequestRow;
  /** What its definition asks of a caller; whoever is asked something for it needs the same. */
  readonly scopes: readonly string[] | undefined;
  endListen: (() => void) | undefined;
  cancelled = false;
  #finished = false;
  #pending: PendingAnswer | undefined;
  #task: OwnTask | undefined;
  #beginTask: (() => Promise<void>) | undefined;
  #conversation: Conversation | undefined;
  #controller: AbortController | undefined;
  #questions: AbortController | undefined;
  #whyNoAnswers: string | undefined;
  #added: Set<string> | undefined;
  #cancelReason: string | undefined;
  #onCancel: (() => void) | undefined;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #reportedAt: number | undefined;
  #startingTask: Promise<void> | undefined;

  constructor(
    core: CallCore,
    request: RpcRequest,
    exchange: Exchange,
    peer: Peer & { readonly revision: Revision },
    row: RequestRow,
    scopes?: readonly string[],
  ) {
    this.core = core;
    this.request = request;
    this.exchange = exchange;
    this.peer = peer;
    this.protocol = peer.revision;
    this.row = row;
    this.scopes = scopes;
  }

  get id(): RequestId {
    return this.request.id;
  }

  get method(): string {
    return this.request.method;
  }

  get params(): JsonObject {
    return this.request.params ?? noMeta;
  }

  get meta(): JsonObject {
    return (this.request.params?.["_meta"] as JsonObject | undefined) ?? noMeta;
  }

  get revision(): string {
    return this.protocol.date;
  }

  get client(): Implementation | undefined {
    return this.peer.clientInfo;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.peer.clientCapabilities;
  }

  get session(): string | undefined {
    return this.protocol.era === "legacy" ? this.exchange.connection.session : undefined;
  }

  get principal(): Principal | undefined {
    return this.exchange.principal ?? this.exchange.connection.principal;
  }

  /** What the caller may use. */
  get grant(): Grant {
    return grantOf(this.exchange);
  }

  get transport(): string {
    return this.exchange.connection.transport;
  }

  get headers(): Exchange["headers"] {
    return this.exchange.headers;
  }

  get address(): string | undefined {
    return this.exchange.address;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.cancelled) this.#abort();
    }
    return this.#controller.signal;
  }

  /** Aborts when nobody waits for an answer to its questions any more; the reason is why, in words. */
  get askSignal(): AbortSignal {
    this.#questions ??= new AbortController();
    if (this.#whyNoAnswers !== undefined) this.#questions.abort(this.#whyNoAnswers);
    return this.#questions.signal;
  }

  /** Gives up the questions that are still open: the client need not answer them. */
  stopAsking(reason = "The call that asked has ended"): void {
    this.#whyNoAnswers ??= reason;
    this.#questions?.abort(reason);
  }

  /** The client no longer wants an answer: none is sent, and nothing else either. */
  cancel(reason: string): void {
    this.cancelled = true;
    this.#cancelReason = reason;
    this.#onCancel?.();
    this.#abort();
    this.stopAsking("The call that asked was cancelled");
  }

  /** Stops the handler, whose answer has been given for it: the client still gets one. */
  abort(reason: DOMException): void {
    // Made even if nobody has asked for the signal yet, for the handler may do so later.
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }

  /** The parameters have been read: a call that stays open need not keep them, nor what its client says there of itself. */
  forgetParams(): void {
    this.request = { jsonrpc: "2.0", id: this.id, method: this.method };
    this.peer = unknownPeer;
    this.exchange.load?.empty();
  }

  /** Calls back when the call is cancelled; an `AbortSignal` would weigh more than everything else about an idle call. */
  onCancel(callback: () => void): void {
    this.#onCancel = callback;
  }

  ask(method: string, params?: object, options: { readonly timeoutMs?: number } = {}): Promise<JsonObject> {
    return ignoreRejection(askClient(this, method, params, options.timeoutMs ?? 60_000));
  }

  /** Its questions and answers; most calls have none. */
  get conversation(): Conversation {
    return (this.#conversation ??= this.core.asking.converse(this));
  }

  /** Whether its questions have answered it: what becomes of this run of the handler is of no matter. */
  get hasAsked(): boolean {
    return this.#conversation?.hasEndedCall ?? false;
  }

  unfinishedWork(): Promise<void> | undefined {
    return this.#conversation?.hasEndedCall ? this.#conversation.idle() : undefined;
  }

  get inputResponses(): { readonly [key: string]: JsonObject } | undefined {
    return this.#conversation?.inputResponses;
  }

  requestState<T>(): T | undefined {
    return this.#conversation?.requestState<T>();
  }

  elicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<S extends URL ? void : Validated<S>> {
    return ignoreRejection(this.conversation.elicit(message, asked, options));
  }

  tryElicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<Elicited<S extends URL ? undefined : Validated<S>>> {
    return ignoreRejection(this.conversation.tryElicit(message, asked, options));
  }

  sample(messages: string | readonly SamplingMessage[], options?: SampleOptions): Promise<Sampled> {
    return ignoreRejection(this.conversation.sample(messages, options));
  }

  roots(options?: AskOptions): Promise<readonly Root[]> {
    return ignoreRejection(this.conversation.roots(options));
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return ignoreRejection(this.conversation.once(key, work));
  }

  startTask(): Promise<boolean> {
    return ignoreRejection(this.#startTask());
  }

  /** Dispatch will answer the call when its handler ends, unless {@link Call.answerNow} does before. */
  waitsFor(pending: PendingAnswer): void {
    this.#pending = pending;
  }

  /** Whether it can still be answered before its handler ends. */
  get canAnswerNow(): boolean {
    return this.#pending?.isAnswered === false && !this.cancelled;
  }

  /**
   * Answers the call before its handler ends: with questions, or with a task that goes on. `later` gets the response that the
   * handler comes to in the end; without it, what the handler still does is ignored.
   */
  answerNow(reply: Reply | Promise<Reply>, later?: (response: RpcResponse) => void): void {
    this.#pending?.answerNow(reply, later);
  }

  /** The handler decides when the call becomes a task: `ctx.startTask()` calls `begin`, once. */
  mayStartTask(begin: () => Promise<void>): void {
    this.#beginTask = begin;
  }

  /** Takes the call out of its connection and its stream: it goes on as a task, and a client that goes away does not cancel it. */
  continueAs(task: OwnTask): void {
    const { connection, era, principal, headers, address } = this.exchange;
    connection.inFlight.delete(this);
    this.exchange = { connection, era, principal, headers, address };
    this.#task = task;
  }

  /** The task that the call goes on as. */
  get taskId(): string | undefined {
    return this.#task?.id;
  }

  /** The call has been answered. A task is no longer a matter of its connection, and goes on asking. */
  finish(): void {
    this.#finished = true;
    if (this.#task !== undefined) return;
    this.exchange.connection.inFlight.delete(this);
    this.stopAsking();
  }

  progress(progress: number, total?: number, message?: string): void {
    if (this.#task !== undefined && Number.isFinite(progress)) {
      this.#task.report(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`));
    }
    const progressToken = this.meta["progressToken"];
    if (!isShortId(progressToken) || !Number.isFinite(progress) || progress <= this.#lastProgress) return;
    this.#lastProgress = progress;
    const known = Number.isFinite(total) ? total : undefined;
    const params = { progressToken, progress, total: known, message };
    this.#send("notifications/progress", encodeShape(params, "progress", this.protocol));
    if (this.exchange.connection.sharesPipe) this.#reportedAt = performance.now();
  }

  /**
   * Whether its last report may have to travel with its answer. A second is long, but while the loop is blocked nothing
   * leaves, and to wait in vain costs two milliseconds.
   */
  get hasJustReported(): boolean {
    return this.#reportedAt !== undefined && performance.now() - this.#reportedAt < 1000;
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogged(level, this.peer.logLevel) || !this.core.features.has("logging")) return;
    this.#send(logMessage, { level, logger, data: data ?? null });
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    if (typeof method !== "string" || method === "" || protocolNotifications.has(method)) {
      throw new TypeError(
        `ctx.notify cannot send ${method}, which belongs to the protocol: use a name of your own`,
      );
    }
    this.#send(method, params);
    return Promise.resolve();
  }

  closeStream(): void {
    if (!this.#finished && !this.cancelled) this.exchange.stream?.pause?.();
  }

  /** Adds what middleware gives to later middleware and to the handler. */
  extend(added: object): void {
    for (const [name, value] of Object.entries(added)) {
      if (name in this && !this.#added?.has(name)) {
        throw new TypeError(`Middleware cannot replace ctx.${name}: choose another name`);
      }
      (this.#added ??= new Set()).add(name);
      Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
    }
  }

  async #startTask(): Promise<boolean> {
    if (this.#task === undefined) await (this.#startingTask ??= this.#beginTask?.());
    return this.#task !== undefined;
  }

  #abort(): void {
    this.#controller?.abort(new DOMException(this.#cancelReason, "AbortError"));
  }

  /** Progress and logs may be lost to a slow reader: waiting for it would cost memory without a bound. */
  #send(method: string, params?: object): void {
    if (this.#task !== undefined) return this.#task.send(method, params ?? {});
    const { stream } = this.exchange;
    if (stream === undefined || stream.congested || this.row.stream) return;
    if (this.#finished || this.cancelled) return;
    try {
      stream.write(encodeNotification(method, params));
    } catch (error) {
      this.core.settings.logger.warn(`${method} cannot be written as JSON, and was not sent`, { error });
    }
  }
}
