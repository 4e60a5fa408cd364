// One task while its handler runs in this process: its questions, its progress, its end.
import { inBackground } from "../../async/timers.ts";
import { peerOf, type TaskEnd } from "../../diagnostics/events.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import { errorCodes } from "../../errors.ts";
import type { CallToolResult } from "../../protocol/model.ts";
import type { Asks, AskTarget } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { JsonObject, RpcResponse } from "../../wire/message.ts";
import { watchAsk } from "../asking/ask-events.ts";
import type { Call } from "../calls/call.ts";
import type { OwnTask } from "../calls/call-parts.ts";
import type { Settings } from "../settings/settings.ts";
import { relatedTask, toolErrorFails } from "./forms.ts";
import { InputAsker } from "./input-asker.ts";
import { hasEnded, type TaskChange, type TaskRecord, type TaskStatus } from "./store.ts";
import { StreamAsker } from "./stream-asker.ts";
import type { RunningTask, TaskAsker, TaskTable } from "./table.ts";

type Change = Omit<TaskChange, "lastUpdatedAt">;

/** What a running task needs of its server. */
export interface RunParts {
  readonly table: TaskTable;
  readonly settings: Settings;
  readonly hub: Hub;
  readonly asks: Asks;
}

export class TaskRun implements RunningTask, OwnTask {
  readonly record: TaskRecord;
  readonly asker: TaskAsker;
  readonly #call: Call;
  readonly #parts: RunParts;
  readonly #leave: () => void;
  readonly #waiting = new Set<(end: TaskEnd) => void>();
  #timer: unknown;
  #end: TaskEnd | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #statusMessage: string | undefined;
  #isQueued = false;
  /** Nothing more is to be said of it but how it ended. */
  #isOver = false;

  /** `leave` is called when the handler has ended, which may be long after its task. */
  constructor(record: TaskRecord, call: Call, parts: RunParts, leave: () => void) {
    this.record = record;
    this.#call = call;
    this.#parts = parts;
    this.#leave = leave;
    this.asker = this.#makeAsker();
  }

  get id(): string {
    return this.record.id;
  }

  attach(place: AskTarget): () => void {
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
    const { hub, settings } = this.#parts;
    const about = { ...params, _meta: relatedTask(id) };
    hub.toSession(session, method, about, scopes).catch((error: unknown) => {
      settings.logger.warn(`${method} cannot be written as JSON, and was not sent`, { error });
    });
  }

  /** The task is over for its client; its handler hears of it through its signal. */
  stop(status: TaskEnd, reason: string): void {
    this.#isOver = true;
    this.#call.cancel(reason);
    this.asker.giveUp(reason);
    this.#finish(status);
  }

  /** The task runs: others can find it, and its time counts. */
  start(): void {
    this.#parts.table.runs.set(this.id, this);
    this.#observe();
    const expire = (): void => this.stop("expired", "The time of the task is up");
    this.#timer = inBackground(setTimeout(expire, this.record.ttlMs));
  }

  /** The handler has ended with what would have been the response: keeps it, unless the task has ended before. */
  end(response: RpcResponse): void {
    this.#isOver = true;
    this.#leave();
    // What the handler did not wait for is answered by nobody now.
    this.#call.stopAsking();
    this.asker.giveUp("The call that asked has ended");
    // It had ended before if nothing was changed: another process has cancelled it.
    const kept = this.#write(endOf(response, this.record)).then((status) =>
      this.#finish((status as TaskEnd | undefined) ?? "cancelled"),
    );
    logRejection(this.#parts.settings.logger, "A task", kept);
  }

  /** Tells that a call has become a task, and, when the time comes, how that ended. */
  #observe(): void {
    const { observe } = this.#parts.settings;
    if (!observe) return;
    const started = performance.now();
    const task = { type: "task", taskId: this.id, tool: this.record.tool, ...peerOf(this.#call) } as const;
    observe({ ...task, state: "created" });
    this.whenDone((status) => {
      observe({ ...task, state: "ended", status, durationMs: performance.now() - started });
    });
  }

  #makeAsker(): TaskAsker {
    const call = this.#call;
    const { id: taskId, session, scopes, form } = this.record;
    const { hub, asks, settings } = this.#parts;
    const changed = (): void => this.#writeSoon();
    if (form === "core") {
      const mayReturn = !call.exchange.connection.sharesPipe;
      const reach = { taskId, session, scopes, signal: call.askSignal, mayReturn, hub, asks };
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
    this.#parts.table.runs.delete(this.id);
    for (const callback of this.#waiting) callback(status);
    this.#waiting.clear();
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
    const { table, settings } = this.#parts;
    const { id, owner } = this.record;
    const at = { lastUpdatedAt: new Date().toISOString() };
    try {
      const task = await table.store.change(owner, id, { ...change, ...at });
      // What a slow store answers after the end is old news.
      if (task !== undefined && (!this.#isOver || hasEnded(task))) await table.announce(task);
      return task?.status;
    } catch (error) {
      settings.logger.error("A change of a task could not be kept", { taskId: id, error });
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

/** How the task ends with this response. */
function endOf(response: RpcResponse, { form }: TaskRecord): Change {
  if ("error" in response) {
    const { error } = response;
    return { status: "failed", error, statusMessage: error.message };
  }
  const { result } = response;
  const { isError, content } = result as unknown as CallToolResult;
  if (!isError || !toolErrorFails[form]) return { status: "completed", result };
  return { status: "failed", result, statusMessage: textOf(content) };
}

function textOf(content: CallToolResult["content"]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n") || "The tool failed";
}
