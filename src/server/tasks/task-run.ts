// One task while its handler runs in this process: its questions, its progress, its end.
import type { CallToolResult } from "../../protocol/model.ts";
import { errorCodes } from "../../errors.ts";
import type { Place } from "../../push/asks.ts";
import type { JsonObject } from "../../wire/message.ts";
import { watchAsk } from "../asking/ask-events.ts";
import { inBackground } from "../../async/timers.ts";
import type { Call } from "../calls/call.ts";
import { encodeToolResult } from "../methods/encode-results.ts";
import type { TaskEnd } from "../../diagnostics/events.ts";
import { toRpcError } from "../calls/failure.ts";
import { stampOwnResult } from "../calls/stamp.ts";
import { relatedTask, toolErrorFails } from "./forms.ts";
import { InputAsker } from "./input-asker.ts";
import { hasEnded, type TaskChange, type TaskRecord, type TaskStatus } from "./store.ts";
import { StreamAsker } from "./stream-asker.ts";
import type { RunningTask } from "./table.ts";
import type { TaskAsker } from "./task-asker.ts";

type Change = Omit<TaskChange, "lastUpdatedAt">;

export class TaskRun implements RunningTask {
  readonly record: TaskRecord;
  readonly call: Call;
  readonly #leave: () => void;
  readonly #waiting = new Set<(end: TaskEnd) => void>();
  readonly asker: TaskAsker;
  #timer: unknown;
  #end: TaskEnd | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #statusMessage: string | undefined;
  #isQueued = false;
  /** Nothing more is to be said of it but how it ended. */
  #isOver = false;

  /** `leave` is called when the handler has ended, which may be long after its task. */
  constructor(record: TaskRecord, call: Call, leave: () => void) {
    this.record = record;
    this.call = call;
    this.#leave = leave;
    this.asker = this.#makeAsker();
  }

  attach(place: Place): () => void {
    return this.asker.attach(place);
  }

  /** Not a promise: that would keep what waits for it until the end, even if it has long gone. */
  whenDone(callback: (end: TaskEnd) => void): () => void {
    if (this.#end) callback(this.#end);
    else this.#waiting.add(callback);
    return () => void this.#waiting.delete(callback);
  }

  answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    return this.asker.answer(responses);
  }

  report(status: string): void {
    this.#statusMessage = status;
    this.#writeSoon();
  }

  /** Only a session can be told of a task's progress and log; for others its status has to do. */
  send(method: string, params: object): void {
    const { session, id, form, scopes } = this.record;
    if (session === undefined || form !== "core" || this.#isOver) return;
    const { hub, settings } = this.call.core;
    const about = { ...params, _meta: relatedTask(id) };
    hub.toSession(session, method, about, scopes).catch((error: unknown) => {
      settings.logger.warn(`${method} cannot be written as JSON, and was not sent`, { error });
    });
  }

  /** The task is over for its client; its handler hears of it through its signal. */
  stop(status: TaskEnd, reason: string): void {
    this.#isOver = true;
    this.call.cancel(reason);
    this.asker.giveUp(reason);
    this.#finish(status);
  }

  /** Keeps what the call comes to, unless its time is up before. */
  async follow(): Promise<void> {
    this.#timer = inBackground(
      setTimeout(() => this.stop("expired", "The time of the task is up"), this.record.ttlMs),
    );
    const end = await this.#endOf();
    this.#isOver = true;
    this.#leave();
    // What the handler did not wait for is answered by nobody now.
    this.call.stopAsking();
    this.asker.giveUp("The call that asked has ended");
    // It had ended before if nothing was changed: another process has cancelled it.
    this.#finish(((await this.#write(end)) as TaskEnd | undefined) ?? "cancelled");
  }

  #makeAsker(): TaskAsker {
    const { record, call } = this;
    const { id: taskId, session, scopes } = record;
    const { hub, asks, settings } = call.core;
    const changed = (): void => this.#writeSoon();
    if (record.form === "core") {
      const mayReturn = !call.exchange.connection.sharesPipe;
      const reach = { taskId, session, scopes, signal: call.asking, mayReturn, hub, asks };
      return new StreamAsker(reach, changed);
    }
    const { observe } = settings;
    const watch = observe && ((method: string) => watchAsk(observe, { to: call, taskId, method }));
    return new InputAsker(changed, watch);
  }

  #finish(status: TaskEnd): void {
    if (this.#end) return;
    this.#end = status;
    clearTimeout(this.#timer as number);
    this.call.core.tasks.runs.delete(this.record.id);
    for (const callback of this.#waiting) callback(status);
    this.#waiting.clear();
  }

  async #endOf(): Promise<Change> {
    const { call } = this;
    try {
      const given = (await call.outcome?.()) as CallToolResult;
      const result = stampOwnResult(encodeToolResult(given, call), call);
      if (!given.isError || !toolErrorFails[this.record.form]) return { status: "completed", result };
      return { status: "failed", result, statusMessage: textOf(given) };
    } catch (thrown) {
      const error = toRpcError(thrown, call);
      return { status: "failed", error, statusMessage: error.message };
    }
  }

  /** Several changes are one to the store, as long as it is busy with an earlier one. */
  #writeSoon(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#writes = this.#writes.then(() => {
      this.#isQueued = false;
      return this.#change(this.#now());
    });
  }

  /** One write after the other: the last one has the last word. */
  #write(end: Change): Promise<TaskStatus | undefined> {
    const write = (): Promise<TaskStatus | undefined> => this.#change({ ...this.#now(), ...end });
    return (this.#writes = this.#writes.then<TaskStatus | undefined>(write));
  }

  #now(): Change {
    const { isAsking, requests: inputRequests } = this.asker;
    const status = isAsking ? "input_required" : "working";
    return { status, statusMessage: this.#statusMessage, inputRequests };
  }

  /** The status that it has now; undefined when it had ended before, or its time is up. */
  async #change(change: Change): Promise<TaskStatus | undefined> {
    const { core } = this.call;
    const { id, owner } = this.record;
    const at = { lastUpdatedAt: new Date().toISOString() };
    try {
      const task = await core.tasks.store.change(owner, id, { ...change, ...at });
      // What a slow store answers after the end is old news.
      if (task !== undefined && (!this.#isOver || hasEnded(task))) await core.tasks.announce(task);
      return task?.status;
    } catch (error) {
      core.settings.logger.error("A change of a task could not be kept", { taskId: id, error });
      if (change.result === undefined) return "failed";
      const failure = { code: errorCodes.internal, message: "The result could not be kept" };
      const lost = {
        status: "failed",
        statusMessage: failure.message,
        result: undefined,
        error: failure,
      } as const;
      return this.#change(lost);
    }
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n") || "The tool failed";
}
