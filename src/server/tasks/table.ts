// The tasks of one server: which of them run here, whose they are, and how one ends.
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
  /** Calls back when the task has ended and its end is kept, unless the returned function is called before. */
  whenDone(callback: (end: TaskEnd) => void): () => void;
  /** Answers to its questions. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Its questions may go out there too, until the returned function is called. */
  attach(place: AskTarget): () => void;
  stop(status: TaskEnd, reason: string): void;
}

/** How a task asks its client, whichever form it has. */
export interface TaskAsker extends Asker {
  /** Whether a question is open. */
  readonly isAsking: boolean;
  /** The open questions, where they stand in the task. */
  readonly requests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Takes answers that come with the task. */
  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void>;
  /** Questions may go out there too, since the result is awaited there; until the returned function is called. */
  attach(place: AskTarget): () => void;
  /** Nobody will answer any more. */
  giveUp(problem: string): void;
}

export class TaskTable {
  readonly settings: TaskSettings;
  /** Whether a tool may be called as a task. */
  offered = false;
  /** Those that have not ended, and run here. */
  readonly runs: Map<string, RunningTask> = new Map();
  /** The handlers that run here. */
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
   * Counts a handler in, and gives the way to count it out again. Throws when too many run: one that goes on after its
   * task was cancelled still uses what the limit protects.
   */
  enter(caller: string, owner: string): () => void {
    const own = this.#running.of(caller);
    // An address may be that of many callers.
    const isPastOwn = owner !== nobody && own >= this.settings.maxRunningPerPrincipal;
    if (isPastOwn || !this.#running.fitsPastHalf(caller, 1)) {
      const running = isPastOwn ? own : this.#running.total;
      throw invalidRequest(`${running} tasks are running, and may not be more: try again later`);
    }
    this.#running.count(caller, 1);
    return () => this.#running.count(caller, -1);
  }

  /** The task, if it is this caller's, for it to use, and of this form; otherwise the error for one that is not there. */
  async find({ principal, grant }: Caller, form: TaskForm, id: unknown): Promise<TaskRecord> {
    if (typeof id !== "string") throw invalidParams("taskId must be a string");
    // A store may be far away, and need not be shown what no task is called.
    const task = id.length > maxIdLength ? undefined : await this.store.read(ownerOf(principal), id);
    if (task === undefined || !isFor(task, form, grant)) throw invalidParams("Unknown task");
    return task;
  }

  /** Cancels a task, wherever it runs. The task as it is now; undefined when it had ended. */
  async cancel(task: TaskRecord): Promise<TaskRecord | undefined> {
    const cancelled = await this.end(task);
    if (cancelled === undefined) return undefined;
    this.runs.get(task.id)?.stop("cancelled", "The task was cancelled");
    await this.announce(cancelled);
    return cancelled;
  }

  /** Keeps that a task is cancelled, and tells nobody. */
  end({ owner, id }: TaskRecord): Promise<TaskRecord | undefined> {
    const lastUpdatedAt = new Date().toISOString();
    return this.store.change(owner, id, { status: "cancelled", inputRequests: undefined, lastUpdatedAt });
  }

  /** Tells those who want to know where the task stands. */
  async announce(task: TaskRecord): Promise<void> {
    const { form, id, session, scopes } = task;
    if (form === "extension") {
      await this.#hub.publish("notifications/tasks", id, detailedTask(task), scopes);
    } else if (session !== undefined) {
      await this.#hub.toSession(session, "notifications/tasks/status", coreTask(task), scopes);
    }
  }
}

/** Who asks about tasks. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** What this caller may use: the scopes of a task hold for whoever comes for it, and not only for whoever began it. */
  readonly grant: Grant;
}

/** Whether a task of this owner's is one that it may use now, in this form. */
export function isFor(task: TaskRecord, form: TaskForm, grant: Grant): boolean {
  return task.form === form && isGranted(task.scopes, grant);
}

/** Ids are made here, and are shorter. */
const maxIdLength = 100;

/** The owner of the tasks of callers who are not authenticated. */
const nobody = "";

/** Whose tasks these are. Callers who are not authenticated share one name, and are told apart by ids that nobody can guess. */
export function ownerOf(principal: Principal | undefined): string {
  return principal === undefined ? nobody : principalKey(principal);
}
