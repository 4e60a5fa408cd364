// The task methods: those of 2025-11-25, and those of the extension for modern clients.
import { invalidParams, invalidRequest, methodNotFound } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import { readCursor, writeCursor } from "../methods/lists.ts";
import { RelayedError } from "../calls/failure.ts";
import type { MethodHandler } from "../calls/seams.ts";
import {
  coreTask,
  detailedTask,
  hasEnded,
  relatedTask,
  type TaskPosition,
  type TaskRecord,
} from "./record.ts";
import { isFor, ownerOf, type TaskTable } from "./table.ts";
import { readResponses } from "../asking/question.ts";
import type { Extension } from "../catalogue/extensions.ts";
import { callerOf } from "../context/connection.ts";
import type { Context } from "../context/context.ts";

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

/** The tasks of modern clients, as an extension like any other. */
export function tasksExtension(tasks: TaskTable): Extension {
  return {
    requests: {
      "tasks/get": {
        mirrors: "taskId",
        run: async ({ taskId }, ctx) => detailedTask(await tasks.find(callOf(ctx), "extension", taskId)),
      },
      "tasks/update": {
        mirrors: "taskId",
        async run({ taskId, inputResponses }, ctx) {
          const call = callOf(ctx);
          const task = await tasks.find(call, "extension", taskId);
          await tasks.answer(callerOf(call.exchange), task, readResponses(inputResponses));
          return {};
        },
      },
      "tasks/cancel": {
        mirrors: "taskId",
        async run({ taskId }, ctx) {
          const task = await tasks.find(callOf(ctx), "extension", taskId);
          if (!hasEnded(task)) await tasks.cancel(task);
          return {};
        },
      },
    },
    listens: {
      taskIds: {
        kind: "keys",
        requiresDeclaration: true,
        notification: "notifications/tasks",
        /** Keeps only tasks that the caller owns and may use; others look as if they did not exist. */
        async permits(ids, ctx) {
          const found = ids.map((id) =>
            tasks.find(callOf(ctx), "extension", id).then(
              (task) => {
                tasks.listened(task);
                return id;
              },
              () => undefined,
            ),
          );
          return (await Promise.all(found)).filter((id) => id !== undefined);
        },
      },
    },
  };
}

/** The context of a request is its `Call`, which has more about the caller than handlers see. */
function callOf(ctx: Context): Call {
  return ctx as Call;
}
