// A task at its server: its state, the same for the tasks of 2025-11-25 and those of the extension, and the requests about it.
import { clip, errorCodes } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, isRequestId, type JsonObject } from "../../base/wire/message.ts";
import {
  CallTimeout,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  RpcRejection,
  TaskEnded,
} from "../settings/errors.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import type { CallOptions } from "../settings/call-options.ts";
import { type Known, milliseconds, signal as abortSignal, textRecord } from "../../base/kinds.ts";
import { shownId } from "../settings/shown.ts";
import type { TaskStatus } from "../../protocol/model.ts";

const isFinal: Readonly<Record<TaskStatus, boolean>> = {
  working: false,
  input_required: false,
  completed: true,
  failed: true,
  cancelled: true,
};

/** The state of a task, from the server. */
export interface TaskState {
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** How long the server keeps the task from its start; null if for ever. */
  readonly ttlMs?: number | null | undefined;
  /** How often the server wants the client to poll. */
  readonly pollIntervalMs?: number | undefined;
  /** ISO 8601. */
  readonly createdAt?: string | undefined;
  /** ISO 8601. */
  readonly lastUpdatedAt?: string | undefined;
}

/** A task as the server sent it: its state, with the result, error or questions. */
export interface ReadTask {
  readonly id: string;
  readonly state: TaskState;
  readonly body: JsonObject;
}

export function taskHasEnded({ status }: TaskState): boolean {
  return isFinal[status];
}

/** The task that a call has become, or undefined if the server responded with an ordinary result. */
export function createdTask(result: JsonObject, revision: Revision): ReadTask | undefined {
  if (revision.tasks === "extension") return result["resultType"] === "task" ? readTask(result) : undefined;
  return isObject(result["task"]) ? readTask(result["task"]) : undefined;
}

/** Reads a task, whose id must be `expected` if that is given. Throws InvalidResponse. */
function readTask(body: JsonObject, expected?: string): ReadTask {
  const { taskId: id, status } = body;
  if (typeof id !== "string" || id === "") throw new InvalidResponse("A task must have a taskId");
  if (!isRequestId(id)) throw new InvalidResponse(`The id of task ${shownId(id)} is too long`);
  if (expected !== undefined && id !== expected)
    throw new InvalidResponse(
      `The server responded with task ${shownId(id)} to a request for task ${shownId(expected)}`,
    );
  if (typeof status !== "string" || !Object.hasOwn(isFinal, status))
    throw new InvalidResponse(
      `Task ${shownId(id)} has the unknown status ${clip(JSON.stringify(status) ?? "missing")}`,
    );
  const ttlMs = body["ttlMs"] === undefined ? body["ttl"] : body["ttlMs"];
  const state: TaskState = {
    status: status as TaskStatus,
    statusMessage: text(body["statusMessage"]),
    ttlMs: ttlMs === null ? null : time(ttlMs),
    pollIntervalMs: time(body["pollIntervalMs"] ?? body["pollInterval"]),
    createdAt: text(body["createdAt"]),
    lastUpdatedAt: text(body["lastUpdatedAt"]),
  };
  return { id, state, body };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function time(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** The options of requests about a task. */
export type TaskOptions = Pick<CallOptions, "signal" | "timeoutMs" | "headers">;

export const knownTaskOptions: Known<TaskOptions> = {
  signal: abortSignal,
  timeoutMs: milliseconds,
  headers: textRecord,
};

/** Sends requests about one task. All of them may be sent again. */
export class TaskRequests {
  readonly id: string;
  readonly #core: ClientCore;

  constructor(id: string, core: ClientCore) {
    this.id = id;
    this.#core = core;
  }

  /** Requests the task. Rejects with TaskEnded if the server does not know it. */
  async get(options: TaskOptions): Promise<ReadTask> {
    try {
      return readTask(await this.send("tasks/get", {}, options), this.id);
    } catch (error) {
      throw this.#isUnknown(error) ? this.#unknown(error) : error;
    }
  }

  /** Resolves when the server has accepted the cancellation, or if the task has already ended. */
  async cancel(options: TaskOptions): Promise<void> {
    try {
      await this.send("tasks/cancel", {}, options);
    } catch (error) {
      // The same code means that the task is unknown, or that it has ended.
      if (!this.#isUnknown(error)) throw error;
      await this.get(options);
    }
  }

  send(method: string, params: JsonObject, options: CoreRequestOptions): Promise<JsonObject> {
    const { headers, timeoutMs, signal, isStream } = options;
    const { era } = this.#core.peer.revision;
    return this.#core.request(
      method,
      { taskId: this.id, ...params },
      {
        ...(headers && { headers }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(signal && { signal }),
        ...(isStream && { isStream }),
        mirrored: era === "modern" ? { "Mcp-Name": encodeHeaderValue(this.id) } : undefined,
        isRepeatable: () => true,
      },
    );
  }

  #isUnknown(error: unknown): boolean {
    return error instanceof RpcRejection && error.code === errorCodes.invalidParams;
  }

  #unknown(cause: unknown): TaskEnded {
    const why = "it has expired, the server has lost it, or it belongs to another caller";
    const problem = `${this.#core.peer.address} does not know it: ${why}. Call the tool again`;
    return new TaskEnded(this.id, "unknown", problem, { cause });
  }
}

/** Whether a request about a task may succeed later: the server is restarting, or temporarily cannot read its tasks. */
export function isPassing(error: unknown): boolean {
  // If the client does not reconnect, a lost connection is final, but no request can have run.
  if (error instanceof ConnectionLost)
    return error.reason === "cut" ? error.mayHaveRun : error.reason !== "closed" && error.reason !== "exited";
  if (error instanceof HttpFailure)
    return error.status >= 500 || error.status === 429 || error.status === 408;
  if (error instanceof RpcRejection) return error.code === errorCodes.internal;
  return error instanceof CallTimeout;
}
