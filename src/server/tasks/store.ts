// Where tasks are kept: what a store has to do.
import type { InputRequest } from "../../protocol/asking.ts";
import type { JsonObject, RpcError } from "../../wire/message.ts";

/** Where a task stands; the last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task as it is kept: plain JSON, whole, so that any process can answer for it. */
export interface TaskRecord {
  /** Unguessable. */
  readonly id: string;
  /** Whose it is: nobody else is told that it exists. Empty where callers are not authenticated. */
  readonly owner: string;
  /** The legacy session that it was begun in. */
  readonly session?: string;
  readonly tool: string;
  /** What its tool asked of its caller when it was begun, if anything: to whoever lacks one of them it does not exist. */
  readonly scopes?: readonly string[];
  /** Of which kind of client: one that asked for it, or one that knows the extension. */
  readonly form: "core" | "extension";
  readonly status: TaskStatus;
  /** What is being done, or what went wrong. */
  readonly statusMessage?: string;
  /** ISO 8601, as is `lastUpdatedAt`. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** How long it is kept, from `createdAt`. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** The questions that are open, by key. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  readonly result?: JsonObject;
  readonly error?: RpcError;
}

/** What may change about a task; undefined takes a member away. */
export type TaskChange = Pick<TaskRecord, "lastUpdatedAt"> & {
  readonly [Member in "status" | "statusMessage" | "inputRequests" | "result" | "error"]?:
    | TaskRecord[Member]
    | undefined;
};

/** Which tasks are wanted, oldest first. */
export interface TaskQuery {
  /** Only those begun in this session. */
  readonly session?: string | undefined;
  /** Only those after this one. */
  readonly after?: Pick<TaskRecord, "createdAt" | "id"> | undefined;
  readonly limit: number;
}

/**
 * Keeps tasks. Implementations for several processes keep them where all of these can read them; `taskStoreContract()` of
 * `halyard/testing` checks one.
 *
 * - What a promise stands for MUST be durable by the time it resolves: the client is told right after, and comes back, maybe to
 *   another process.
 * - Every call names the owner. A task of another owner, and one whose time (`createdAt` + `ttlMs`) is up, MUST be as one that
 *   never was.
 * - A task that has ended (`completed`, `failed`, `cancelled`) MUST NOT change: to look and to change are one step, since a
 *   cancellation and the end of the work may come at the same time from different processes.
 * - Records are plain JSON; they MUST come back as they were, and as copies.
 * - It may refuse with `false` for want of room, and reject when it fails: a failed `create` fails the call, a failed change is
 *   logged and the task goes on, and a result that cannot be kept ends its task with an error.
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
   * Keeps a new task, under an id that is nobody else's. False when there is no room for it. `caller` tells those without an
   * owner apart, for a store that has no more room for one than for others.
   */
  create(task: TaskRecord, caller?: string): Promise<boolean>;
  read(owner: string, id: string): Promise<TaskRecord | undefined>;
  /** Changes the members that are named. The whole task after the change; undefined when there is no such task, or it has ended. */
  change(owner: string, id: string, change: TaskChange): Promise<TaskRecord | undefined>;
  /** Sorted by `createdAt`, then by `id`. */
  list(owner: string, query: TaskQuery): Promise<readonly TaskRecord[]>;
}

export function hasEnded({ status }: Pick<TaskRecord, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
