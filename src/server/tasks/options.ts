// The options of tasks, with their defaults.
import { givenOf, type Known } from "../../options.ts";
import { isTimerMs } from "../../async/timers.ts";
import { MemoryTaskStore } from "./memory-store.ts";
import type { TaskStore } from "./store.ts";

/** The options of tasks. All have defaults. */
export interface TaskOptions {
  /** Where tasks are stored. @default {in memory} */
  readonly store?: TaskStore;
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
}

const defaults: Required<Omit<TaskOptions, "store">> = {
  ttlMs: 3_600_000,
  maxTtlMs: 86_400_000,
  pollIntervalMs: 1000,
  maxRunning: 1000,
  maxRunningPerPrincipal: 100,
};

export const knownTaskOptions: Known<TaskOptions> = { store: true, ...defaults };

export type TaskSettings = Required<TaskOptions>;

export function resolveTaskOptions(
  options: TaskOptions,
  fail: (field: string, problem: string) => never,
): TaskSettings {
  const { store, ...given } = options;
  const numbers = { ...defaults, ...givenOf(given) };
  for (const [name, value] of Object.entries(numbers)) {
    if (!isTimerMs(value)) fail(`tasks.${name}`, "must be a positive integer below 2^31");
  }
  return { store: store ?? new MemoryTaskStore(), ...numbers };
}
