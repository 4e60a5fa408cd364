// The options of tasks: what each is, its kind and its default.
import { limitsOf, type Preset } from "../../base/kinds.ts";
import type { Filled } from "../../base/options.ts";

/** The options of tasks. All have defaults. */
export interface TaskOptions {
  /**
   * How long a task is stored, from its start, in milliseconds; `task` of a tool can set it too. After it, `ctx.signal`
   * aborts, and the task no longer exists for its client. @default {3600000}
   */
  readonly ttlMs?: number | undefined;
  /** The longest `ttlMs` that a client may request. Past it, the client gets this. @default {86400000} */
  readonly maxTtlMs?: number | undefined;
  /** How often a client should poll, in milliseconds. @default {1000} */
  readonly pollIntervalMs?: number | undefined;
  /**
   * How many tasks may run at once in this process. A task that was cancelled or has expired counts until its handler ends.
   * Past it, the server rejects further ones with -32600. @default {1000}
   */
  readonly maxRunning?: number | undefined;
  /**
   * How many tasks may run at once for one principal, or for one caller without a principal. Past it, the server rejects
   * further ones with -32600. @default {100}
   */
  readonly maxRunningPerPrincipal?: number | undefined;
  /**
   * How many tasks that this process has started may be stored. Past it, the server rejects further ones with -32600 until
   * others expire. @default {10000}
   */
  readonly maxTasks?: number | undefined;
  /**
   * How many tasks of one principal may be stored; with `backplane`, by all nodes together. Past it, the server rejects
   * further ones with -32600 until others expire. @default {1000}
   */
  readonly maxTasksPerPrincipal?: number | undefined;
  /**
   * The size of all tasks that this process has started, with their results, in characters. Each counts as at least 1024. Past
   * it, a task fails with a message that its result could not be stored. @default {67108864}
   */
  readonly maxSize?: number | undefined;
  /**
   * The size of the tasks of one principal, in characters; with `backplane`, of all nodes together. Past it, a task fails in
   * the same way. @default {16777216}
   */
  readonly maxSizePerPrincipal?: number | undefined;
}

export type TaskSettings = Filled<TaskOptions>;

const defaults: TaskSettings = {
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

/** The kind and the default of each. */
export const taskOptions: Preset<TaskSettings> = limitsOf(defaults);
