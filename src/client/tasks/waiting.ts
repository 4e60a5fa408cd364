// Waits for the end of a task: polls it as often as the server wants, has its questions answered, and survives failing requests.
import { longestTimerMs } from "../../base/async/timers.ts";
import { clip, errorCodes } from "../../base/errors.ts";
import { isObject, type JsonObject, type RpcNotification } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import type { ClientCore } from "../calls/core.ts";
import { reportProgress } from "../calls/progress.ts";
import { Attempts } from "../channel/backoff.ts";
import { InvalidResponse, RpcRejection, TaskEnded } from "../settings/errors.ts";
import { printable, shownId } from "../settings/shown.ts";
import { defaultBackoff } from "../settings/limits.ts";
import { type InputParts, ResultInput, type TaskInput, UpdateInput } from "./input.ts";
import { isPassing, type ReadTask, taskHasEnded, type TaskRequests, type TaskState } from "./task.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** The shortest time between two polls, whatever the server wants. */
const leastPollMs = 100;
/** The time between two polls if the server does not say. */
const usualPollMs = 1000;
/** Each wait is longer by up to this fraction, so that clients that started together do not poll together. */
const jitter = 1 / 4;

/** A task that a caller waits for. */
export interface AwaitedTask {
  readonly tool: string;
  readonly requests: TaskRequests;
  readonly state: TaskState;
  /** When the server may forget the task, by `performance.now()`. */
  readonly expiresAt: number;
  /** The keys of the questions that were asked. */
  readonly asked: Set<string>;
  /** The token under which the server reports progress, if it is known. */
  readonly progressToken: string | number | undefined;
  /** Stores the state of the task that the server sent. */
  learn(task: ReadTask): void;
}

/** The options of waiting. */
export type WaitingOptions = Pick<CallOptions, "headers" | "timeoutMs" | "onProgress">;

/** Waits for one task, from `run` to its outcome or to `stop`. */
export class TaskWaiting {
  /** Resolves with the result of the task. Rejects with its error, or with TaskEnded. */
  readonly outcome: Promise<JsonObject>;
  readonly #task: AwaitedTask;
  readonly #core: ClientCore;
  readonly #options: InputParts["options"];
  readonly #input: TaskInput;
  readonly #over = new AbortController();
  readonly #failures = new Attempts({ ...defaultBackoff, maxAttempts: Number.POSITIVE_INFINITY });
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Shortens the current wait to that time. */
  #wakeIn: (timeMs: number) => void = () => {};

  constructor(task: AwaitedTask, core: ClientCore, answers: QuestionAnswers, options: WaitingOptions) {
    const { headers, timeoutMs, onProgress } = options;
    this.#task = task;
    this.#core = core;
    const signal = AbortSignal.any([this.#over.signal, core.closed]);
    this.#options = { signal, ...(headers && { headers }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const { promise, resolve, reject } = deferred<JsonObject>();
    const parts = {
      core,
      answers,
      requests: task.requests,
      asked: task.asked,
      options: this.#options,
      resolve,
      reject,
    };
    this.#input = core.peer.revision.tasks === "core" ? new ResultInput(parts) : new UpdateInput(parts);
    const stops = [
      core.onNotification("notifications/tasks/status", (message) => this.#hint(message)),
      core.onNotification("notifications/progress", ({ params = {} }) => {
        const isOurs = task.progressToken !== undefined && params["progressToken"] === task.progressToken;
        if (isOurs && onProgress) reportProgress(params, onProgress, task.tool, core.thrown.bind(core));
      }),
    ];
    this.outcome = promise.finally(() => {
      this.#over.abort();
      for (const stop of stops) stop();
    });
    this.#run().then(resolve, reject);
  }

  /** Stops waiting. */
  stop(): void {
    this.#over.abort();
  }

  async #run(): Promise<JsonObject> {
    const { signal } = this.#options;
    for (;;) {
      const task = await this.#look();
      if (taskHasEnded(task.state)) return this.#end(task);
      if (task.state.status === "input_required") this.#input.look(task);
      await this.#pause(pollWaitMs(task.state));
      signal.throwIfAborted();
    }
  }

  /** Requests the task, until the server responds or must have forgotten it. */
  async #look(): Promise<ReadTask> {
    for (;;) {
      this.#lookedAt = performance.now();
      try {
        const task = await this.#task.requests.get(this.#options);
        this.#failures.reset();
        this.#task.learn(task);
        return task;
      } catch (error) {
        if (!isPassing(error)) throw error;
        await this.#waitAfter(error as Error);
      }
    }
  }

  async #waitAfter(error: Error): Promise<void> {
    const { requests, expiresAt, state } = this.#task;
    if (performance.now() >= expiresAt) {
      const problem = `it has expired, and the server could not be asked before: ${error.message}`;
      throw new TaskEnded(requests.id, "expired", problem, { cause: error });
    }
    const waitMs = this.#failures.next(pollWaitMs(state)) ?? 0;
    const attempt = this.#failures.made + 1;
    this.#core.observe({ type: "retry", method: "tasks/get", attempt, waitMs, reason: error.message });
    await this.#pause(waitMs);
    this.#options.signal.throwIfAborted();
  }

  /** Requests the result, again if the connection is lost. */
  async #end(task: ReadTask): Promise<JsonObject> {
    for (;;) {
      try {
        return await this.#resultOf(task);
      } catch (error) {
        // An error response of the server is the outcome of the call.
        if (error instanceof RpcRejection || !isPassing(error)) throw error;
        await this.#waitAfter(error as Error);
      }
    }
  }

  async #resultOf({ id, state, body }: ReadTask): Promise<JsonObject> {
    const { status } = state;
    const { secrets } = this.#core;
    if (status === "cancelled") {
      const said = await secrets.clean(state.statusMessage);
      throw new TaskEnded(id, "cancelled", `it was cancelled${said ? `: ${clip(printable(said))}` : ""}`);
    }
    if (this.#core.peer.revision.tasks === "core")
      return this.#task.requests.send("tasks/result", {}, this.#options);
    const { result, error } = body;
    if (status === "failed")
      throw rejectionOf(...(await secrets.clean([error, state.statusMessage] as const)));
    if (!isObject(result)) throw new InvalidResponse(`Task ${shownId(id)} is completed, but has no result`);
    return result;
  }

  /** A notification that the task waits for input or has ended only makes the next poll happen at once. */
  #hint({ params = {} }: RpcNotification): void {
    if (params["taskId"] !== this.#task.requests.id || params["status"] === "working") return;
    this.#wakeIn(Math.max(0, this.#lookedAt + leastPollMs - performance.now()));
  }

  /** Waits for this time, or until it is woken or stopped. */
  #pause(timeMs: number): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout>;
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#wakeIn = () => {};
        resolve();
      };
      this.#wakeIn = (soonMs) => {
        clearTimeout(timer);
        timer = setTimeout(end, soonMs);
      };
      timer = setTimeout(end, timeMs);
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
    });
  }
}

function pollWaitMs({ pollIntervalMs = usualPollMs }: TaskState): number {
  return Math.min(longestTimerMs, Math.max(leastPollMs, pollIntervalMs) * (1 + Math.random() * jitter));
}

/** The error with which the task failed. */
function rejectionOf(error: unknown, statusMessage: string | undefined): RpcRejection {
  const { code, message, data } = isObject(error) ? error : {};
  return new RpcRejection({
    code: Number.isSafeInteger(code) ? (code as number) : errorCodes.internal,
    message: typeof message === "string" ? message : (statusMessage ?? "The task failed"),
    data,
  });
}

function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResult, onError) => {
    resolve = onResult;
    reject = onError;
  });
  return { promise, resolve, reject };
}
