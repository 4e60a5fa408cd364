// Starts calls as tasks, waits for calls that become one, and continues stored ones.
import { HalyardError } from "../../base/errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { CoreRequestOptions } from "../calls/core.ts";
import { declaresTasks, passTasks } from "../calls/results.ts";
import type { ToolCallParams } from "../catalogue/tool-calls.ts";
import { InvalidResponse } from "../settings/errors.ts";
import {
  expiryOf,
  FinishedTask,
  OpenTask,
  type StoredTask,
  type TaskHandle,
  type TaskHandleParts,
} from "./handle.ts";
import { areTasksRequested } from "../settings/server-facts.ts";
import { createdTask } from "./task.ts";
import type { StartTaskOptions } from "../settings/call-options.ts";

/** The tasks of one client. */
export class ClientTasks {
  readonly #parts: TaskHandleParts;

  constructor(parts: TaskHandleParts) {
    this.#parts = parts;
  }

  /**
   * Calls a tool on a revision where the client decides: as a task if the tool requires it. Returns the result of the call or of
   * its task.
   */
  async call(params: ToolCallParams, options: CoreRequestOptions): Promise<JsonObject> {
    if ((await this.#supportOf(params.name, options)) !== "required")
      return this.#parts.catalogue.toolCalls.request(params, options);
    const sent = await this.#send(params, options, {});
    return sent instanceof OpenTask ? this.#await(sent, options) : sent;
  }

  /** Waits for the task that a call of a modern client has become. */
  finish(tool: string, created: JsonObject, options: CoreRequestOptions): Promise<JsonObject> {
    const task = this.#open(tool, created, options);
    if (task === undefined) throw new InvalidResponse(`${tool}: the server's result is not a task`);
    return this.#await(task, options);
  }

  /** Calls a tool as a task, and returns its handle. */
  async start(params: ToolCallParams, options: StartTaskOptions & CoreRequestOptions): Promise<TaskHandle> {
    const { ttlMs, ...callOptions } = options;
    const { name: tool } = params;
    const { core } = this.#parts;
    const { revision, capabilities } = core.peer;
    const hasTasks =
      revision.tasks === "extension"
        ? isObject(capabilities.extensions?.[extensionIds.tasks])
        : areTasksRequested(core.peer);
    if (revision.tasks === "none")
      throw new HalyardError(
        "NO_TASKS",
        `The revision ${revision.date} has no tasks: use callTool(${JSON.stringify(tool)}, …), unless the tool can only be a task`,
      );
    if (!hasTasks) throw noTasks(`${core.peer.address} has no tasks under ${revision.date}`, tool);
    if (revision.tasks === "extension" && !declaresTasks(this.#parts.answers, revision))
      throw new HalyardError(
        "NO_TASKS",
        `startTask("${tool}"): this client did not declare tasks: ${passTasks}`,
      );
    if (revision.tasks === "core") {
      const support = await this.#supportOf(tool, options);
      if (support === "forbidden") throw noTasks(`The tool ${tool} cannot be called as a task`, tool);
    }
    const sent = await this.#send(params, callOptions, ttlMs === undefined ? {} : { ttl: ttlMs });
    return sent instanceof OpenTask ? sent : new FinishedTask(tool, sent, this.#parts);
  }

  /** The handle of a stored task. */
  take(stored: StoredTask): TaskHandle {
    const { tool, id, expiresAt, pollIntervalMs, result } = isObject(stored)
      ? (stored as StoredTask)
      : ({} as never);
    if (typeof tool !== "string" || (typeof id !== "string" && !isObject(result)))
      throw new TypeError(
        `task takes what toJSON() of a task returned${isObject(stored) ? ", with its tool: pass task.toJSON()" : ": parse the text with JSON.parse first"}`,
      );
    if (id === undefined) return new FinishedTask(tool, result as JsonObject, this.#parts);
    const leftMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt - Date.now();
    const origin = { expiresAt: performance.now() + leftMs, options: {} };
    return new OpenTask(tool, id, { status: "working", pollIntervalMs }, origin, this.#parts);
  }

  /** Whether a tool can be called as a task, on 2025-11-25. Without a declaration it cannot. */
  async #supportOf(
    tool: string,
    options: CoreRequestOptions,
  ): Promise<"optional" | "required" | "forbidden"> {
    const known = await this.#parts.catalogue.definitions.find(tool, options);
    return known?.tool.execution?.taskSupport ?? "forbidden";
  }

  /** Sends the call, and returns its task, or the result if there is none. */
  async #send(
    params: ToolCallParams,
    options: CoreRequestOptions,
    task: JsonObject,
  ): Promise<OpenTask | JsonObject> {
    const { core, catalogue } = this.#parts;
    let progressToken: string | number | undefined;
    const onSent = (id: string | number): void => void (progressToken = id);
    const withIds: CoreRequestOptions = { ...options, onSent };
    const augmented = core.peer.revision.tasks === "core" ? { ...params, task } : params;
    const result = await catalogue.toolCalls.request(augmented, withIds);
    return this.#open(params.name, result, options, progressToken) ?? result;
  }

  #open(
    tool: string,
    result: JsonObject,
    options: CoreRequestOptions,
    progressToken?: string | number,
  ): OpenTask | undefined {
    const created = createdTask(result, this.#parts.core.peer.revision);
    if (created === undefined) return undefined;
    const { id, state } = created;
    // The signal and budget belong to the call, not to later uses of its handle.
    const { signal: _, budget: __, ...kept } = options;
    const origin = { expiresAt: expiryOf(state, performance.now()), options: kept, progressToken };
    return new OpenTask(tool, id, state, origin, this.#parts);
  }

  /** Waits for a task whose handle the caller does not have. If the call ends before, cancels the task. */
  async #await(task: OpenTask, options: CoreRequestOptions): Promise<JsonObject> {
    try {
      return await task.untilEnded(options);
    } catch (error) {
      task.abandon(error);
      throw error;
    }
  }
}

function noTasks(problem: string, tool: string): HalyardError {
  return new HalyardError(
    "NO_TASKS",
    `${problem}: use callTool(${JSON.stringify(tool)}, …), which waits for the result`,
  );
}
