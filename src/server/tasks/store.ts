// The interface of a task store, and the records that it holds.
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject, RpcError } from "../../wire/message.ts";

/** The status of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A stored task: complete, and plain JSON, so that any process can answer requests about it. */
export interface TaskRecord {
  /** Unguessable. */
  readonly id: string;
  /** The principal that owns the task; others cannot see it. Empty if callers are not authenticated. */
  readonly owner: string;
  /** The legacy session that started it. */
  readonly session?: string;
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

/**
 * Stores tasks. If you run several processes, use a store that all of them can read. `taskStoreContract()` of `halyard/testing`
 * checks an implementation.
 *
 * - When a promise resolves, the change MUST be durable: the client learns of it next, and may send its next request to another
 *   process.
 * - Every method takes the owner. Tasks of other owners, and tasks past `createdAt` + `ttlMs`, MUST look as if they did not
 *   exist.
 * - A task that has ended (`completed`, `failed`, `cancelled`) MUST NOT change. Check and change it in one atomic step: a
 *   cancellation and the end of the work may arrive from different processes at the same time.
 * - Records are plain JSON. The store MUST return them unchanged, and as copies.
 * - If the store is full, `create` may resolve with `false`. If the store fails, its methods reject: a failed `create` fails the
 *   call, a failed change is logged and the task continues, and a result that cannot be stored fails its task.
 *
 * @example
 * ```ts
 * import { McpServer, MemoryTaskStore, type TaskStore } from "halyard";
 *
 * const store: TaskStore = new MemoryTaskStore({ maxTasks: 100 });
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { tasks: { store } });
 * ```
 */
export interface TaskStore {
  /**
   * Stores a new task, whose id is unique. Resolves with false if there is no room. `caller` distinguishes callers without an
   * owner, so that a store can divide its room fairly.
   */
  create(task: TaskRecord, caller?: string): Promise<boolean>;
  read(owner: string, id: string): Promise<TaskRecord | undefined>;
  /** Changes the given members. Resolves with the whole changed task, or with undefined if it does not exist or has ended. */
  change(owner: string, id: string, change: TaskChange): Promise<TaskRecord | undefined>;
  /** Resolves with the tasks sorted by `createdAt`, then by `id`. */
  list(owner: string, query: TaskQuery): Promise<readonly TaskRecord[]>;
}

export function hasEnded({ status }: Pick<TaskRecord, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
