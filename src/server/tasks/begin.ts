// From a call to a task: whether it becomes one, and how it leaves its request.
import { errorCodes, invalidParams, invalidRequest, ProtocolError } from "../../errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import { randomId } from "../../protocol/random-id.ts";
import { isObject } from "../../wire/message.ts";
import type { Conversations } from "../asking/conversations.ts";
import type { Call } from "../calls/call.ts";
import { Reply } from "../calls/call-parts.ts";
import type { Tasks } from "../calls/seams.ts";
import { stampAs } from "../calls/stamp.ts";
import { isDeclared, requireDeclared } from "../catalogue/extensions.ts";
import type { Features } from "../catalogue/features.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import { callerOf } from "../context/connection.ts";
import { coreTask, extensionTask, type TaskForm } from "./forms.ts";
import type { TaskSettings } from "./options.ts";
import type { TaskRecord } from "./store.ts";
import { ownerOf, type TaskTable } from "./table.ts";
import { type RunParts, TaskRun } from "./task-run.ts";

/** What tasks need of their server. */
export interface TaskParts extends RunParts {
  readonly conversations: Conversations;
  readonly features: Features;
}

/** The tasks of a server, as calls join them. */
export function tasksOf(parts: TaskParts): Tasks {
  return {
    begin(tool, call) {
      // A handler that returned questions runs again, in the task that it runs in already.
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

/** Takes the call out of its request: a client that goes away no longer cancels it. Durable before anybody is told. */
async function begin(tool: CompiledTool, form: TaskForm, call: Call, parts: TaskParts): Promise<void> {
  const { table, conversations } = parts;
  const record = newRecord(tool, form, call, table.settings);
  const caller = callerOf(call.exchange);
  const leave = table.enter(caller, record.owner);
  try {
    if (!(await table.store.create(record, caller)))
      throw invalidRequest("Too many tasks are kept: try again later");
    if (!call.canAnswerNow) await withdraw(record, table);
  } catch (error) {
    leave();
    throw error;
  }
  // Its handler has the arguments until it ends.
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
  // The reply goes first: what the handler does next must not overtake it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (call.cancelled) throw invalidRequest("The task was cancelled before its work began");
}

/** The client went away, or was asked something, before it could hear of the task: nobody would ever come for it. */
async function withdraw(record: TaskRecord, table: TaskTable): Promise<never> {
  await table.end(record);
  throw invalidRequest("The call was over before it could become a task");
}

function newRecord(tool: CompiledTool, form: TaskForm, call: Call, settings: TaskSettings): TaskRecord {
  const { session } = call;
  const { scopes } = tool.options;
  const now = new Date().toISOString();
  return {
    id: randomId(),
    owner: ownerOf(call.principal),
    ...(session !== undefined && { session }),
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

/** What the client wishes, within what the server allows. */
function wishedTtl(form: TaskForm, { params }: Call, { maxTtlMs }: TaskSettings): number | undefined {
  const wish = form === "core" && isObject(params["task"]) ? params["task"]["ttl"] : undefined;
  const isUsable = typeof wish === "number" && wish > 0;
  return isUsable ? Math.ceil(Math.min(wish, maxTtlMs)) : undefined;
}

/** As which kind of task the call is to be answered; undefined for none. Throws when the tool cannot be called like this. */
function chooseForm(tool: CompiledTool, call: Call, features: Features): TaskForm | undefined {
  const { support = "optional" } = tool.task ?? {};
  const isRequired = tool.task !== undefined && support === "required";
  const kind = call.protocol.tasks;
  if (kind === "extension") {
    if (isRequired) requireDeclared(call, extensionIds.tasks);
    return tool.task !== undefined && isDeclared(call, extensionIds.tasks) ? kind : undefined;
  }
  const wish: unknown = kind === "core" ? call.params["task"] : undefined;
  if (wish === undefined && isRequired) throw notFound(`Tool ${tool.name} can only be called as a task`);
  if (wish === undefined || kind === "none") return undefined;
  if (tool.task !== undefined) {
    if (!isObject(wish)) throw invalidParams("task must be an object");
    return kind;
  }
  if (features.has("tasks")) throw notFound(`Tool ${tool.name} cannot be called as a task`);
  return undefined;
}

function notFound(message: string): ProtocolError {
  return new ProtocolError(errorCodes.methodNotFound, message);
}
