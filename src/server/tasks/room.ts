// Counts the tasks that this process has started against their limits, by caller, until they expire.
import { inBackground } from "../../base/async/timers.ts";
import { Shares } from "../../base/limits/shares.ts";

/** How many tasks a process stores, and how large they may be. */
export interface TaskLimits {
  readonly maxTasks: number;
  readonly maxTasksPerPrincipal: number;
  readonly maxSize: number;
  readonly maxSizePerPrincipal: number;
}

/** A task that takes room. */
export interface RoomTaken {
  readonly id: string;
  readonly owner: string;
  /** The caller that the limits count it for. */
  readonly caller: string;
  readonly size: number;
  /** On the monotonic clock, so that changing the wall clock does not end a task. */
  readonly endsAt: number;
}

/** The size that each task counts at least: it reserves room for the end of the task. */
const minSize = 1024;

/** The size of a stored task. */
export function taskSize(text: string): number {
  return Math.max(text.length, minSize);
}

export class TaskRoom {
  readonly #taken = new Map<string, RoomTaken>();
  readonly #limits: TaskLimits;
  readonly #number: Shares;
  readonly #size: Shares;
  #isSweeping = false;

  constructor(limits: TaskLimits) {
    this.#limits = limits;
    this.#number = new Shares(limits.maxTasks);
    this.#size = new Shares(limits.maxSize);
  }

  /** Counts a task. Returns false if there is no room. */
  take(task: RoomTaken): boolean {
    if (!this.#hasRoom(task, 1, task.size)) this.#sweep();
    if (!this.#hasRoom(task, 1, task.size)) return false;
    this.#taken.set(task.id, task);
    this.#count(task, 1, task.size);
    this.#sweepLater();
    return true;
  }

  /** The task as it counts, unless it has expired or another node has started it. */
  find(id: string): RoomTaken | undefined {
    const task = this.#taken.get(id);
    return task && task.endsAt > performance.now() ? task : undefined;
  }

  /** Counts another size for a task. Returns false if there is no room for it. */
  resize(id: string, size: number): boolean {
    const task = this.#taken.get(id);
    if (task === undefined) return true;
    const more = size - task.size;
    if (more > 0 && !this.#hasRoom(task, 0, more)) return false;
    this.#taken.set(id, { ...task, size });
    this.#count(task, 0, more);
    return true;
  }

  release(id: string): void {
    const task = this.#taken.get(id);
    if (task && this.#taken.delete(id)) this.#count(task, -1, -task.size);
  }

  #hasRoom({ owner, caller }: RoomTaken, tasks: number, size: number): boolean {
    const { maxTasksPerPrincipal, maxSizePerPrincipal, maxSize } = this.#limits;
    const isPastOwn =
      owner !== "" &&
      (this.#number.of(caller) + tasks > maxTasksPerPrincipal ||
        this.#size.of(caller) + size > maxSizePerPrincipal);
    if (isPastOwn || this.#size.total + size > maxSize) return false;
    return tasks > 0 ? this.#number.fitsPastHalf(caller, tasks) : this.#size.fitsPastHalf(caller, size);
  }

  #count({ caller }: RoomTaken, tasks: number, size: number): void {
    this.#number.count(caller, tasks);
    this.#size.count(caller, size);
  }

  #sweep(): void {
    const now = performance.now();
    for (const { id, endsAt } of this.#taken.values()) if (endsAt <= now) this.release(id);
  }

  /** Starts one timer for the task that expires first, if there is a task. It does not keep the process alive. */
  #sweepLater(): void {
    if (this.#isSweeping || this.#taken.size === 0) return;
    this.#isSweeping = true;
    let first = Number.POSITIVE_INFINITY;
    for (const { endsAt } of this.#taken.values()) first = Math.min(first, endsAt);
    const sweep = (): void => {
      this.#isSweeping = false;
      this.#sweep();
      this.#sweepLater();
    };
    inBackground(setTimeout(sweep, Math.min(Math.max(first - performance.now(), 50), 60_000)));
  }
}
