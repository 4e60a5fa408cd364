// The task methods for clients of 2025-11-25: get, result, list and cancel.
import { invalidParams, invalidRequest, methodNotFound } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import { readCursor, writeCursor } from "../catalogue/cursors.ts";
import { RelayedError } from "../calls/failure.ts";
import type { MethodHandler } from "../calls/seams.ts";
import { coreTask, relatedTask } from "./forms.ts";
import { hasEnded, type TaskPosition, type TaskRecord } from "./record.ts";
import { isFor, ownerOf, type TaskTable } from "./table.ts";

/** Returns the methods by name. `pageSize` is the page size of all lists. */
export function coreTaskMethods(
  table: TaskTable,
  pageSize: number,
): [name: string, handler: MethodHandler][] {
  return [
    ["tasks/get", { run: async (call) => coreTask(await find(table, call)) }],
    ["tasks/cancel", { run: (call) => cancelTask(table, call) }],
    ["tasks/result", { run: (call) => taskResult(table, call) }],
    ["tasks/list", { run: (call) => listTasks(table, pageSize, call) }],
  ];
}

async function cancelTask(table: TaskTable, call: Call): Promise<JsonObject> {
  const task = await find(table, call);
  const cancelled = !hasEnded(task) ? await table.cancel(task) : undefined;
  if (!cancelled) throw invalidParams(`The task has already ended: it is ${task.status}`);
  return coreTask(cancelled);
}

/** Waits until the task ends. Meanwhile its questions are sent on this stream. */
async function taskResult(table: TaskTable, call: Call): Promise<JsonObject> {
  const first = await find(table, call);
  if (hasEnded(first)) return resultOf(first);
  const { stream } = call.exchange;
  const wait = table.wait(first, call.session !== undefined && stream ? { to: call, stream } : undefined);
  try {
    call.onCancel(() => wait.wake());
    // Again, because it may have ended before the wait began.
    let task = await find(table, call);
    while (!hasEnded(task) && !call.cancelled) {
      await wait.next();
      task = await find(table, call);
    }
    return resultOf(task);
  } finally {
    wait.close();
  }
}

async function listTasks(table: TaskTable, pageSize: number, call: Call): Promise<JsonObject> {
  const { principal, session, grant } = call;
  if (!principal && session === undefined) {
    throw methodNotFound("tasks/list requires authentication or a session");
  }
  const limit = Math.max(pageSize + 1, minChunk);
  const usable: TaskRecord[] = [];
  let after = readTaskCursor(call.params["cursor"]);
  // Neither a page nor a cursor may reveal a task that the caller may not use.
  for (let isMore = true; isMore && usable.length <= pageSize;) {
    const query = { after, session: principal ? undefined : session, limit };
    const found = await table.store.list(ownerOf(principal), query);
    usable.push(...found.filter((task) => isFor(task, "core", grant)));
    after = found.at(-1);
    isMore = found.length === limit;
  }
  const page = usable.slice(0, pageSize);
  const last = usable.length > pageSize ? page.at(-1) : undefined;
  return { tasks: page.map(coreTask), ...(last && { nextCursor: taskCursor(last) }) };
}

/** Asks the store for at least this many tasks, so that skipping many of them takes few queries. */
const minChunk = 100;

function find(table: TaskTable, call: Call): Promise<TaskRecord> {
  return table.find(call, "core", call.params["taskId"]);
}

/** The response that the call would have had without a task. */
function resultOf({ id, status, result, error }: TaskRecord): JsonObject {
  if (error) throw new RelayedError(error);
  if (result === undefined) throw invalidRequest(`The task has no result: it is ${status}`);
  return { ...result, _meta: { ...(result["_meta"] as object), ...relatedTask(id) } };
}

function taskCursor({ createdAt, id }: TaskPosition): string {
  return writeCursor(`${createdAt} ${id}`);
}

function readTaskCursor(cursor: unknown): TaskPosition | undefined {
  if (cursor === undefined) return undefined;
  const written = readCursor(cursor) ?? "";
  const [, createdAt, id] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S+)$/.exec(written) ?? [];
  if (createdAt === undefined || id === undefined) throw invalidParams("Invalid cursor");
  return { createdAt, id };
}
