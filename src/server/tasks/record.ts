// A stored task, and the changes and queries of the store.
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject, RpcError } from "../../base/wire/message.ts";
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
