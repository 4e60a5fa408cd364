// How tasks are kept, and how many.
import type { Known } from "../../options.ts";
import { isTimerMs } from "../../async/timers.ts";
import { MemoryTaskStore } from "./memory-store.ts";
import type { TaskStore } from "./store.ts";

/** How tasks behave; everything has a default. */
export interface TaskOptions {
  /** Where tasks are kept. @default {in memory} */
  readonly store?: TaskStore;
  /** How long a task is kept, from its start. @default {3600000} */
  readonly ttlMs?: number;
  /** What a client may ask for at most. @default {86400000} */
  readonly maxTtlMs?: number;
  /** How often a client should look. @default {1000} */
  readonly pollIntervalMs?: number;
  /**
   * Tasks that may run at once in this process; further ones are refused. One that was cancelled, or whose time is up, counts
   * until its handler has ended. @default {1000}
   */
  readonly maxRunning?: number;
  /** Of those, what one principal may have, or one caller without a principal. @default {100} */
  readonly maxRunningPerPrincipal?: number;
}

export const knownTaskOptions: Known<TaskOptions> = {
  store: true,
  ttlMs: true,
  maxTtlMs: true,
  pollIntervalMs: true,
  maxRunning: true,
  maxRunningPerPrincipal: true,
};

export type TaskSettings = Required<TaskOptions>;

export function resolveTaskOptions(
  options: TaskOptions,
  fail: (field: string, problem: string) => never,
): TaskSettings {
  const {
    store,
    ttlMs = 3_600_000,
    maxTtlMs = 86_400_000,
    pollIntervalMs = 1000,
    maxRunning = 1000,
    maxRunningPerPrincipal = 100,
  } = options;
  const numbers = { ttlMs, maxTtlMs, pollIntervalMs, maxRunning, maxRunningPerPrincipal };
  for (const [name, value] of Object.entries(numbers)) {
    if (!isTimerMs(value)) fail(`tasks.${name}`, "must be a positive integer below 2^31");
  }
  return { store: store ?? new MemoryTaskStore(), ...numbers };
}
