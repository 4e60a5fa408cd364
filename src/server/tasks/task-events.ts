// A task as events.
import { peerOf } from "../../diagnostics/events.ts";
import type { TaskRun } from "./task-run.ts";

/** Tells that a call has become a task, and, when the time comes, how that ended. */
export function tellOf(run: TaskRun): void {
  const { call, record } = run;
  const { observe } = call.core.settings;
  if (!observe) return;
  const started = performance.now();
  const task = { type: "task", taskId: record.id, tool: record.tool, ...peerOf(call) } as const;
  observe({ ...task, state: "created" });
  run.whenDone((status) => {
    observe({ ...task, state: "ended", status, durationMs: performance.now() - started });
  });
}
