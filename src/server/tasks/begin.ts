// Turns a call into a task: decides whether it becomes one, and detaches it from its request.
import { invalidParams, invalidRequest, methodNotFound } from "../../base/errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import { randomId } from "../../base/wire/crypto.ts";
import { isObject } from "../../base/wire/message.ts";
import type { Conversations } from "../asking/conversations.ts";
import type { Call } from "../calls/call.ts";
import { Reply } from "../calls/call-parts.ts";
import type { TaskSeam } from "../calls/seams.ts";
import { stampAs } from "../calls/stamp.ts";
import { isDeclared, requireDeclared } from "../catalogue/extensions.ts";
import type { Features } from "../catalogue/features.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import { callerOf } from "../context/connection.ts";
import { coreTask, extensionTask, type TaskForm, type TaskRecord } from "./record.ts";
import type { TaskSettings } from "./options.ts";
import { ownerOf, type TaskTable } from "./table.ts";
import { type RunParts, TaskRun } from "./task-run.ts";

/** The parts of the server that tasks use. */
export interface TaskParts extends RunParts {
  readonly conversations: Conversations;
  readonly features: Features;
}

/** Implements the `Tasks` seam of the core. */
export function tasksOf(parts: TaskParts): TaskSeam {
  return {
    begin(tool, call) {
      // A handler that returned questions runs again, within the same task.
      if (call.taskId !== undefined) return undefined;
      const form = chooseForm(tool, call, parts.features);
      if (form === undefined) return undefined;
      const isLater = form === "extension" && tool.task?.starts === "handler";
      if (!isLater) return begin(tool, form, call, parts);
      call.mayStartTask(() => begin(tool, form, call, parts));
      return undefined;
    },
  };
}

/** Stores the task and detaches the call from its request: from now on, a client that disconnects does not cancel it. */
async function begin(tool: CompiledTool, form: TaskForm, call: Call, parts: TaskParts): Promise<void> {
  const { table, conversations } = parts;
  const record = newRecord(tool, form, call, table);
  const caller = callerOf(call.exchange);
  const leave = table.enter(caller, record.owner);
  try {
    if (!(await table.store.create(record, caller)))
      throw invalidRequest("The server stores too many tasks: try again later");
    if (!call.canAnswerNow) await withdraw(record, table);
  } catch (error) {
    leave();
    throw error;
  }
  // The handler holds the arguments until it ends.
  const release = call.exchange.load?.hold();
  const run = new TaskRun(record, call, parts, () => {
    leave();
    release?.();
  });
  call.continueAs(run);
  conversations.of(call).askThrough(run.asker);
  run.start();
  const created = form === "core" ? { task: coreTask(record) } : stampAs("task", extensionTask(record), call);
  call.answerNow(new Reply(created), (response) => run.end(response));
  // Send the response first, so that no notification of the handler overtakes it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (call.cancelled) throw invalidRequest("The task was cancelled before its work began");
}

/** Deletes a task that its client never learns of, because the call was cancelled or ended with questions. */
async function withdraw(record: TaskRecord, table: TaskTable): Promise<never> {
  await table.end(record);
  throw invalidRequest("The call ended before it could become a task");
}

function newRecord(tool: CompiledTool, form: TaskForm, call: Call, table: TaskTable): TaskRecord {
  const { session } = call;
  const { settings, node } = table;
  const { scopes } = tool.options;
  const now = new Date().toISOString();
  return {
    id: randomId(),
    owner: ownerOf(call.principal),
    ...(session !== undefined && { session }),
    ...(node !== undefined && { node }),
    tool: tool.name,
    ...(scopes?.length && { scopes }),
    form,
    status: "working",
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs: wishedTtl(form, call, settings) ?? tool.task?.ttlMs ?? settings.ttlMs,
    pollIntervalMs: tool.task?.pollIntervalMs ?? settings.pollIntervalMs,
  };
}

/** The lifetime that the client requests, at most the server's `maxTtlMs`. */
function wishedTtl(form: TaskForm, { params }: Call, { maxTtlMs }: TaskSettings): number | undefined {
  const wish = form === "core" && isObject(params["task"]) ? params["task"]["ttl"] : undefined;
  const isUsable = typeof wish === "number" && wish > 0;
  return isUsable ? Math.ceil(Math.min(wish, maxTtlMs)) : undefined;
}

/** The kind of task that the call becomes, or undefined for none. Throws if the tool does not allow this kind of call. */
function chooseForm(tool: CompiledTool, call: Call, features: Features): TaskForm | undefined {
  const { support = "optional" } = tool.task ?? {};
  const isRequired = tool.task !== undefined && support === "required";
  const kind = call.protocol.tasks;
  if (kind === "extension") {
    if (isRequired) requireDeclared(call, extensionIds.tasks);
    return tool.task && isDeclared(call, extensionIds.tasks) ? kind : undefined;
  }
  const wish: unknown = kind === "core" ? call.params["task"] : undefined;
  if (wish === undefined && isRequired) {
    const { date } = call.protocol;
    const why = kind === "none" ? `, and the revision ${date} has no tasks: connect with a newer one` : "";
    throw methodNotFound(`Tool ${tool.name} can only be called as a task${why}`);
  }
  if (wish === undefined || kind === "none") return undefined;
  if (tool.task) {
    if (!isObject(wish)) throw invalidParams("task must be an object");
    return kind;
  }
  if (features.has("tasks")) throw methodNotFound(`Tool ${tool.name} cannot be called as a task`);
  return undefined;
}
