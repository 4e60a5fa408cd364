// A task as the client sees it, the same for both generations: those of 2025-11-25, and those of the extension.
import { clip } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, isRequestId, type JsonObject } from "../../base/wire/message.ts";
import { InvalidResponse, shownId } from "../settings/errors.ts";

/** What a task is doing. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

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
export function readTask(body: JsonObject, expected?: string): ReadTask {
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
