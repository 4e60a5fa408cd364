// One request while the server handles it.
import { clip, type HalyardError } from "../../base/errors.ts";
import { ignoreRejection } from "../../base/async/promises.ts";
import { warnOfLevel, warnUnwritable } from "../diagnostics/warnings.ts";
import { type Kind, plainObject, problemOf, text } from "../../base/kinds.ts";
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
import { type Implementation, isLogged, isLogLevel, type LogLevel } from "../../protocol/model.ts";
import { logMessage, protocolNotifications } from "../../protocol/notifications.ts";
import type { RequestRow, Revision } from "../../protocol/revision.ts";
import type { Asks } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import type { AnySchema, Validated } from "../../protocol/schema/compile.ts";
import {
  encodeNotification,
  isRequestId,
  type JsonObject,
  type RpcRequest,
  type RpcResponse,
} from "../../base/wire/message.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Features } from "../catalogue/features.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import type { Exchange, Peer } from "../context/connection.ts";
import type { Context } from "../context/context.ts";
import { refuseNames } from "../../base/refused-names.ts";
import type { Settings } from "../settings/settings.ts";
import { askClient } from "./ask-client.ts";
import type { Conversation, OwnTask, PendingAnswer, Reply } from "./call-parts.ts";
import { CallRequest } from "./call-request.ts";
import { logData } from "./log-data.ts";
import { otherContextNames, otherLogNames } from "./other-context-names.ts";
import { waysToSend } from "./ways-to-send.ts";

const anyNumber: Kind<number> = {
  is: (value) => typeof value === "number",
  mustBe: "a number",
  remedy: () => "",
};

/** The parts of the server that a call uses. */
export interface CallCore {
  readonly info: Implementation;
  readonly settings: Settings;
  readonly features: Features;
  readonly hub: Hub;
  readonly asks: Asks;
  readonly catalogue: Catalogue;
  /** As in `Asking`, which knows calls. */
  readonly asking: {
    converse(call: Call): Conversation;
    refusalOf(error: unknown, call: Call): HalyardError | undefined;
  };
  /** The `_meta` of every modern result, by revision. */
  readonly serverMetas: Map<Revision, JsonObject>;
}

/** One request while the server answers it. Handlers see it as a {@link Context}. Rarely used members are created lazily. */
export class Call extends CallRequest implements Context {
  /** The names of other packages, which middleware may add. */
  static #foreign: object;
  readonly core: CallCore;
  endListen: (() => void) | undefined;
  /** The tool that it runs, from the moment that it was found. */
  tool: CompiledTool | undefined;
  /** What its handler threw, and the error id that the client gets for it. */
  failed: { readonly error: unknown; readonly errorId?: string } | undefined;
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
  /** The questions that the handler may still await. */
  #open: Set<string> | undefined;
  #lastProgress: number | undefined;
  #reportedAt: number | undefined;

  static {
    Call.#foreign = refuseNames(CallRequest.prototype, otherContextNames);
    // A bound function has the prototype of the function that it binds.
    refuseNames(this.prototype.log, otherLogNames);
    bindMethods(
      this.prototype,
      "elicit tryElicit sample roots once requestState startTask ask progress log notify closeStream",
    );
  }

  constructor(
    core: CallCore,
    request: RpcRequest,
    exchange: Exchange,
    peer: Peer & { readonly revision: Revision },
    row: RequestRow,
    scopes?: readonly string[],
  ) {
    super(request, exchange, peer, row, scopes);
    this.core = core;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.cancelled) this.#abort();
    }
    return this.#controller.signal;
  }

  /** Aborts when the call no longer needs answers to its questions. Its reason is a text that says why. */
  get askSignal(): AbortSignal {
    this.#questions ??= new AbortController();
    if (this.#whyNoAnswers !== undefined) this.#questions.abort(this.#whyNoAnswers);
    return this.#questions.signal;
  }

  /** Withdraws the open questions. */
  stopAsking(reason = "The call that asked has ended"): void {
    this.#whyNoAnswers ??= reason;
    this.#questions?.abort(reason);
  }

  get cancelled(): boolean {
    return this.#cancelReason !== undefined;
  }

  /** Cancels the call: the client gets no response and no further notifications. */
  cancel(reason: string): void {
    this.#cancelReason = reason;
    this.#onCancel?.();
    this.#abort();
    this.stopAsking("The call that asked was cancelled");
  }

  /** Aborts `ctx.signal` without cancelling the call: the client still gets a response. */
  abort(reason: DOMException): void {
    // Create the controller now: the handler may read ctx.signal later.
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }

  /** Calls `callback` when the call is cancelled; an `AbortSignal` would take more memory than the rest of an idle call. */
  onCancel(callback: () => void): void {
    this.#onCancel = callback;
  }

  ask(method: string, params?: object, options: { readonly timeoutMs?: number } = {}): Promise<JsonObject> {
    return ignoreRejection(askClient(this, method, params, options.timeoutMs ?? 60_000));
  }

  /** Its questions and answers, created at the first question. */
  get conversation(): Conversation {
    return (this.#conversation ??= this.core.asking.converse(this));
  }

  /** Whether its questions are its response, so that the result of this run of the handler is ignored. */
  get hasAsked(): boolean {
    return this.#conversation?.hasEndedCall ?? false;
  }

  /** Whether the result of the handler was the response, so that it can ask no more. */
  get hasEnded(): boolean {
    return this.#finished && !this.#task && !this.hasAsked && !this.cancelled;
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
    return this.#awaited("elicit", this.conversation.elicit(message, asked, options), message);
  }

  tryElicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<Elicited<S extends URL ? undefined : Validated<S>>> {
    return this.#awaited("tryElicit", this.conversation.tryElicit(message, asked, options), message);
  }

  sample(messages: string | readonly SamplingMessage[], options?: SampleOptions): Promise<Sampled> {
    return this.#awaited("sample", this.conversation.sample(messages, options));
  }

  roots(options?: AskOptions): Promise<readonly Root[]> {
    return this.#awaited("roots", this.conversation.roots(options));
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return ignoreRejection(this.conversation.once(key, work));
  }

  startTask(): Promise<boolean> {
    if (this.tool && this.tool.task === undefined) {
      const remedy = 'set task: { starts: "handler" } in its definition';
      throw new TypeError(
        `ctx.startTask(): tool "${String(this.params["name"])}" never runs as a task: ${remedy}`,
      );
    }
    return ignoreRejection(this.#startTask());
  }

  /** Dispatch responds when the handler ends, unless {@link Call.answerNow} responds before. */
  waitsFor(pending: PendingAnswer): void {
    this.#pending = pending;
  }

  /** Whether {@link Call.answerNow} can still respond. */
  get canAnswerNow(): boolean {
    return this.#pending?.isAnswered === false && !this.cancelled;
  }

  /**
   * Responds before the handler ends: with questions, or with a task. `later` receives the response that the handler produces
   * in the end. Without `later`, that response is ignored. If the call already has its response, a function is not called.
   */
  answerNow(reply: Reply | (() => Promise<Reply>), later?: (response: RpcResponse) => void): void {
    this.#pending?.answerNow(reply, later);
  }

  /** Lets the handler turn the call into a task: `ctx.startTask()` calls `begin`, once. */
  mayStartTask(begin: () => Promise<void>): void {
    let begun: Promise<void> | undefined;
    this.#beginTask = () => (begun ??= begin());
  }

  /** Detaches the call from its connection and stream. It continues as a task, even if the client disconnects. */
  continueAs(task: OwnTask): void {
    const { connection, era, principal, headers, address } = this.exchange;
    connection.inFlight.delete(this);
    this.exchange = { connection, era, principal, headers, address };
    this.#task = task;
  }

  /** The id of the task that the call continues as. */
  get taskId(): string | undefined {
    return this.#task?.id;
  }

  /** Called when the response is ready. A task stays open for questions; any other call withdraws them. */
  finish(): void {
    this.#finished = true;
    if (this.#task) return;
    this.exchange.connection.inFlight.delete(this);
    this.stopAsking();
  }

  /** A question that the handler has not awaited, if there is one. */
  get openQuestion(): string | undefined {
    return this.#open?.values().next().value;
  }

  #awaited<T>(member: string, answer: Promise<T>, message: unknown = ""): Promise<T> {
    const shown = typeof message === "string" && message !== "" ? JSON.stringify(clip(message)) : "";
    const question = `ctx.${member}(${shown})`;
    const open = (this.#open ??= new Set()).add(question);
    const settled = (): void => void open.delete(question);
    answer.then(settled, settled);
    return ignoreRejection(answer);
  }

  progress(progress: number, total?: number, message?: string): void {
    const check = (name: string, kind: Kind, value: unknown): void => {
      const problem = value === undefined ? undefined : problemOf(kind, value);
      if (problem) throw new TypeError(`ctx.progress(progress, total, message): ${name} ${problem}`);
    };
    check("progress", anyNumber, progress ?? null);
    check("total", anyNumber, total);
    check("message", text, message);
    if (Number.isNaN(progress))
      this.core.settings.logger.warn("ctx.progress: progress is NaN, and is not sent");
    if (this.#task && Number.isFinite(progress)) {
      this.#task.report(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`));
    }
    const progressToken = this.meta["progressToken"];
    const last = this.#lastProgress ?? Number.NEGATIVE_INFINITY;
    if (!isRequestId(progressToken) || !Number.isFinite(progress) || progress <= last) return;
    this.#lastProgress = progress;
    const known = Number.isFinite(total) ? total : undefined;
    const params = { progressToken, progress, total: known, message };
    this.#send("notifications/progress", encodeShape(params, "progress", this.protocol));
    if (this.exchange.connection.sharesPipe) this.#reportedAt = performance.now();
  }

  /**
   * Whether the last progress report may still be unsent. A blocked event loop delays it, so the window is a whole second;
   * waiting needlessly costs only two milliseconds.
   */
  get hasJustReported(): boolean {
    return this.#reportedAt !== undefined && performance.now() - this.#reportedAt < 1000;
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    if (!isLogLevel(level)) return warnOfLevel(this.core.settings.logger, "ctx.log", level);
    if (!isLogged(level, this.peer.logLevel) || !this.core.features.has("logging")) return;
    const sent = logData(this.core.settings.logger, "ctx.log", data);
    if (sent !== undefined) this.#send(logMessage, { level, logger, data: sent });
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    const wrong = problemOf(text, method);
    const unfit = params === undefined ? undefined : problemOf(plainObject, params);
    if (wrong ?? unfit) {
      const problem = wrong === undefined ? `params ${unfit}` : `method ${wrong}`;
      throw new TypeError(`ctx.notify(method, params): ${problem}`);
    }
    if (method === "" || protocolNotifications.has(method)) {
      const way = waysToSend.get(method);
      const remedy = way === undefined ? "choose a name of your own" : `use ${way}`;
      throw new TypeError(`ctx.notify cannot send ${method}, which belongs to the protocol: ${remedy}`);
    }
    this.#send(method, params);
    return Promise.resolve();
  }

  closeStream(): void {
    if (!this.#finished && !this.cancelled) this.exchange.stream?.pause?.();
  }

  /** Adds the members that middleware passes to `next` to the context. */
  extend(added: object): void {
    for (const [name, value] of Object.entries(added)) {
      const isTaken = name in this && !(this.#added?.has(name) ?? Object.hasOwn(Call.#foreign, name));
      if (isTaken) {
        throw new TypeError(
          name === "method" && "params" in added
            ? "next() takes members to add to ctx, not the request: call next()"
            : `Middleware cannot replace ctx.${name}: choose another name`,
        );
      }
      (this.#added ??= new Set()).add(name);
      Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
    }
  }

  async #startTask(): Promise<boolean> {
    if (!this.#task) await this.#beginTask?.();
    return this.#task !== undefined;
  }

  #abort(): void {
    this.#controller?.abort(new DOMException(this.#cancelReason, "AbortError"));
  }

  /** Drops the message if the reader is slow: a queue of progress and log messages would grow without bound. */
  #send(method: string, params?: object): void {
    if (this.#task) return this.#task.send(method, params ?? {});
    const { stream } = this.exchange;
    if (!stream || stream.congested || this.row.stream) return;
    if (this.#finished || this.cancelled) return;
    try {
      stream.write(encodeNotification(method, params));
    } catch (error) {
      warnUnwritable(this.core.settings.logger, method, error);
    }
  }
}

/** Binds methods to their object when they are first read, so that a handler can take them apart: `(args, { log }) => …`. */
function bindMethods(prototype: object, names: string): void {
  for (const name of names.split(" ")) {
    const method = (prototype as Record<string, () => unknown>)[name] as () => unknown;
    Object.defineProperty(prototype, name, {
      get(this: object) {
        const value = method.bind(this);
        Object.defineProperty(this, name, { value, configurable: true });
        return value;
      },
      configurable: true,
    });
  }
}
