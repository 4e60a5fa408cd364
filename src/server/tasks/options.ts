// The options of tasks, with their defaults.
import { givenOf } from "../../options.ts";

/** The options of tasks. All have defaults. */
export interface TaskOptions {
  /** How long a task is stored, from its start, in milliseconds. @default {3600000} */
  readonly ttlMs?: number;
  /** The longest `ttlMs` that a client may request. @default {86400000} */
  readonly maxTtlMs?: number;
  /** How often a client should poll, in milliseconds. @default {1000} */
  readonly pollIntervalMs?: number;
  /**
   * How many tasks may run at once in this process; further ones are rejected. A task that was cancelled or has expired counts
   * until its handler ends. @default {1000}
   */
  readonly maxRunning?: number;
  /** How many tasks may run at once for one principal, or for one caller without a principal. @default {100} */
  readonly maxRunningPerPrincipal?: number;
  /** How many tasks that this process has started may be stored; further ones are rejected until others expire. @default {10000} */
  readonly maxTasks?: number;
  /** How many tasks of one principal may be stored; with `backplane`, by all nodes together. @default {1000} */
  readonly maxTasksPerPrincipal?: number;
  /**
   * The size of all tasks that this process has started, with their results, in characters. Each counts as at least 1024.
   * @default {67108864}
   */
  readonly maxSize?: number;
  /** The size of the tasks of one principal, in characters; with `backplane`, of all nodes together. @default {16777216} */
  readonly maxSizePerPrincipal?: number;
}

export type TaskSettings = Required<TaskOptions>;

export const defaultTaskOptions: TaskSettings = {
  ttlMs: 3_600_000,
  maxTtlMs: 86_400_000,
  pollIntervalMs: 1000,
  maxRunning: 1000,
  maxRunningPerPrincipal: 100,
  maxTasks: 10_000,
  maxTasksPerPrincipal: 1000,
  maxSize: 64 * 1024 * 1024,
  maxSizePerPrincipal: 16 * 1024 * 1024,
};

export function resolveTaskOptions(options: TaskOptions = {}): TaskSettings {
  return { ...defaultTaskOptions, ...givenOf(options) };
}
