// The tasks of one server: which ones run in this process, who may use them, and how they are cancelled.
import { invalidParams, invalidRequest } from "../../errors.ts";
import { Shares } from "../../limits/shares.ts";
import type { Principal } from "../../protocol/model.ts";
import { principalKey } from "../../protocol/principal.ts";
import { type Grant, isGranted } from "../../protocol/scopes.ts";
import type { AskTarget } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import type { Asker } from "../asking/question.ts";
import type { TaskEnd } from "../../diagnostics/events.ts";
import { coreTask, detailedTask, type TaskForm } from "./forms.ts";
import type { TaskSettings } from "./options.ts";
import type { TaskRecord, TaskStore } from "./store.ts";

/** A task whose handler runs in this process. */
export interface RunningTask {
  /** Calls `callback` when the task has ended and its end is stored, unless you call the returned function before. */
  whenDone(callback: (end: TaskEnd) => void): () => void;
  /** Passes answers to its questions. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Lets its questions use that stream too, until you call the returned function. */
  attach(place: AskTarget): () => void;
  stop(status: TaskEnd, reason: string): void;
}

/** Asks the client of a task, in either form. */
export interface TaskAsker extends Asker {
  /** Whether a question is open. */
  readonly isAsking: boolean;
  /** The open questions, if the task holds them. */
  readonly requests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Passes answers from `tasks/update`. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Lets questions use that stream too, where the client waits for the result, until you call the returned function. */
  attach(place: AskTarget): () => void;
  /** Rejects all open and further questions. */
  giveUp(problem: string): void;
}

export class TaskTable {
  readonly settings: TaskSettings;
  /** Whether any tool can run as a task. */
  offered = false;
  /** The unfinished tasks of this process. */
  readonly runs: Map<string, RunningTask> = new Map();
  /** Counts the running handlers of this process, by caller. */
  readonly #running: Shares;
  readonly #hub: Hub;

  constructor(settings: TaskSettings, hub: Hub) {
    this.settings = settings;
    this.#running = new Shares(settings.maxRunning);
    this.#hub = hub;
  }

  get store(): TaskStore {
    return this.settings.store;
  }

  /**
   * Counts a running handler, and returns the function that ends the count. Throws if too many run. A handler that continues
   * after its task was cancelled still counts.
   */
  enter(caller: string, owner: string): () => void {
    const own = this.#running.of(caller);
    // Callers without a principal may share an address, so their limit is a share of the total.
    const isPastOwn = owner !== nobody && own >= this.settings.maxRunningPerPrincipal;
    if (isPastOwn || !this.#running.fitsPastHalf(caller, 1)) {
      const running = isPastOwn ? own : this.#running.total;
      throw invalidRequest(`Too many tasks are running (${running}): try again later`);
    }
    this.#running.count(caller, 1);
    return () => this.#running.count(caller, -1);
  }

  /** Returns the task if it has this form and the caller may use it. Any other task is reported as unknown. */
  async find({ principal, grant }: Caller, form: TaskForm, id: unknown): Promise<TaskRecord> {
    if (typeof id !== "string") throw invalidParams("taskId must be a string");
    // Spare the store ids that no task can have.
    const task = id.length > maxIdLength ? undefined : await this.store.read(ownerOf(principal), id);
    if (!task || !isFor(task, form, grant)) throw invalidParams("Unknown task");
    return task;
  }

  /** Cancels a task of any process. Returns the changed task, or undefined if it had already ended. */
  async cancel(task: TaskRecord): Promise<TaskRecord | undefined> {
    const cancelled = await this.end(task);
    if (!cancelled) return undefined;
    this.runs.get(task.id)?.stop("cancelled", "The task was cancelled");
    await this.announce(cancelled);
    return cancelled;
  }

  /** Stores that a task is cancelled, without a notification. */
  end({ owner, id }: TaskRecord): Promise<TaskRecord | undefined> {
    const lastUpdatedAt = new Date().toISOString();
    return this.store.change(owner, id, { status: "cancelled", inputRequests: undefined, lastUpdatedAt });
  }

  /** Notifies the subscribers or the session of the task's status. */
  async announce(task: TaskRecord): Promise<void> {
    const { form, id, session, scopes } = task;
    if (form === "extension") {
      await this.#hub.publish("notifications/tasks", id, detailedTask(task), scopes);
    } else if (session !== undefined) {
      await this.#hub.toSession(session, "notifications/tasks/status", coreTask(task), scopes);
    }
  }
}

/** The caller of a task method. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** The permissions of this caller, who needs the scopes of the task no matter who started it. */
  readonly grant: Grant;
}

/** Whether a task of this owner has this form and may be used with this grant. */
export function isFor(task: TaskRecord, form: TaskForm, grant: Grant): boolean {
  return task.form === form && isGranted(task.scopes, grant);
}

/** Longer than every id that this server creates. */
const maxIdLength = 100;

/** The owner of tasks whose callers are not authenticated. */
const nobody = "";

/**
 * The owner of a caller's tasks. Callers without authentication share one owner, and only unguessable ids protect their
 * tasks.
 */
export function ownerOf(principal: Principal | undefined): string {
  return principal ? principalKey(principal) : nobody;
}
