// The handle of a task for the user of a client, in the same or another process.
import { ignoreRejection, untilAborted } from "../../base/async/promises.ts";
import { longestTimerMs } from "../../base/async/timers.ts";
import { type RefusedNames, refuseNames } from "../../base/refused-names.ts";
import type { CallToolResult } from "../settings/received.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import type { ServerCatalogue } from "../catalogue/catalogue.ts";
import { beginBudget } from "../channel/channel.ts";
import { checkCallback } from "../settings/arguments.ts";
import { checkCallOptions } from "../settings/checks.ts";
import { CallTimeout, TaskEnded } from "../settings/errors.ts";
import {
  knownTaskOptions,
  type ReadTask,
  taskHasEnded,
  type TaskOptions,
  TaskRequests,
  type TaskState,
} from "./task.ts";
import { type AwaitedTask, TaskWaiting } from "./waiting.ts";
import type { CallOptions } from "../settings/call-options.ts";

/** A task as JSON, with which any client of the same server and user can continue it. */
export interface StoredTask {
  readonly tool: string;
  /** Missing if the server returned the result at once. */
  readonly id?: string | undefined;
  /** When the server may forget the task, in milliseconds since 1970; missing if never. */
  readonly expiresAt?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
  /** The result, if the server returned it at once. */
  readonly result?: JsonObject | undefined;
}

/**
 * A call that runs as a task. `client.startTask` returns one, and `client.task` one that was stored.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "reports", version: "1.0.0" });
 * server.tool("write_report", { task: "optional" }, () => "A report");
 * const client = await connect(server, { tasks: true });
 * const task = await client.startTask("write_report");
 * const stored = JSON.stringify(task); // another process can continue with await client.task(JSON.parse(stored))
 * const { content } = await task.result();
 * await client.close();
 * ```
 */
export interface TaskHandle {
  readonly tool: string;
  /** The server's id of the task; undefined if the server returned the result at once. */
  readonly id: string | undefined;
  /** Asks the server what the task is doing. */
  status(options?: TaskOptions): Promise<TaskState>;
  /**
   * Waits for the result, and answers the questions of the task meanwhile. The task continues if you stop waiting with `signal`,
   * or if `maxTimeMs` is over.
   */
  result(options?: CallOptions): Promise<CallToolResult>;
  /** Cancels the task. Resolves when the server has accepted the cancellation; the task may still end in another way. */
  cancel(options?: TaskOptions): Promise<void>;
  /** Calls `callback` with each new status that `result` or `status` receives. Returns the function that ends it. */
  onStatus(callback: (state: TaskState) => void): () => void;
  toJSON(): StoredTask;
}

/** The parts of the client that tasks need. */
export interface TaskHandleParts {
  readonly core: ClientCore;
  readonly answers: QuestionAnswers;
  readonly catalogue: ServerCatalogue;
  /** Converts the result for the user: checks it against the tool's output schema, and throws it if `throwOnError`. */
  finish(tool: string, result: JsonObject, options: CallOptions): CallToolResult | Promise<CallToolResult>;
}

/** The facts about a task from the call that created it. */
export interface TaskOrigin {
  /** When the server may forget the task, by `performance.now()`. */
  readonly expiresAt: number;
  /** The default options of everything that is done with the handle. */
  readonly options: Omit<CallOptions, "signal">;
  readonly progressToken?: string | number | undefined;
}

/** The members of a result, and names of other packages, which the handle does not have. */
const otherNames: RefusedNames = {
  subject: "The handle of a task",
  methods: { "wait getResult poll": "result()", getStatus: "status()" },
  read: { taskId: "id", "content structuredContent isError": "await task.result(), which has it" },
};

/** A task of the server. */
export class OpenTask implements TaskHandle, AwaitedTask {
  readonly tool: string;
  readonly requests: TaskRequests;
  readonly asked: Set<string> = new Set();
  readonly progressToken: string | number | undefined;
  readonly #parts: TaskHandleParts;
  readonly #options: TaskOrigin["options"];
  readonly #callbacks = new Set<(state: TaskState) => void>();
  #state: TaskState;
  #expiresAt: number;
  /** When the client first saw the task: the time that the server keeps it runs from then. */
  readonly #since = performance.now();
  #waiting: { readonly waiting: TaskWaiting; callers: number } | undefined;
  #result: JsonObject | undefined;

  static {
    refuseNames(this.prototype, otherNames);
  }

  constructor(tool: string, id: string, state: TaskState, origin: TaskOrigin, parts: TaskHandleParts) {
    this.tool = tool;
    this.requests = new TaskRequests(id, parts.core);
    this.progressToken = origin.progressToken;
    this.#parts = parts;
    this.#options = origin.options;
    this.#state = state;
    this.#expiresAt = origin.expiresAt;
  }

  get id(): string {
    return this.requests.id;
  }

  get state(): TaskState {
    return this.#state;
  }

  get expiresAt(): number {
    return this.#expiresAt;
  }

  async status(options: TaskOptions = {}): Promise<TaskState> {
    checkCallOptions("status", options, knownTaskOptions);
    this.learn(await this.requests.get({ ...this.#options, ...options }));
    return this.#state;
  }

  async result(options: CallOptions = {}): Promise<CallToolResult> {
    checkCallOptions("result", options);
    const settings = { ...this.#options, ...options };
    return this.#parts.finish(this.tool, await this.untilEnded(settings), settings);
  }

  async cancel(options: TaskOptions = {}): Promise<void> {
    checkCallOptions("cancel", options, knownTaskOptions);
    await this.requests.cancel({ ...this.#options, ...options });
  }

  onStatus(callback: (state: TaskState) => void): () => void {
    checkCallback("onStatus", callback);
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  toJSON(): StoredTask {
    const leftMs = this.#expiresAt - performance.now();
    const expiresAt = Number.isFinite(leftMs) ? Math.round(Date.now() + leftMs) : undefined;
    return { tool: this.tool, id: this.id, expiresAt, pollIntervalMs: this.#state.pollIntervalMs };
  }

  learn({ state }: ReadTask): void {
    const before = this.#state;
    this.#state = state;
    if (state.ttlMs !== before.ttlMs) this.#expiresAt = expiryOf(state, this.#since);
    if (state.status === before.status && state.statusMessage === before.statusMessage) return;
    for (const callback of this.#callbacks) this.#tell(callback);
  }

  /** Waits for the result as the server sends it. All waiting callers share one request. */
  async untilEnded(options: CoreRequestOptions): Promise<JsonObject> {
    if (this.#result !== undefined) return this.#result;
    const shared = (this.#waiting ??= { waiting: this.#beginWaiting(options), callers: 0 });
    shared.callers++;
    try {
      return (this.#result = await this.#inTime(shared.waiting.outcome, options));
    } finally {
      shared.callers--;
      if (shared.callers === 0) {
        shared.waiting.stop();
        this.#waiting = undefined;
      }
    }
  }

  /** Cancels a task whose result the caller will not fetch, if the server can be reached. */
  abandon(error: unknown): void {
    if (!taskHasEnded(this.#state) && !(error instanceof TaskEnded)) ignoreRejection(this.cancel());
  }

  #tell(callback: (state: TaskState) => void): void {
    try {
      callback(this.#state);
    } catch (error) {
      this.#parts.core.observe({
        type: "ignored",
        reason: `onStatus of ${this.tool} threw: ${String(error)}`,
      });
    }
  }

  #beginWaiting(options: CallOptions): TaskWaiting {
    const { core, answers } = this.#parts;
    const waiting = new TaskWaiting(this, core, answers, options);
    ignoreRejection(waiting.outcome);
    return waiting;
  }

  async #inTime(outcome: Promise<JsonObject>, options: CoreRequestOptions): Promise<JsonObject> {
    const { signal, budget = beginBudget() } = options;
    const { maxTimeMs } = this.#parts.core.timesOf(options);
    const tooLate = new AbortController();
    const leftMs = budget.startedAt + maxTimeMs - performance.now();
    const timer = setTimeout(
      () => tooLate.abort(new CallTimeout("maxTimeMs", maxTimeMs, `tools/call ${this.tool}`)),
      Math.min(Math.max(0, leftMs), longestTimerMs),
    );
    try {
      return await untilAborted(outcome, signal ? AbortSignal.any([signal, tooLate.signal]) : tooLate.signal);
    } finally {
      budget.heardAt = performance.now();
      clearTimeout(timer);
    }
  }
}

/** A call that could have become a task, but that the server answered with its result. */
export class FinishedTask implements TaskHandle {
  readonly tool: string;
  readonly id: undefined;
  readonly #result: JsonObject;
  readonly #parts: TaskHandleParts;

  static {
    refuseNames(this.prototype, otherNames);
  }

  constructor(tool: string, result: JsonObject, parts: TaskHandleParts) {
    this.tool = tool;
    this.#result = result;
    this.#parts = parts;
  }

  async status(): Promise<TaskState> {
    return { status: "completed" };
  }

  async result(options: CallOptions = {}): Promise<CallToolResult> {
    checkCallOptions("result", options);
    return this.#parts.finish(this.tool, this.#result, options);
  }

  async cancel(): Promise<void> {}

  onStatus(): () => void {
    return () => {};
  }

  toJSON(): StoredTask {
    return { tool: this.tool, result: this.#result };
  }
}

/** When the server may forget a task that exists since then, by `performance.now()`. */
export function expiryOf({ ttlMs }: TaskState, since: number): number {
  return typeof ttlMs === "number" ? since + ttlMs : Number.POSITIVE_INFINITY;
}
