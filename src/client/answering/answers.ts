// Answers the server's questions with the handlers of the client's user: the same for requests of a legacy server, rounds and tasks.
import { untilAborted } from "../../async/promises.ts";
import { clip, errorCodes, InputCancelled, InputDeclined, ProtocolError } from "../../errors.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcError, rpcErrorOf } from "../../wire/message.ts";
import { InvalidResponse } from "../settings/errors.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { ConnectOptions } from "../settings/options.ts";
import { capabilitiesOf, type Handlers } from "./capabilities.ts";
import { elicitHandlers, readElicitation } from "./elicitation.ts";
import { type Question, type Reading, refused } from "./question.ts";
import { checkRoots, readRoots } from "./roots.ts";
import { readSampling, sampleHandler } from "./sampling.ts";

export type { Question } from "./question.ts";

/** The answer to a question: the result, or why there is none. */
export type Answered =
  | { readonly ok: true; readonly result: JsonObject }
  | {
      readonly ok: false;
      /** What a legacy server receives. It does not reveal what a handler threw. */
      readonly error: RpcError;
      /** What the call of a modern client rejects with: what the handler threw, or what is wrong with the question. */
      readonly cause: unknown;
    };

/** Answers questions. */
export interface Answers {
  /** The capabilities that the handlers declare, on that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  /** Never rejects. When `signal` is aborted, it resolves at once, and the answer is of no use any more. */
  answer(question: Question, revision: Revision, signal: AbortSignal): Promise<Answered>;
  /** Whether a handler is at work: limits of silence do not run out meanwhile. */
  readonly isBusy: boolean;
}

/** What answers depend on. */
export interface AnswersOptions extends Pick<
  ConnectOptions,
  "onElicit" | "onSample" | "roots" | "capabilities"
> {
  /** The server as the user dialled it: handlers show it. */
  readonly server: string;
  readonly limits: Pick<ClientLimits, "maxQuestions">;
  readonly observe: (event: ClientEvent) => void;
}

/** Throws if an option cannot work, such as a root that is not a `file://` URI. */
export function createAnswers(options: AnswersOptions): Answers {
  checkRoots(options.roots);
  return new HandlerAnswers(options);
}

class HandlerAnswers implements Answers {
  readonly #options: AnswersOptions;
  readonly #handlers: Handlers;
  /** The handlers that have not ended; one that ignores its signal counts although nobody waits for it. */
  #running = 0;
  #awaited = 0;

  constructor(options: AnswersOptions) {
    const { onElicit, onSample, roots } = options;
    this.#options = options;
    this.#handlers = { elicit: elicitHandlers(onElicit), sample: sampleHandler(onSample), roots };
  }

  get isBusy(): boolean {
    return this.#awaited > 0;
  }

  capabilities(revision: Revision): ClientCapabilities {
    return capabilitiesOf(this.#handlers, this.#options.capabilities ?? {}, revision);
  }

  async answer(question: Question, revision: Revision, signal: AbortSignal): Promise<Answered> {
    const { method } = question;
    const start = performance.now();
    const answered = await this.#answer(question, revision, signal);
    const durationMs = performance.now() - start;
    const outcome = answered.ok ? "ok" : signal.aborted ? "cancelled" : "error";
    const error = answered.ok ? undefined : answered.cause;
    this.#options.observe({ type: "question", method, durationMs, outcome, error });
    return answered;
  }

  async #answer(question: Question, revision: Revision, signal: AbortSignal): Promise<Answered> {
    const { server, limits } = this.#options;
    const reading =
      this.#running < limits.maxQuestions
        ? this.#read(question, revision)
        : refused(`The client answers ${limits.maxQuestions} questions already`, errorCodes.internal);
    if (!reading.ok) {
      const problem = `${server} sent ${clip(question.method)}, which cannot be answered: ${reading.error.message}`;
      return { ok: false, error: reading.error, cause: new InvalidResponse(problem) };
    }
    this.#running++;
    const asked = reading.ask({ signal, server }).finally(() => void this.#running--);
    this.#awaited++;
    try {
      return { ok: true, result: aboutTask(await untilAborted(asked, signal), question, revision) };
    } catch (cause) {
      return { ok: false, error: rpcErrorFor(cause), cause };
    } finally {
      this.#awaited--;
    }
  }

  #read({ method, params }: Question, revision: Revision): Reading {
    const { elicit, sample, roots } = this.#handlers;
    if (revision.clientRequests.has(method)) {
      if (method === "elicitation/create" && (elicit.form ?? elicit.url))
        return readElicitation(params, elicit, revision);
      if (method === "sampling/createMessage" && sample) return readSampling(params, sample, revision);
      if (method === "roots/list" && roots) return readRoots(roots);
    }
    return refused(`The client did not declare that it answers ${clip(method)}`, errorCodes.methodNotFound);
  }
}

/** Marks the answer to a question of a task, as 2025-11-25 demands it of every message about a task. */
function aboutTask(result: JsonObject, { params }: Question, revision: Revision): JsonObject {
  const meta = params["_meta"];
  const task = revision.tasks === "core" && isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  return task === undefined ? result : { ...result, _meta: { [metaKeys.relatedTask]: task } };
}

/** The code for a user who rejects a sampling request. */
const rejectedByUser = -1;

/** What a server sees of an exception in a handler: only what the handler means for it. */
function rpcErrorFor(error: unknown): RpcError {
  if (error instanceof ProtocolError) return rpcErrorOf(error);
  if (error instanceof InputDeclined || error instanceof InputCancelled)
    return { code: rejectedByUser, message: "The user rejected the request" };
  return { code: errorCodes.internal, message: "The client could not answer" };
}
