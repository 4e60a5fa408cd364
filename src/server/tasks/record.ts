// A stored task, the changes and queries of the store, and how each kind of client gets the task.
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject, RpcError } from "../../base/wire/message.ts";
import { metaKeys } from "../../protocol/meta.ts";
import type { TaskStatus } from "../../protocol/model.ts";

/** A stored task: complete, and plain JSON, so that any process can answer requests about it. */
export interface TaskRecord {
  /** Unguessable. */
  readonly id: string;
  /** The principal that owns the task; others cannot see it. Empty if callers are not authenticated. */
  readonly owner: string;
  /** The legacy session that started it. */
  readonly session?: string;
  /** The node that runs it, in a cluster. */
  readonly node?: string;
  readonly tool: string;
  /** The scopes that its tool required at the start, if any. Callers without them cannot see the task. */
  readonly scopes?: readonly string[];
  /** `core`: the client requested a task, under 2025-11-25. `extension`: the client supports the tasks extension. */
  readonly form: "core" | "extension";
  readonly status: TaskStatus;
  /** What the task is doing, or what went wrong. */
  readonly statusMessage?: string;
  /** An ISO 8601 date, like `lastUpdatedAt`. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** How long it is stored, from `createdAt`, in milliseconds. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** The open questions, by key. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  readonly result?: JsonObject;
  readonly error?: RpcError;
}

/** The members that may change. Undefined removes a member. */
export type TaskChange = Pick<TaskRecord, "lastUpdatedAt"> & {
  readonly [Member in "status" | "statusMessage" | "inputRequests" | "result" | "error"]?:
    | TaskRecord[Member]
    | undefined;
};

/** The place of a task among all of its owner, oldest first. */
export type TaskPosition = Pick<TaskRecord, "createdAt" | "id">;

/** Selects tasks, oldest first. */
export interface TaskQuery {
  /** Only tasks that this session started. */
  readonly session?: string | undefined;
  /** Only tasks after this one. */
  readonly after?: TaskPosition | undefined;
  readonly limit: number;
}

export function hasEnded({ status }: Pick<TaskRecord, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Thrown when the end of a task is too large for the store. */
export function noRoom(): RangeError {
  return new RangeError("The tasks take too much room: raise tasks.maxSize or tasks.maxSizePerPrincipal");
}

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
