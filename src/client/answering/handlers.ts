// Answers the server's questions with the handlers that the user of the client passed.
import { untilAborted } from "../../base/async/promises.ts";
import {
  clip,
  ConfigurationError,
  errorCodes,
  InputCancelled,
  InputDeclined,
  ProtocolError,
} from "../../base/errors.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import {
  isObject,
  isRequestId,
  type JsonObject,
  type RpcError,
  rpcErrorOf,
} from "../../base/wire/message.ts";
import { sizeOf } from "../../base/wire/size.ts";
import { InvalidResponse } from "../settings/errors.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { ConnectOptions } from "../settings/options.ts";
import { elicitCapability, elicitHandlers, type ElicitHandlers, readElicitation } from "./elicitation.ts";
import {
  type Answered,
  mistake,
  type QuestionAnswers,
  type QuestionReading,
  refused,
  type ServerQuestion,
  tooManyBytes,
} from "./question.ts";
import { readSampling, sampleCapability, sampleHandler, type SampleHandler } from "./sampling.ts";
import { mismatch } from "../../base/kinds.ts";
import type { Root } from "../../protocol/asking.ts";
import type { RootsOption } from "../settings/handlers.ts";

/** The options of the client that answers depend on. */
export interface AnswersOptions extends Pick<
  ConnectOptions,
  "onElicit" | "onSample" | "roots" | "onRequest" | "tasks" | "capabilities"
> {
  /** The server as the user dialled it, for handlers to show. */
  readonly server: string;
  readonly limits: Pick<ClientLimits, "maxQuestions" | "maxQuestionBytes">;
  /** If undefined, errors of handlers for legacy servers are printed, because no call rejects with them. */
  readonly observe: ((event: ClientEvent) => void) | undefined;
}

/** The handlers of one client. */
export class Handlers {
  readonly #options: AnswersOptions;
  readonly #elicit: ElicitHandlers;
  readonly #sample: SampleHandler | undefined;
  /** The handlers that have not ended. A handler that ignores its aborted signal still counts. */
  #running = 0;
  #awaited = 0;
  readonly #hold: QuestionAnswers["hold"];

  constructor(options: AnswersOptions, hold: QuestionAnswers["hold"]) {
    const { onElicit, onSample, roots } = options;
    checkRoots(roots);
    this.#options = options;
    this.#hold = hold;
    this.#elicit = elicitHandlers(onElicit);
    this.#sample = sampleHandler(onSample);
  }

  /** Whether a question waits for a handler. */
  get areBusy(): boolean {
    return this.#awaited > 0;
  }

  /** The capabilities that the client declares for these handlers. */
  capabilities(revision: Revision): ClientCapabilities {
    const { roots } = this.#options;
    const elicitation = elicitCapability(this.#elicit, revision);
    return {
      ...(elicitation && { elicitation }),
      ...(this.#sample && { sampling: sampleCapability(this.#sample, revision) }),
      ...(roots && { roots: revision.era === "legacy" ? { listChanged: true } : {} }),
    };
  }

  async answer(question: ServerQuestion, revision: Revision, signal: AbortSignal): Promise<Answered> {
    const { method } = question;
    const start = performance.now();
    const answered = await this.#answer(question, revision, signal);
    const durationMs = performance.now() - start;
    const outcome = answered.ok ? "ok" : signal.aborted ? "cancelled" : "error";
    const error = answered.ok ? undefined : answered.cause;
    const { observe } = this.#options;
    if (observe) observe({ type: "question", method: clip(method), durationMs, outcome, error });
    else if (!answered.ok && answered.isFault && revision.era === "legacy")
      console.warn(`The handler of ${clip(method)} failed:`, error);
    return answered;
  }

  async #answer(question: ServerQuestion, revision: Revision, signal: AbortSignal): Promise<Answered> {
    const { server } = this.#options;
    const reading = this.#admit(question, revision);
    if (!reading.ok) {
      const problem = `${server} sent ${clip(question.method)}, which cannot be answered: ${reading.error.message}`;
      return { ok: false, error: reading.error, cause: new InvalidResponse(problem) };
    }
    const asked = reading.ask({ signal, server });
    this.#awaited++;
    try {
      return { ok: true, result: aboutTask(await untilAborted(asked, signal), question, revision) };
    } catch (cause) {
      const error = rpcErrorFor(cause);
      return { ok: false, error, cause, isFault: error === failed && !signal.aborted };
    } finally {
      this.#awaited--;
    }
  }

  /** Reads a question if there is room for it, and counts it until its handler has ended. */
  #admit(question: ServerQuestion, revision: Revision): QuestionReading {
    const { maxQuestions, maxQuestionBytes } = this.#options.limits;
    if (this.#running >= maxQuestions)
      return refused(`The client answers ${maxQuestions} questions already`, errorCodes.internal);
    const reading = this.#read(question, revision);
    if (!reading.ok) return reading;
    const release = this.#hold(sizeOf(question.params));
    if (release === undefined) return refused(tooManyBytes(maxQuestionBytes), errorCodes.internal);
    this.#running++;
    const end = (): void => {
      this.#running--;
      release();
    };
    return { ok: true, ask: (context) => reading.ask(context).finally(end) };
  }

  #read({ method, params }: ServerQuestion, revision: Revision): QuestionReading {
    const elicit = this.#elicit;
    const sample = this.#sample;
    const { roots, onRequest = {} } = this.#options;
    const custom = Object.hasOwn(onRequest, method) ? onRequest[method] : undefined;
    if (custom)
      return { ok: true, ask: async (context) => checkedResult(method, await custom(params, context)) };
    if (revision.clientRequests.has(method)) {
      if (method === "elicitation/create" && (elicit.form ?? elicit.url))
        return readElicitation(params, elicit, revision);
      if (method === "sampling/createMessage" && sample) return readSampling(params, sample, revision);
      if (method === "roots/list" && roots) return readRoots(roots);
    }
    return refused(`The client did not declare that it answers ${clip(method)}`, errorCodes.methodNotFound);
  }
}

function checkedResult(method: string, result: unknown): JsonObject {
  if (!isObject(result)) throw mistake(`onRequest["${method}"]`, "it must be an object");
  return result;
}

/** Marks the answer to a question of a task, as 2025-11-25 demands it of every message about a task. */
function aboutTask(result: JsonObject, { params }: ServerQuestion, revision: Revision): JsonObject {
  const meta = params["_meta"];
  const task = revision.tasks === "core" && isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  const taskId = isObject(task) ? task["taskId"] : undefined;
  return isRequestId(taskId) ? { ...result, _meta: { [metaKeys.relatedTask]: { taskId } } } : result;
}

/** The code for a user who rejects a sampling request. */
const rejectedByUser = -1;

const failed: RpcError = { code: errorCodes.internal, message: "The client could not answer" };

/** The error that a server receives for an exception in a handler. Only a `ProtocolError` has its own message. */
function rpcErrorFor(error: unknown): RpcError {
  if (error instanceof ProtocolError) return rpcErrorOf(error);
  if (error instanceof InputDeclined || error instanceof InputCancelled)
    return { code: rejectedByUser, message: "The user rejected the request" };
  return failed;
}

/** Throws if roots given as a list are invalid: then no answer could ever be sent. */
function checkRoots(option: RootsOption | undefined): void {
  if (option === undefined || typeof option === "function") return;
  const problem = rootsProblem(option);
  if (problem !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "roots" }, problem);
}

function readRoots(option: RootsOption): QuestionReading {
  return {
    ok: true,
    ask: async (): Promise<JsonObject> => {
      const roots = typeof option === "function" ? await option() : option;
      const problem = rootsProblem(roots);
      if (problem !== undefined) throw mistake("roots", problem);
      return { roots };
    },
  };
}

/** A segment that leads out of a folder, however it is written. */
const upwards = /[/\\](?:\.|%2e){2}(?:[/\\]|$)/i;

function rootsProblem(roots: readonly Root[]): string | undefined {
  const isList = Array.isArray(roots) && roots.every((root) => typeof Object(root).uri === "string");
  if (!isList) return mismatch('a list such as [{ uri: "file:///home/ada" }]', roots);
  const wrong = (roots as readonly (Root | null)[]).find((root) => !isFolder(root?.uri));
  if (wrong === undefined) return undefined;
  return `has the URI ${JSON.stringify(wrong?.uri)}: use an absolute file:// URI without ".." segments`;
}

function isFolder(uri: unknown): boolean {
  return typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri) && !upwards.test(uri);
}
