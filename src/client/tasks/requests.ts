// The requests about one task, and what their failures mean for a caller that waits for it.
import { errorCodes } from "../../base/errors.ts";
import { encodeHeaderValue } from "../../protocol/header-value.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { ClientCore, CoreRequestOptions } from "../calls/core.ts";
import { CallTimeout, ConnectionLost, HttpFailure, RpcRejection, TaskEnded } from "../settings/errors.ts";
import type { CallOptions } from "../settings/options.ts";
import { type ReadTask, readTask } from "./task.ts";

/** The options of a call that also hold for the requests about its task. */
export type TaskRequestOptions = Pick<CallOptions, "headers" | "timeoutMs" | "signal">;

/** Sends requests about one task. All of them may be sent again. */
export class TaskRequests {
  readonly id: string;
  readonly #core: ClientCore;

  constructor(id: string, core: ClientCore) {
    this.id = id;
    this.#core = core;
  }

  /** Requests the task. Rejects with TaskEnded if the server does not know it. */
  async get(options: TaskRequestOptions): Promise<ReadTask> {
    try {
      return readTask(await this.send("tasks/get", {}, options), this.id);
    } catch (error) {
      throw this.#isUnknown(error) ? this.#unknown(error) : error;
    }
  }

  /** Resolves when the server has accepted the cancellation, or if the task has already ended. */
  async cancel(options: TaskRequestOptions): Promise<void> {
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
