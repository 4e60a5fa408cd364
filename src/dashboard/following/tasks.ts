// The tasks of a client: a bar from the call that became a task to the end of its work.
import type { TaskEvent } from "../../window/index.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { OpenEntries } from "./open-entries.ts";
import type { Entry, Track } from "./track.ts";

const finalStates: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

export class Tasks {
  readonly #track: Track;
  readonly #open = new OpenEntries<{ readonly entry: Entry }>();

  constructor(track: Track) {
    this.#track = track;
  }

  changed({ state, taskId, tool, status, durationMs = 0 }: TaskEvent, at: number): void {
    const { entry } = this.#open.get(taskId) ?? { entry: this.#begin(taskId, tool, at - durationMs) };
    if (state === "ended") this.#track.update(entry, { endedAt: at, outcome: status });
  }

  /** Reads the state of a task from a result or notification. Only the result of a call for `tool` begins one. */
  read(state: JsonObject, at: number, tool?: string): Entry | undefined {
    const { taskId, status } = isObject(state["task"]) ? state["task"] : state;
    if (typeof taskId !== "string" || typeof status !== "string") return undefined;
    const known = this.#open.get(taskId)?.entry;
    const entry = known ?? (tool === undefined ? undefined : this.#begin(taskId, tool, at));
    const isOver = finalStates.has(status) && entry?.endedAt === undefined;
    if (entry && isOver) this.#track.update(entry, { endedAt: at, outcome: status });
    return entry;
  }

  #begin(taskId: string, label: string | undefined, startedAt: number): Entry {
    const entry = this.#track.begin({
      lane: "tasks",
      kind: "task",
      label,
      startedAt,
      detail: taskId,
      link: taskId,
    });
    return this.#open.add(taskId, { entry });
  }
}
