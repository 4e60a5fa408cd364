// Stores tasks in the memory of one process, as JSON text like a remote store.
import { Shares } from "../../limits/shares.ts";
import { checkOptions, givenOf } from "../../options.ts";
import { inBackground } from "../../async/timers.ts";
import {
  hasEnded,
  type TaskChange,
  type TaskPosition,
  type TaskQuery,
  type TaskRecord,
  type TaskStore,
} from "./store.ts";

/** The limits of a {@link MemoryTaskStore}. */
export interface MemoryTaskStoreOptions {
  /** The maximum number of tasks. Further ones are rejected until others expire. @default {10000} */
  readonly maxTasks?: number;
  /** The maximum size of all tasks with their results, in characters. Each counts as at least 1024. @default {67108864} */
  readonly maxSize?: number;
  /** The maximum number of tasks of one principal. @default {1000} */
  readonly maxTasksPerOwner?: number;
  /** The maximum size of the tasks of one principal, in characters. @default {16777216} */
  readonly maxSizePerOwner?: number;
}

const defaults: Required<MemoryTaskStoreOptions> = {
  maxTasks: 10_000,
  maxSize: 64 * 1024 * 1024,
  maxTasksPerOwner: 1000,
  maxSizePerOwner: 16 * 1024 * 1024,
};

/** A task as text, with the fields that searches use, so that they parse no other task. */
interface Kept extends TaskPosition {
  readonly owner: string;
  /** The caller that the limits count it for. */
  readonly caller: string;
  readonly session: string | undefined;
  readonly endsAt: number;
  text: string;
}

/** The size that each task counts at least: it reserves room for the end of the task. */
const minSize = 1024;

function sizeOf(text: string): number {
  return Math.max(text.length, minSize);
}

/** What an operation adds to the store. */
interface Amount {
  readonly tasks: number;
  readonly size: number;
}

/**
 * Stores tasks in the memory of one process, as JSON text.
 *
 * @example
 * ```ts
 * import { McpServer, MemoryTaskStore } from "halyard";
 *
 * const store = new MemoryTaskStore({ maxTasks: 100 });
 * const server = new McpServer({ name: "demo", version: "1.0.0" }, { tasks: { store, ttlMs: 600_000 } });
 * ```
 */
export class MemoryTaskStore implements TaskStore {
  readonly #tasks = new Map<string, Kept>();
  readonly #number: Shares;
  readonly #size: Shares;
  readonly #maxPerOwner: Amount;
  #sweeping = false;

  constructor(options: MemoryTaskStoreOptions = {}) {
    checkOptions({ subject: "MemoryTaskStore" }, options, defaults);
    const limits = { ...defaults, ...givenOf(options) };
    this.#number = new Shares(limits.maxTasks);
    this.#size = new Shares(limits.maxSize);
    this.#maxPerOwner = { tasks: limits.maxTasksPerOwner, size: limits.maxSizePerOwner };
  }

  async create(task: TaskRecord, caller: string = task.owner): Promise<boolean> {
    const { id, owner, session, createdAt } = task;
    const text = JSON.stringify(task);
    const more = { tasks: 1, size: sizeOf(text) };
    if (!this.#hasRoom(task, caller, more)) this.#sweep();
    if (!this.#hasRoom(task, caller, more)) return false;
    // On the monotonic clock, so that changing the wall clock does not end a task.
    const endsAt = performance.now() + (Date.parse(createdAt) - Date.now()) + task.ttlMs;
    this.#tasks.set(id, { id, owner, caller, session, createdAt, endsAt, text });
    this.#count(caller, more);
    this.#sweepLater();
    return true;
  }

  async read(owner: string, id: string): Promise<TaskRecord | undefined> {
    const kept = this.#find(owner, id);
    return kept && parse(kept);
  }

  async change(owner: string, id: string, change: TaskChange): Promise<TaskRecord | undefined> {
    const kept = this.#find(owner, id);
    const before = kept && parse(kept);
    if (!kept || !before || hasEnded(before)) return undefined;
    const text = JSON.stringify({ ...before, ...change });
    const more = { tasks: 0, size: sizeOf(text) - sizeOf(kept.text) };
    if (more.size > 0 && !this.#hasRoom(kept, kept.caller, more))
      throw new RangeError("The task store is full: raise maxSize or maxSizePerOwner");
    this.#count(kept.caller, more);
    kept.text = text;
    return parse(kept);
  }

  async list(owner: string, { session, after, limit }: TaskQuery): Promise<readonly TaskRecord[]> {
    const found: Kept[] = [];
    for (const id of this.#tasks.keys()) {
      const kept = this.#find(owner, id);
      if (!kept || (session !== undefined && kept.session !== session)) continue;
      if (!after || isAfter(kept, after)) found.push(kept);
    }
    return found
      .toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
      .slice(0, limit)
      .map(parse);
  }

  #find(owner: string, id: string): Kept | undefined {
    const kept = this.#tasks.get(id);
    return kept?.owner === owner && kept.endsAt > performance.now() ? kept : undefined;
  }

  #hasRoom({ owner }: { readonly owner: string }, caller: string, { tasks, size }: Amount): boolean {
    const isPastOwn =
      owner !== "" &&
      (this.#number.of(caller) + tasks > this.#maxPerOwner.tasks ||
        this.#size.of(caller) + size > this.#maxPerOwner.size);
    if (isPastOwn || this.#size.total + size > this.#size.max) return false;
    return tasks === 0 || this.#number.fitsPastHalf(caller, tasks);
  }

  #count(caller: string, { tasks, size }: Amount): void {
    this.#number.count(caller, tasks);
    this.#size.count(caller, size);
  }

  /** Deletes expired tasks. */
  #sweep(): void {
    const now = performance.now();
    for (const [id, { endsAt, caller, text }] of this.#tasks) {
      if (endsAt > now) continue;
      this.#tasks.delete(id);
      this.#count(caller, { tasks: -1, size: -sizeOf(text) });
    }
  }

  /** Starts one timer for the task that expires first, if there is a task. It does not keep the process alive. */
  #sweepLater(): void {
    if (this.#sweeping || this.#tasks.size === 0) return;
    this.#sweeping = true;
    let first = Number.POSITIVE_INFINITY;
    for (const { endsAt } of this.#tasks.values()) first = Math.min(first, endsAt);
    const sweep = (): void => {
      this.#sweeping = false;
      this.#sweep();
      this.#sweepLater();
    };
    inBackground(setTimeout(sweep, Math.min(Math.max(first - performance.now(), 50), 60_000)));
  }
}

function parse({ text }: Kept): TaskRecord {
  return JSON.parse(text) as TaskRecord;
}

function isAfter(one: TaskPosition, other: TaskPosition): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt;
  return one.id > other.id;
}
