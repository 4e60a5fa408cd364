// The tasks of one server: which ones run in this process, who may use them, and how they end.
import { type Cluster, PartKind } from "../../cluster/node/cluster.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { errorCodes, invalidParams, invalidRequest } from "../../base/errors.ts";
import { Shares } from "../../base/limits/shares.ts";
import type { Principal } from "../../protocol/model.ts";
import { type Grant, isGranted, principalKey } from "../../protocol/principal.ts";
import type { Asks, AskTarget } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import { topicOf } from "../push/topic.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { TaskEnd } from "../diagnostics/events.ts";
import type { TasksElsewhere } from "./elsewhere.ts";
import { TaskStore } from "./store.ts";
import { coreTask, detailedTask, type TaskForm, hasEnded, type TaskRecord } from "./record.ts";
import type { TaskSettings } from "./options.ts";
import type { RemotePlaces } from "./remote-places.ts";
import type { RunningTask } from "./task-asker.ts";
import { placeHere } from "./stream-asker.ts";
import { type TaskWait, TaskWaits } from "./waits.ts";

/** The parts of the server that the table uses. */
export interface TableParts {
  readonly hub: Hub;
  readonly asks: Asks;
  readonly logger: Logger;
  readonly cluster: Cluster;
}

/** Reaches the tasks of other nodes. */
export const sharedTasks: PartKind<{
  readonly RemotePlaces: typeof RemotePlaces;
  readonly TasksElsewhere: typeof TasksElsewhere;
}> = new PartKind("tasks");

export class TaskTable {
  readonly settings: TaskSettings;
  readonly store: TaskStore;
  /** Whether any tool can run as a task. */
  offered = false;
  /** The unfinished tasks of this process. */
  readonly runs: Map<string, RunningTask> = new Map();
  /** Counts the running handlers of this process, by caller. */
  readonly #running: Shares;
  readonly #parts: TableParts;
  readonly #waits = new TaskWaits();
  readonly #elsewhere: TasksElsewhere | undefined;
  readonly #remotePlaces: RemotePlaces | undefined;
  /** The tasks of other nodes that clients of this one listen to. */
  readonly #listened = new Map<string, TaskRecord>();
  /** The tasks of this node whose end could not be stored. */
  readonly #unstored = new Map<string, TaskRecord>();

  constructor(settings: TaskSettings, parts: TableParts) {
    const { cluster, asks, logger } = parts;
    this.settings = settings;
    this.#running = new Shares(settings.maxRunning);
    this.#parts = parts;
    this.store = new TaskStore(cluster, settings);
    const shared = cluster.part(sharedTasks);
    if (shared === undefined) return;
    this.#remotePlaces = new shared.RemotePlaces({ cluster, asks, logger, runs: this.runs });
    this.#elsewhere = new shared.TasksElsewhere(cluster, this.runs, {
      ended: (id) => {
        this.#listened.delete(id);
        this.#waits.wake(id);
      },
      left: (node) => this.#left(node),
      back: () => this.#back(),
    });
  }

  /** The id of this node, if there are others. */
  get node(): string | undefined {
    return this.#elsewhere?.node;
  }

  /**
   * Counts a running handler, and returns the function that ends the count. Throws if too many run. A handler that continues
   * after its task was cancelled still counts.
   */
  enter(caller: string, owner: string): () => void {
    const own = this.#running.of(caller);
    // Callers without a principal may share an address, so their limit is a share of the total.
    const isPastOwn = owner !== noOwner && own >= this.settings.maxRunningPerPrincipal;
    if (isPastOwn || !this.#running.fitsPastHalf(caller, 1)) {
      const running = isPastOwn ? own : this.#running.total;
      throw invalidRequest(`Too many tasks are running (${running}): try again later`);
    }
    this.#running.count(caller, 1);
    return () => this.#running.count(caller, -1);
  }

  /** Returns the task if it has this form and the caller may use it. Any other task is reported as unknown. */
  async find({ principal, grant }: TaskCaller, form: TaskForm, id: unknown): Promise<TaskRecord> {
    if (typeof id !== "string") throw invalidParams("taskId must be a string");
    // Spare the store ids that no task can have.
    const task = id.length > maxIdLength ? undefined : await this.#read(ownerOf(principal), id);
    if (!task || !isFor(task, form, grant)) throw invalidParams("Unknown task");
    return task;
  }

  /** Cancels a task of any process. Returns the changed task, or undefined if it had already ended. */
  async cancel(task: TaskRecord): Promise<TaskRecord | undefined> {
    const cancelled = await this.end(task);
    if (!cancelled) return undefined;
    this.runs.get(task.id)?.stop("cancelled", "The task was cancelled");
    this.#elsewhere?.tell(task.id, "cancelled");
    this.#waits.wake(task.id);
    await this.announce(cancelled);
    return cancelled;
  }

  /** Stores that a task is cancelled, without a notification. */
  end({ owner, id }: TaskRecord): Promise<TaskRecord | undefined> {
    const lastUpdatedAt = new Date().toISOString();
    return this.store.change(owner, id, { status: "cancelled", inputRequests: undefined, lastUpdatedAt });
  }

  /** Called when a task of this process has ended and its end is stored. The node that stored a cancellation has already announced it. */
  finished(id: string, status: TaskEnd): void {
    this.runs.delete(id);
    if (status !== "cancelled") this.#elsewhere?.tell(id, status);
    this.#waits.wake(id);
  }

  /** Remembers a task whose end could not be stored, to store that when the engine is back. */
  keepUnstored(task: TaskRecord): void {
    if (this.#elsewhere && this.#unstored.size < maxRemembered) this.#unstored.set(task.id, task);
  }

  /** Passes answers of a caller, as limits count it, to a task of any process. */
  async answer(
    caller: string,
    task: TaskRecord,
    responses: Readonly<Record<string, JsonObject>>,
  ): Promise<void> {
    const run = this.runs.get(task.id);
    if (run) await run.answer(responses);
    else if (!hasEnded(task)) await this.#elsewhere?.update(caller, task, responses);
  }

  /** Waits for a task of any process. With a target, its questions may use that stream meanwhile. */
  wait(task: TaskRecord, target: AskTarget | undefined): TaskWait {
    const run = this.runs.get(task.id);
    const asksElsewhere = !run && target && task.form === "core";
    const remote = asksElsewhere ? this.#remotePlaces?.waitFor(task, target) : undefined;
    const detach = target && run?.attach(placeHere(this.#parts.asks, target));
    return this.#waits.open(task, {
      before: () => {
        remote?.renew();
        if (this.runs.has(task.id)) return undefined;
        return this.#elsewhere ? readAgainMs : task.pollIntervalMs;
      },
      close: () => {
        remote?.close();
        detach?.();
      },
    });
  }

  /** Remembers that a client of this node listens to a task, to tell it if the node that runs the task is gone. */
  listened(task: TaskRecord): void {
    if (!this.#elsewhere || task.node === this.node || hasEnded(task)) return;
    const [oldest] = this.#listened.keys();
    if (oldest !== undefined && this.#listened.size >= maxRemembered) this.#listened.delete(oldest);
    this.#listened.set(task.id, task);
  }

  /** Notifies the subscribers or the session of the task's status. */
  async announce(task: TaskRecord): Promise<void> {
    const { form, id, session, scopes } = task;
    const { hub } = this.#parts;
    if (form === "extension") {
      await hub.publish(tasksTopic, id, detailedTask(task), scopes);
    } else if (session !== undefined) {
      await hub.toSession(session, "notifications/tasks/status", coreTask(task), scopes);
    }
  }

  /** Reads a task. If no node runs it any more, fails it first. */
  async #read(owner: string, id: string): Promise<TaskRecord | undefined> {
    const task = await this.store.read(owner, id);
    if (!task || !this.#elsewhere || hasEnded(task)) return task;
    const reason = await this.#elsewhere.whyOver(task);
    if (reason === undefined) return task;
    await this.#fail(task, reason);
    return this.store.read(owner, id);
  }

  async #fail({ owner, id }: TaskRecord, statusMessage: string): Promise<void> {
    const failed = await this.store.change(owner, id, {
      status: "failed",
      statusMessage,
      inputRequests: undefined,
      error: { code: errorCodes.internal, message: statusMessage },
      lastUpdatedAt: new Date().toISOString(),
    });
    this.#unstored.delete(id);
    this.#listened.delete(id);
    if (!failed) return;
    this.#elsewhere?.tell(id, "failed");
    this.#waits.wake(id);
    await this.announce(failed);
  }

  #left(node: string): void {
    this.#waits.wakeNode(node);
    for (const task of this.#listened.values()) {
      if (task.node === node) this.#checkListened(task);
    }
  }

  #checkListened(task: TaskRecord): void {
    const check = async (): Promise<void> => {
      if (await this.#parts.hub.isListened(topicOf(tasksTopic, task.id)))
        await this.#read(task.owner, task.id);
      this.#listened.delete(task.id);
    };
    logRejection(this.#parts.logger, "Looking for a task of a node that is gone", check());
  }

  /** Messages may have been lost: reads all tasks that requests wait for, and those that run here. */
  #back(): void {
    this.#waits.wakeAll();
    const { logger } = this.#parts;
    for (const task of this.#unstored.values()) {
      logRejection(logger, "Storing the end of a task", this.#read(task.owner, task.id));
    }
    for (const run of this.runs.values()) {
      logRejection(logger, "Reading a task", this.#stopIfEnded(run));
    }
  }

  async #stopIfEnded(run: RunningTask): Promise<void> {
    const task = await this.store.read(run.record.owner, run.record.id);
    if (task?.status === "cancelled" || task?.status === "failed")
      run.stop(task.status, "The task has ended");
  }
}

const tasksTopic = "notifications/tasks";

/** Milliseconds after which a request reads a task of another node although no message has come: a message may be lost. */
const readAgainMs = 15_000;

/** How many tasks the table remembers for later, of each kind. */
const maxRemembered = 10_000;

/** The caller of a task method. */
export interface TaskCaller {
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
const noOwner = "";

/**
 * The owner of a caller's tasks. Callers without authentication share one owner, and only unguessable ids protect their
 * tasks.
 */
export function ownerOf(principal: Principal | undefined): string {
  return principal ? principalKey(principal) : noOwner;
}
