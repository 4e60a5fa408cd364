// Sends a request until it has an outcome: again after a loss or a refusal, and in rounds of questions.
import type { Filled } from "../../base/options.ts";
import type { Implementation, LogLevel } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Ending } from "../../base/async/ending.ts";
import { errorCodes } from "../../base/errors.ts";
import { later } from "../../base/async/later.ts";
import { untilAborted } from "../../base/async/promises.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { backoffPause } from "../channel/backoff.ts";
import type { Channel } from "../channel/channel.ts";
import type { ServerConnection } from "../connection/connection.ts";
import type { HeaderFields } from "../settings/auth.ts";
import { ConnectionLost, HttpFailure, InvalidResponse, RpcRejection } from "../settings/errors.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { Backoff, ClientLimits } from "../settings/limits.ts";
import { failingOf, mayRepeat, Tries } from "./attempts.ts";
import { SentCall } from "./call.ts";
import type { CallTimes, CoreRequestOptions } from "./core.ts";
import { ProgressRoutes } from "./progress.ts";
import { RequestText } from "./request-text.ts";
import { isUrlRequired, resultOf } from "./results.ts";
import type { CallSettings } from "../settings/call-options.ts";

/** The settings that all requests of a client share. */
export interface SenderSettings extends Filled<CallSettings> {
  readonly info: Implementation;
  readonly limits: ClientLimits;
  readonly backoff: Backoff;
  readonly observe: ((event: ClientEvent) => void) | undefined;
  /** Returns a number that no request of this client has used as its id. */
  readonly takeId: () => number;
}

const questions = later(
  () => import("../answering/questions.ts"),
  (module) => module,
);

const explanations = later(
  () => import("./rejections.ts"),
  (module) => module.explained,
);

/** The codes of rejections that a missing capability may explain. */
const explainedCodes: ReadonlySet<number> = new Set([
  errorCodes.methodNotFound,
  errorCodes.missingClientCapability,
]);

export class Sender {
  /** Put into each modern request: the lowest level of log messages that the server sends about it. */
  logLevel: LogLevel | undefined;
  readonly #connection: ServerConnection;
  readonly #answers: QuestionAnswers;
  readonly #settings: SenderSettings;
  readonly #closing: Ending;
  readonly #text: RequestText;
  readonly #progress: ProgressRoutes;
  /** The calls that wait between attempts or for answers, not for a response. */
  readonly #waiting = new Set<SentCall>();
  #inFlight = 0;

  /** After `closing` is over, the sender sends nothing more. */
  constructor(
    connection: ServerConnection,
    answers: QuestionAnswers,
    settings: SenderSettings,
    closing: Ending,
  ) {
    this.#connection = connection;
    this.#answers = answers;
    this.#settings = settings;
    this.#closing = closing;
    this.#text = new RequestText(settings.info, answers);
    this.#progress = new ProgressRoutes(settings.observe);
    connection.onNotification("notifications/progress", ({ params }) => this.#progress.receive(params ?? {}));
  }

  /** Resolves with the result; rejects with the errors of settings/errors.ts, or the reason of the caller's signal. */
  async send(
    method: string,
    params: JsonObject | undefined,
    options: CoreRequestOptions,
  ): Promise<JsonObject> {
    const call = this.#begin(method, params, options);
    try {
      for (let round = 1; ; round++) {
        const result = await this.#attempt(call);
        if (!this.#isQuestion(result) || options.inputRequired === "return") {
          this.#report(call, "ok");
          return result;
        }
        call.params = await this.#wait(call, this.#nextRound(call, params, result, round));
      }
    } catch (error) {
      const failure = await this.#outcomeOf(call, error);
      this.#report(call, options.signal?.aborted ? "cancelled" : "error", failure);
      throw failure;
    } finally {
      this.#inFlight--;
      this.#progress.remove(call.id);
      call.finish();
    }
  }

  /** Converts a failure to the error that the caller receives. */
  async #outcomeOf(call: SentCall, error: unknown): Promise<unknown> {
    if (error instanceof ConnectionLost) return lossOf(call, error);
    const isExplained =
      error instanceof RpcRejection && explainedCodes.has(error.code) && !call.options.verbatim;
    if (!isExplained) return error;
    return (await explanations.get())(error, call.what, call.method, this.#connection.peer);
  }

  /** Answers the questions of a result, and returns the parameters of the next round. */
  async #nextRound(
    call: SentCall,
    params: JsonObject | undefined,
    result: JsonObject,
    round: number,
  ): Promise<JsonObject> {
    const { limits } = this.#settings;
    if (round > limits.maxRounds) throw tooManyRounds(call, limits);
    const { answerRound, nextParams } = await questions.get();
    const { revision } = this.#connection.peer;
    return nextParams(params, await answerRound(result, this.#answers, revision, call.signal, limits, round));
  }

  /** Ends the calls that wait between attempts or for answers. The connection ends those that wait for a response. */
  close(): void {
    for (const call of this.#waiting) call.abandon(this.#closing.reason);
  }

  #begin(method: string, params: JsonObject | undefined, options: CoreRequestOptions): SentCall {
    const { limits } = this.#settings;
    this.#closing.throwIfOver();
    if (options.signal?.aborted) throw options.signal.reason;
    if (this.#inFlight >= limits.maxInFlight) throw tooManyInFlight(method, limits);
    this.#inFlight++;
    return new SentCall(method, params, options, this.timesOf(options), this.#answers, this.#connection);
  }

  timesOf(options: CallSettings | undefined): CallTimes {
    const { timeoutMs, maxTimeMs } = this.#settings;
    return { timeoutMs: options?.timeoutMs ?? timeoutMs, maxTimeMs: options?.maxTimeMs ?? maxTimeMs };
  }

  /** Sends a call until it has a result. Rejects with the error that is its outcome. */
  async #attempt(call: SentCall): Promise<JsonObject> {
    for (;;) {
      let channel: Channel | undefined;
      if (call.end !== undefined) throw call.end.reason;
      try {
        channel = this.#connection.channel ?? (await this.#wait(call, this.#connection.ready(call.signal)));
        this.#prepare(call);
        const response = await channel.request(call);
        call.sign();
        const result = resultOf(call, response, this.#connection.peer.revision, this.#answers);
        this.#connection.answered(channel);
        return result;
      } catch (error) {
        await this.#recover(call, channel, channel && !this.#closing.isOver ? replaced(error) : error);
      }
    }
  }

  /** Gives a call a new id, text and headers for its next attempt. */
  #prepare(call: SentCall): void {
    const { revision, hasHeaders } = this.#connection.peer;
    const { options } = call;
    if (call.hasToken) this.#progress.remove(call.id);
    call.id = (call.attempts === 0 ? options.verbatim?.id : undefined) ?? this.#settings.takeId();
    call.attempts++;
    call.onAbandoned = undefined;
    call.text = this.#text.write(revision, call, options.logLevel ?? this.logLevel);
    if (call.hasToken) this.#progress.add(call);
    if (hasHeaders) call.mirrored = mirroredOf(call, revision);
    options.onSent?.(call.id);
  }

  /** Waits until a call can be sent again. Throws if the failure is the outcome of the call. */
  async #recover(call: SentCall, channel: Channel | undefined, error: unknown): Promise<void> {
    if (call.end !== undefined) throw call.end.reason;
    if (channel === undefined || this.#closing.isOver) throw call.loss ?? error;
    if (call.options.verbatim) throw error;
    if (isUrlRequired(error, this.#connection.peer.revision) && call.options.inputRequired !== "return")
      return this.#pausing(call, this.#visitPages(call, error));
    const isMisjudged = this.#connection.failed(channel, error);
    const failing = failingOf(error) ?? (isMisjudged ? "misjudged" : undefined);
    if (failing === undefined || call.isStream) throw error;
    const { backoff, observe } = this.#settings;
    call.tries ??= new Tries(backoff);
    const waitMs = call.tries.nextWait(failing, error instanceof HttpFailure ? error.retryAfterMs : 0);
    if (waitMs === undefined || waitMs >= call.leftMs || !(await this.#mayRepeat(call, error))) throw error;
    const { message: reason } = error as Error;
    observe?.({ type: "retry", method: call.method, attempt: call.attempts + 1, waitMs, reason });
    if (waitMs > 0) await this.#pausing(call, backoffPause(waitMs, call.signal));
  }

  /** Whether a call may be sent again, although the server may have run it. */
  async #mayRepeat(call: SentCall, error: unknown): Promise<boolean> {
    if (!(error instanceof ConnectionLost && error.mayHaveRun)) return true;
    call.loss = error;
    const { method, options } = call;
    const reissue = options.reissue ?? this.#settings.reissue;
    return this.#wait(call, Promise.resolve(mayRepeat(method, reissue, options.isRepeatable)));
  }

  async #visitPages(call: SentCall, rejection: RpcRejection): Promise<void> {
    const { timeoutMs, limits } = this.#settings;
    const { RequiredUrls } = await questions.get();
    call.signal.throwIfAborted();
    call.urls ??= new RequiredUrls({
      answers: this.#answers,
      revision: this.#connection.peer.revision,
      limits,
      signal: call.signal,
      onNotification: (...listener) => this.#connection.onNotification(...listener),
      waitMs: call.options.timeoutMs ?? timeoutMs,
    });
    await call.urls.next(rejection);
  }

  /** Waits for `work`, or until the call ends early. */
  async #wait<T>(call: SentCall, work: Promise<T>): Promise<T> {
    this.#waiting.add(call);
    try {
      return await untilAborted(work, call.signal);
    } finally {
      this.#waiting.delete(call);
    }
  }

  /** Like `#wait`, but the time does not count as silence of the server. */
  async #pausing(call: SentCall, work: Promise<void>): Promise<void> {
    call.isPaused = true;
    await this.#wait(call, work);
    call.isPaused = false;
    call.sign();
  }

  #isQuestion(result: JsonObject): boolean {
    return result["resultType"] === "input_required" && this.#connection.peer.revision.era === "modern";
  }

  #report(call: SentCall, outcome: "ok" | "error" | "cancelled", error?: unknown): void {
    const { method, name, attempts } = call;
    const { observe } = this.#settings;
    if (observe === undefined) return;
    const durationMs = performance.now() - call.startedAt;
    observe({ type: "request", method, name, durationMs, outcome, attempts, error });
  }
}

/** Over HTTP, the headers that repeat parts of the message. */
function mirroredOf(call: SentCall, revision: Revision): HeaderFields | undefined {
  const { mirrored } = call.options;
  const mirrors = revision.requests.get(call.method)?.mirrors;
  const name = mirrors === undefined ? undefined : call.params?.[mirrors];
  return typeof name === "string" ? { ...mirrored, "mcp-name": encodeHeaderValue(name) } : mirrored;
}

/** Names the request in the error for a lost connection, and says whether the server may have run it. */
function lossOf(call: SentCall, error: ConnectionLost): ConnectionLost {
  const mayHaveRun = error.mayHaveRun || call.loss !== undefined;
  const outcome = mayHaveRun
    ? "The server may have run it: check before you send it again"
    : "The server did not run it";
  const advice = error.reason === "closed" ? ". Await your calls before you close the client" : "";
  const problem = error.message.replace(`${call.method}: `, "");
  return new ConnectionLost(error.reason, `${call.what}: ${problem}${advice}. ${outcome}`, {
    mayHaveRun,
    cause: error,
  });
}

/** Converts the error of a channel that was closed while the client is open: the connection has replaced it. */
function replaced(error: unknown): unknown {
  if (!(error instanceof ConnectionLost && error.reason === "closed")) return error;
  const { mayHaveRun } = error;
  return new ConnectionLost("cut", "The connection was replaced by another one", {
    mayHaveRun,
    cause: error,
  });
}

function tooManyInFlight(method: string, { maxInFlight }: ClientLimits): RangeError {
  return new RangeError(
    `${method}: ${maxInFlight} requests wait for their responses: send fewer at once, or raise limits.maxInFlight`,
  );
}

function tooManyRounds(call: SentCall, { maxRounds }: ClientLimits): InvalidResponse {
  return new InvalidResponse(
    `${call.what}: the server asked again after ${maxRounds} answers: raise limits.maxRounds if it needs more`,
  );
}
