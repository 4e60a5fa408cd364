// The list of an owner's tasks in the engine, or of a session's if callers are not authenticated: for `tasks/list` and for limits.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { ValueKey } from "../../cluster/engine/engine.ts";
import { changeInTurn } from "../../cluster/engine/edits.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject } from "../../base/wire/message.ts";
import type { TaskPosition } from "./record.ts";

/** What a list says of a task. */
export interface Listed extends TaskPosition {
  readonly size: number;
  /** The node that started it, and when it expires on the wall clock of that node. */
  readonly node: string;
  readonly endsAt: number;
}

export interface ListLimits {
  readonly maxTasks: number;
  readonly maxSize: number;
}

/** How many tasks that seem to have expired are looked for at once. */
const maxChecked = 20;

export class TaskList {
  readonly #cluster: Cluster;
  readonly #key: ValueKey;

  constructor(cluster: Cluster, tag: string) {
    this.#cluster = cluster;
    this.#key = { kind: "task-list", tag };
  }

  /** All tasks, oldest first, those of one millisecond in the order of their start; some may no longer exist. */
  async read(): Promise<readonly Listed[]> {
    const stored = await this.#cluster.engine.get(this.#key);
    return stored ? this.#parse(stored.text) : [];
  }

  /** Adds a task, or changes its size. Resolves with false if the tasks would exceed a limit. */
  async put(task: Listed, limits: ListLimits): Promise<boolean> {
    const put = await changeInTurn(this.#cluster.engine, this.#key, "The list of tasks", async (stored) => {
      const tasks = await this.#unexpired(stored ? this.#parse(stored.text) : []);
      const at = tasks.findIndex(({ id }) => id === task.id);
      tasks.splice(at === -1 ? tasks.length : at, 1, task);
      const size = tasks.reduce((sum, listed) => sum + listed.size, 0);
      if (tasks.length > limits.maxTasks || size > limits.maxSize) return undefined;
      const ttlMs = Math.max(...tasks.map((listed) => this.#remainingMs(listed)), 1);
      return { text: JSON.stringify(tasks), ttlMs };
    });
    return put !== undefined;
  }

  /** The tasks of a list, without members that are none. */
  #parse(text: string): Listed[] {
    const tasks = readJson(text);
    const listed = Array.isArray(tasks) ? tasks.filter(isListed) : [];
    if (!Array.isArray(tasks) || listed.length !== tasks.length) this.#cluster.ignoreInvalid("task-list");
    return listed.toSorted(
      (one, other) => Number(one.createdAt > other.createdAt) - Number(one.createdAt < other.createdAt),
    );
  }

  #remainingMs({ node, endsAt }: Listed): number {
    return endsAt - this.#cluster.clockOf(node);
  }

  /** Without the tasks that no longer exist. The engine decides, since the clocks of nodes may disagree. */
  async #unexpired(tasks: readonly Listed[]): Promise<Listed[]> {
    const seemOver = tasks.filter((task) => this.#remainingMs(task) <= 0).slice(0, maxChecked);
    const found = await Promise.all(seemOver.map(({ id }) => this.#cluster.engine.get(taskKey(id))));
    const gone = new Set(seemOver.filter((_, at) => found[at] === undefined));
    return tasks.filter((task) => !gone.has(task));
  }
}

/** The tasks that follow a position, also one whose task no longer exists. */
export function tasksAfter(listed: readonly Listed[], { id, createdAt }: TaskPosition): readonly Listed[] {
  const at = listed.findIndex((task) => task.id === id);
  return at === -1 ? listed.filter((task) => task.createdAt >= createdAt) : listed.slice(at + 1);
}

/** Where the engine has a task. */
export function taskKey(id: string): ValueKey {
  return { kind: "task", tag: id };
}

function isListed(value: unknown): value is Listed {
  if (!isObject(value)) return false;
  const { id, createdAt, size, node, endsAt } = value;
  const isPlace = typeof id === "string" && typeof createdAt === "string" && typeof node === "string";
  return isPlace && typeof size === "number" && typeof endsAt === "number";
}
