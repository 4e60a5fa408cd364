// Encodes a task for the two kinds of clients: those of 2025-11-25, and those that support the extension.
import { metaKeys } from "../../protocol/meta.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { TaskRecord } from "./record.ts";

export type TaskForm = TaskRecord["form"];

/** Whether a result with `isError` makes the task `failed`. */
export const toolErrorFails: Readonly<Record<TaskForm, boolean>> = { core: true, extension: false };

export function coreTask(task: TaskRecord): JsonObject {
  return { ...common(task), ttl: task.ttlMs, pollInterval: task.pollIntervalMs };
}

export function extensionTask(task: TaskRecord): JsonObject {
  return { ...common(task), ttlMs: task.ttlMs, pollIntervalMs: task.pollIntervalMs };
}

/** The task with the members of its status: open questions, the result, or the error. */
export function detailedTask(task: TaskRecord): JsonObject {
  const { inputRequests, result, error } = task;
  return {
    ...extensionTask(task),
    ...(task.status === "input_required" && { inputRequests }),
    ...(task.status === "completed" && { result }),
    ...(task.status === "failed" && { error }),
  };
}

function common({ id, status, statusMessage, createdAt, lastUpdatedAt }: TaskRecord): JsonObject {
  const message = statusMessage === undefined ? {} : { statusMessage };
  return { taskId: id, status, ...message, createdAt, lastUpdatedAt };
}

/** The `_meta` that marks a message as belonging to a task. */
export function relatedTask(taskId: string): JsonObject {
  return { [metaKeys.relatedTask]: { taskId } };
}
