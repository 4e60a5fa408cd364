// From a call to a task: whether it becomes one, and how it leaves its request.
import { errorCodes, invalidParams, invalidRequest, ProtocolError } from "../../errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import { randomId } from "../../protocol/random-id.ts";
import { isObject } from "../../wire/message.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Call } from "../calls/call.ts";
import { callerOf } from "../context/connection.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import { isDeclared, requireDeclared } from "../catalogue/extensions.ts";
import { stampAs } from "../calls/stamp.ts";
import { coreTask, extensionTask, TaskCreated, type TaskForm } from "./forms.ts";
import type { TaskRecord } from "./store.ts";
import { ownerOf } from "./table.ts";
import { tellOf } from "./task-events.ts";
import { TaskRun } from "./task-run.ts";

/**
 * Makes a task of a call, where its tool and its client want one: the client has its reply, and the handler may begin. Undefined
 * when the client waits for the result.
 */
export function beginTask(tool: CompiledTool, call: Call): Promise<void> | undefined {
  // A handler that returned questions runs again, in the task that it runs in already.
  if (call.task !== undefined) return undefined;
  const form = formFor(tool, call);
  if (form === undefined) return undefined;
  const isLater = form === "extension" && tool.task?.starts === "handler";
  if (!isLater) return begin(tool, form, call);
  call.beginTask = () => begin(tool, form, call);
  return undefined;
}

/** Takes the call out of its request: a client that goes away no longer cancels it. Durable before anybody is told. */
async function begin(tool: CompiledTool, form: TaskForm, call: Call): Promise<void> {
  const { tasks } = call.core;
  const record = newRecord(tool, form, call);
  const caller = callerOf(call.exchange);
  const leave = tasks.enter(caller, record.owner);
  try {
    if (!(await tasks.store.create(record, caller)))
      throw invalidRequest("Too many tasks are kept: try again later");
    const isOver = call.cancelled || call.finished || call.hasAsked || call.interrupt === undefined;
    if (isOver) await withdraw(record, call);
  } catch (error) {
    leave();
    throw error;
  }
  const { connection, era, principal, headers, address, load } = call.exchange;
  // Its handler has the arguments until it ends.
  const release = load?.hold();
  const run = new TaskRun(record, call, () => {
    leave();
    release?.();
  });
  connection.inFlight.delete(call);
  call.exchange = { connection, era, principal, headers, address };
  call.task = run;
  call.conversation.askThrough(run.asker);
  tasks.runs.set(record.id, run);
  tellOf(run);
  logRejection(call.core.settings.logger, "A task", run.follow());
  call.interrupt?.(
    new TaskCreated(
      record.form === "core" ? { task: coreTask(record) } : stampAs("task", extensionTask(record), call),
    ),
  );
  // The reply goes first: what the handler does next must not overtake it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (call.cancelled) throw invalidRequest("The task was cancelled before its work began");
}

/** The client went away, or was asked something, before it could hear of the task: nobody would ever come for it. */
async function withdraw(record: TaskRecord, call: Call): Promise<never> {
  await call.core.tasks.end(record);
  throw invalidRequest("The call was over before it could become a task");
}

function newRecord(tool: CompiledTool, form: TaskForm, call: Call): TaskRecord {
  const { session, core } = call;
  const { settings } = core.tasks;
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
    ttlMs: wishedTtl(form, call) ?? tool.task?.ttlMs ?? settings.ttlMs,
    pollIntervalMs: tool.task?.pollIntervalMs ?? settings.pollIntervalMs,
  };
}

/** What the client wishes, within what the server allows. */
function wishedTtl(form: TaskForm, { params, core }: Call): number | undefined {
  const wish = form === "core" && isObject(params["task"]) ? params["task"]["ttl"] : undefined;
  const isUsable = typeof wish === "number" && wish > 0;
  return isUsable ? Math.ceil(Math.min(wish, core.tasks.settings.maxTtlMs)) : undefined;
}

/** As which kind of task the call is to be answered; undefined for none. Throws when the tool cannot be called like this. */
function formFor(tool: CompiledTool, call: Call): TaskForm | undefined {
  const { support = "optional" } = tool.task ?? {};
  const isRequired = tool.task !== undefined && support === "required";
  const kind = call.table.tasks;
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
  if (call.core.features.has("tasks")) throw notFound(`Tool ${tool.name} cannot be called as a task`);
  return undefined;
}

function notFound(message: string): ProtocolError {
  return new ProtocolError(errorCodes.methodNotFound, message);
}
