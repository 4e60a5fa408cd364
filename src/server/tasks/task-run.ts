// One task while its handler runs in this process: its questions, its progress and its end.
import { inBackground } from "../../base/async/timers.ts";
import { peerOf, type TaskEnd } from "../diagnostics/events.ts";
import { warnUnwritable } from "../diagnostics/warnings.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import { errorCodes } from "../../base/errors.ts";
import type { CallToolResult, TaskStatus } from "../../protocol/model.ts";
import type { Asks } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import type { JsonObject, RpcResponse } from "../../base/wire/message.ts";
import { watchAsk } from "../asking/ask-events.ts";
import type { Call } from "../calls/call.ts";
import type { OwnTask } from "../calls/call-parts.ts";
import type { Settings } from "../settings/settings.ts";
import { type AskPlace, InputAsker, type RunningTask, type TaskAsker } from "./task-asker.ts";
import { hasEnded, relatedTask, type TaskChange, type TaskRecord, toolErrorFails } from "./record.ts";
import { StreamAsker } from "./stream-asker.ts";
import type { TaskTable } from "./table.ts";

type Change = Omit<TaskChange, "lastUpdatedAt">;

/**
 * Milliseconds between the expiry of a task and the wake-up of its waiting requests: a timer may fire before the store drops the
 * task.
 */
const expiryMarginMs = 2;

/** The parts of the server that a running task uses. */
export interface RunParts {
  readonly table: TaskTable;
  readonly settings: Settings;
  readonly hub: Hub;
  readonly asks: Asks;
}

export class TaskRun implements RunningTask, OwnTask {
  readonly record: TaskRecord;
  readonly asker: TaskAsker;
  readonly call: Call;
  readonly #parts: RunParts;
  readonly #leave: () => void;
  readonly #waiting = new Set<(end: TaskEnd) => void>();
  #timer: unknown;
  #end: TaskEnd | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #statusMessage: string | undefined;
  #isQueued = false;
  /** Whether the task has ended, so that no progress is sent any more. */
  #isOver = false;

  /** `leave` is called when the handler ends, which may be long after the end of the task. */
  constructor(record: TaskRecord, call: Call, parts: RunParts, leave: () => void) {
    this.record = record;
    this.call = call;
    this.#parts = parts;
    this.#leave = leave;
    this.asker = this.#makeAsker();
  }

  get id(): string {
    return this.record.id;
  }

  attach(place: AskPlace): () => void {
    return this.asker.attach(place);
  }

  /** Takes a callback, since a promise would keep each waiting request in memory until the end of the task. */
  whenDone(callback: (end: TaskEnd) => void): () => void {
    if (this.#end) callback(this.#end);
    else this.#waiting.add(callback);
    return () => void this.#waiting.delete(callback);
  }

  async answer(responses: Readonly<Record<string, JsonObject>>): Promise<void> {
    await this.asker.answer(responses);
    // The client may ask another node next, which must not show it the answered questions.
    await this.#writes;
  }

  report(status: string): void {
    this.#statusMessage = status;
    this.#writeSoon();
  }

  /** Sends progress and log messages to a session. Other clients see only the status of the task. */
  send(method: string, params: object): void {
    const { session, id, form, scopes } = this.record;
    if (session === undefined || form !== "core" || this.#isOver) return;
    const { hub, settings } = this.#parts;
    const about = { ...params, _meta: relatedTask(id) };
    hub
      .toSession(session, method, about, scopes)
      .catch((error: unknown) => warnUnwritable(settings.logger, method, error));
  }

  /** Ends the task for its client, and aborts the signal of its handler. */
  stop(status: TaskEnd, reason: string): void {
    this.#isOver = true;
    this.call.cancel(reason);
    this.asker.giveUp(reason);
    this.#finish(status);
  }

  /** Makes the task visible to its methods, and starts the timer of its expiry. */
  start(): void {
    this.#parts.table.runs.set(this.id, this);
    this.#observe();
    const expire = (): void => this.stop("expired", "The task has expired");
    this.#timer = inBackground(setTimeout(expire, this.record.ttlMs + expiryMarginMs));
  }

  /** Stores the response of the handler, unless the task has already ended. */
  end(response: RpcResponse): void {
    this.#isOver = true;
    this.#leave();
    // Questions that the handler did not await get no answer any more.
    this.call.stopAsking();
    this.asker.giveUp("The call that asked has ended");
    // If the store changed nothing, another node has cancelled the task.
    const kept = this.#write(endOf(response, this.record)).then((status) =>
      this.#finish((status as TaskEnd | undefined) ?? "cancelled"),
    );
    logRejection(this.#parts.settings.logger, "Ending a task", kept);
  }

  /** Reports to `observe` that a call has become a task, and later how the task ended. */
  #observe(): void {
    const { settings } = this.#parts;
    const started = performance.now();
    const task = { type: "task", taskId: this.id, tool: this.record.tool, ...peerOf(this.call) } as const;
    settings.observe?.({ ...task, state: "created" });
    this.whenDone((status) => {
      settings.observe?.({ ...task, state: "ended", status, durationMs: performance.now() - started });
    });
  }

  #makeAsker(): TaskAsker {
    const call = this.call;
    const { id: taskId, session, scopes, form } = this.record;
    const { hub, asks, settings } = this.#parts;
    const changed = (): void => this.#writeSoon();
    if (form === "core") {
      const mayReturn = !call.exchange.connection.sharesPipe;
      const reach = { taskId, session, scopes, signal: call.askSignal, mayReturn, hub, asks };
      return new StreamAsker(reach, changed);
    }
    return new InputAsker(changed, (method) => watchAsk(settings, { to: call, taskId, method }));
  }

  #finish(status: TaskEnd): void {
    if (this.#end) return;
    this.#end = status;
    clearTimeout(this.#timer as number);
    this.#parts.table.finished(this.id, status);
    for (const callback of this.#waiting) callback(status);
    this.#waiting.clear();
  }

  /** Combines the changes that arrive while the store is busy into one write. */
  #writeSoon(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#writes = this.#writes.then(() => {
      this.#isQueued = false;
      return this.#change(this.#now());
    });
  }

  /** Writes after all earlier changes, so that the last one wins. */
  #write(end: Change): Promise<TaskStatus | undefined> {
    const write = (): Promise<TaskStatus | undefined> => this.#change({ ...this.#now(), ...end });
    return (this.#writes = this.#writes.then<TaskStatus | undefined>(write));
  }

  #now(): Change {
    const { isAsking, requests: inputRequests } = this.asker;
    const status = isAsking ? "input_required" : "working";
    return { status, statusMessage: this.#statusMessage, inputRequests };
  }

  /** Resolves with the stored status, or with undefined if the task had already ended or expired. */
  async #change(change: Change): Promise<TaskStatus | undefined> {
    const { table, settings } = this.#parts;
    const { id, owner } = this.record;
    const at = { lastUpdatedAt: new Date().toISOString() };
    try {
      const task = await table.store.change(owner, id, { ...change, ...at });
      // After a cancellation, which is announced already, a slow store may still return an earlier status.
      if (task && (!this.call.cancelled || hasEnded(task))) await table.announce(task);
      return task?.status;
    } catch (error) {
      settings.logger.error("Could not store a change of a task", { taskId: id, error });
      if (change.result === undefined) {
        if (hasEnded({ status: change.status ?? "working" })) table.keepUnstored(this.record);
        return "failed";
      }
      const failure = { code: errorCodes.internal, message: "The server could not store the result" };
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

/** The change that ends the task with this response. */
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
