// Stores tasks in the engine, so that every node can read and change them.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { StoredValue } from "../../cluster/engine/engine.ts";
import { changeValue } from "../../cluster/engine/edits.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject, isTexts } from "../../base/wire/message.ts";
import { taskSize, type TaskLimits, TaskRoom } from "./room.ts";
import { hasEnded, noRoom, type TaskChange, type TaskQuery, type TaskRecord } from "./record.ts";
import { TaskList, taskKey, tasksAfter } from "./task-list.ts";

/** A change by another node keeps a task at least this long, in milliseconds: its clock may be ahead. */
const minKeptMs = 60_000;

/**
 * - When a promise resolves, the change is durable: the client learns of it next, and may send its next request to another node.
 * - Every method takes the owner. Tasks of other owners, and those that have expired, look as if they did not exist.
 * - A task that has ended (`completed`, `failed`, `cancelled`) does not change: a cancellation and the end of the work may arrive from
 *   different nodes at the same time, and the first one counts.
 * - If the engine fails, the methods reject: a failed `create` fails the call, a failed change is logged and the task continues, and a
 *   result that cannot be stored fails its task.
 */
export class TaskStore {
  readonly #cluster: Cluster;
  readonly #limits: TaskLimits;
  /** The tasks that this node has started. */
  readonly #room: TaskRoom;

  constructor(cluster: Cluster, limits: TaskLimits) {
    this.#cluster = cluster;
    this.#limits = limits;
    this.#room = new TaskRoom(limits);
  }

  /** Stores a new task. Resolves with false if there is no room. The limits of this process count it for `caller`. */
  async create(task: TaskRecord, caller: string): Promise<boolean> {
    const { id, owner, ttlMs } = task;
    const text = JSON.stringify(task);
    const size = taskSize(text);
    if (!this.#room.take({ id, owner, caller, size, endsAt: performance.now() + ttlMs })) return false;
    let isStored = false;
    try {
      isStored =
        (await this.#list(task, size)) &&
        (await this.#cluster.engine.create(taskKey(id), text, ttlMs)) !== undefined;
    } finally {
      if (!isStored) this.#room.release(id);
    }
    return isStored;
  }

  async read(owner: string, id: string): Promise<TaskRecord | undefined> {
    return this.#read(owner, id, await this.#cluster.engine.get(taskKey(id)));
  }

  /** Changes the given members. Resolves with the whole changed task, or with undefined if it does not exist or has ended. */
  async change(owner: string, id: string, change: TaskChange): Promise<TaskRecord | undefined> {
    const changed = await changeValue(this.#cluster.engine, taskKey(id), "The task", async (stored) => {
      const task = this.#read(owner, id, stored);
      if (task === undefined || hasEnded(task)) return undefined;
      const text = JSON.stringify({ ...task, ...change });
      await this.#resize(task, taskSize(text));
      return { text, ttlMs: this.#remainingMs(task) };
    });
    return changed && (JSON.parse(changed.text) as TaskRecord);
  }

  /** Resolves with the tasks, oldest first. */
  async list(owner: string, { session, after, limit }: TaskQuery): Promise<readonly TaskRecord[]> {
    const list = this.#listOf({ owner, ...(session !== undefined && { session }) });
    const all = (await list?.read()) ?? [];
    const listed = after ? tasksAfter(all, after) : all;
    const tasks: TaskRecord[] = [];
    for (let at = 0; at < listed.length && tasks.length < limit; at += limit) {
      const reads = listed.slice(at, at + limit).map(({ id }) => this.read(owner, id));
      for (const task of await Promise.all(reads)) if (task) tasks.push(task);
    }
    return tasks.slice(0, limit);
  }

  /** The task with this id, if it belongs to the owner. An invalid one counts as absent. */
  #read(owner: string, id: string, stored: Pick<StoredValue, "text"> | undefined): TaskRecord | undefined {
    if (stored === undefined) return undefined;
    const task = readTask(stored.text);
    if (task?.id !== id) return void this.#cluster.ignoreInvalid("task");
    return task.owner === owner ? task : undefined;
  }

  #remainingMs({ id, node, createdAt, ttlMs }: TaskRecord): number {
    const own = this.#room.find(id);
    if (own !== undefined) return Math.max(own.endsAt - performance.now(), 1);
    const now = this.#cluster.clockOf(node ?? this.#cluster.node);
    return Math.min(Math.max(Date.parse(createdAt) + ttlMs - now, minKeptMs), ttlMs);
  }

  /** Counts another size, if this node has started the task. */
  async #resize(task: TaskRecord, size: number): Promise<void> {
    const before = this.#room.find(task.id);
    if (before === undefined || before.size === size) return;
    if (!this.#room.resize(task.id, size)) throw noRoom();
    if (size > before.size && !(await this.#list(task, size))) throw noRoom();
  }

  /** Writes the task into the list that it belongs to. Resolves with false if the list is full. */
  async #list(task: TaskRecord, size: number): Promise<boolean> {
    const { id, createdAt, ttlMs, node = this.#cluster.node } = task;
    const { maxTasksPerPrincipal: maxTasks, maxSizePerPrincipal: maxSize } = this.#limits;
    const endsAt = Date.parse(createdAt) + ttlMs;
    return (
      (await this.#listOf(task)?.put({ id, createdAt, size, node, endsAt }, { maxTasks, maxSize })) ?? true
    );
  }

  /** Tasks without owner and session are in no list, because no caller could request it. */
  #listOf({ owner, session }: Pick<TaskRecord, "owner" | "session">): TaskList | undefined {
    if (owner !== "") return new TaskList(this.#cluster, `owner ${owner}`);
    return session === undefined ? undefined : new TaskList(this.#cluster, `session ${session}`);
  }
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const orMissing =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const statuses = new Set<unknown>(["working", "input_required", "completed", "failed", "cancelled"]);

/** The checks of each member before use: another version of Halyard, or another program, may have written the record. */
const checks: Readonly<Record<keyof TaskRecord, Check>> = {
  id: isText,
  owner: isText,
  session: orMissing(isText),
  node: orMissing(isText),
  tool: isText,
  scopes: orMissing(isTexts),
  form: (value) => value === "core" || value === "extension",
  status: (value) => statuses.has(value),
  statusMessage: orMissing(isText),
  createdAt: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  lastUpdatedAt: isText,
  ttlMs: isNumber,
  pollIntervalMs: isNumber,
  inputRequests: orMissing(isObject),
  result: orMissing(isObject),
  error: orMissing((value) => isObject(value) && isNumber(value["code"]) && isText(value["message"])),
};

function readTask(text: string): TaskRecord | undefined {
  const value = readJson(text);
  if (!isObject(value)) return undefined;
  const isValid = Object.entries(checks).every(([name, check]) => check(value[name]));
  return isValid ? (value as unknown as TaskRecord) : undefined;
}
