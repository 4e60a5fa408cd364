// Questions of tasks to clients that wait for the result on another node: that node asks, and passes the answer back.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { logRejection } from "../../base/logging/rate-limited-log.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { askFailed, HalyardError } from "../../base/errors.ts";
import { randomId } from "../../base/wire/crypto.ts";
import { type Asks, type AskTarget, streamLost } from "../push/asks.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { TaskRecord } from "./record.ts";
import type { RunningTask, TaskAsk } from "./task-asker.ts";

/** Milliseconds that a node has to confirm a message. */
const confirmMs = 3000;

/** How often a node sends an answer that the other node does not confirm. */
const maxAnswers = 3;

const messages = {
  wait: "task-wait",
  unwait: "task-unwait",
  ask: "task-ask",
  unask: "task-unask",
  answer: "task-answer",
} as const;

interface Parts {
  readonly cluster: Cluster;
  readonly asks: Asks;
  readonly logger: Logger;
  readonly runs: ReadonlyMap<string, RunningTask>;
}

/** A question that this node's task has asked through another node. */
interface AskedThere {
  readonly node: string;
  readonly method: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: HalyardError) => void;
}

/** A client that waits here for the result of a task that another node runs. */
interface Waiter {
  readonly taskId: string;
  readonly target: AskTarget;
}

export class RemotePlaces {
  readonly #parts: Parts;
  // Where the task runs.
  readonly #asked = new Map<string, AskedThere>();
  readonly #places = new Map<string, { readonly node: string; readonly detach: () => void }>();
  // Where the client waits.
  readonly #waiters = new Map<string, Waiter>();
  readonly #asking = new Map<string, AbortController>();

  constructor(parts: Parts) {
    this.#parts = parts;
    const { cluster } = parts;
    cluster.on(messages.wait, (body, from) => this.#attach(body, from));
    cluster.on(messages.unwait, ({ waiter }) => this.#detach(String(waiter)));
    cluster.on(messages.answer, (body) => this.#settle(body));
    cluster.on(messages.ask, (body, from) => this.#askHere(body, from));
    cluster.on(messages.unask, ({ ask, reason }) => this.#asking.get(String(ask))?.abort(reason));
    cluster.onLeft((node) => this.#left(node));
  }

  /** Lets the questions of a task use that stream. `renew` repeats it, in case a message was lost; `close` ends it. */
  waitFor({ id, node }: TaskRecord, target: AskTarget): { renew(): void; close(): void } {
    const waiter = randomId();
    const { cluster } = this.#parts;
    this.#waiters.set(waiter, { taskId: id, target });
    const tell = (kind: string): void => {
      if (node !== undefined && cluster.hasJoined) cluster.bus.sendSoon(node, kind, { id, waiter });
    };
    return {
      renew: () => tell(messages.wait),
      close: () => {
        this.#waiters.delete(waiter);
        tell(messages.unwait);
      },
    };
  }

  // Where the task runs.

  #attach({ id, waiter }: JsonObject, node: string): void {
    const run = typeof id === "string" ? this.#parts.runs.get(id) : undefined;
    if (run === undefined || typeof waiter !== "string" || this.#places.has(waiter)) return;
    const stopAttaching = run.attach({ at: waiter, ask: (ask) => this.#askThere(node, waiter, ask) });
    const forget = run.whenDone(() => this.#places.delete(waiter));
    this.#places.set(waiter, { node, detach: () => (forget(), stopAttaching()) });
  }

  #detach(waiter: string): void {
    this.#places.get(waiter)?.detach();
    this.#places.delete(waiter);
  }

  async #askThere(node: string, waiter: string, ask: TaskAsk): Promise<JsonObject> {
    const { bus } = this.#parts.cluster;
    const id = randomId();
    const { method, signal } = ask;
    if (signal?.aborted) throw askFailed(method, String(signal.reason));
    const answered = new Promise<JsonObject>((resolve, reject) => {
      this.#asked.set(id, { node, method, resolve, reject });
    });
    // The promise may reject before a caller awaits it.
    answered.catch(() => {});
    const withdraw = (reason: string): void => bus.sendSoon(node, messages.unask, { ask: id, reason });
    const onAbort = (): void => {
      withdraw(String(signal?.reason));
      this.#asked.get(id)?.reject(askFailed(method, String(signal?.reason)));
    };
    signal?.addEventListener("abort", onAbort);
    try {
      const confirmed = await bus.request(node, messages.ask, questionOf(id, waiter, ask), confirmMs);
      if (confirmed?.["isAsked"] === true) return await answered;
      withdraw("The question was asked elsewhere");
      throw lost(method);
    } catch (error) {
      const failure = error instanceof HalyardError && error.code === "ASK_FAILED" ? error : lost(method);
      // If the client still waits there, its node says so again.
      if (failure.cause === streamLost) this.#detach(waiter);
      throw failure;
    } finally {
      this.#asked.delete(id);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #settle({ ask, result, problem, isLost }: JsonObject): JsonObject {
    const asked = this.#asked.get(String(ask));
    if (isObject(result)) asked?.resolve(result);
    else {
      const cause = isLost === true ? { cause: streamLost } : {};
      asked?.reject(new HalyardError("ASK_FAILED", String(problem), cause));
    }
    return {};
  }

  #left(node: string): void {
    for (const asked of this.#asked.values()) if (asked.node === node) asked.reject(lost(asked.method));
    for (const [waiter, place] of this.#places) if (place.node === node) this.#detach(waiter);
  }

  // Where the client waits.

  #askHere(body: JsonObject, from: string): JsonObject {
    const { ask, waiter, method, params, taskId, timeoutMs, scopes } = body;
    const waiting = this.#waiters.get(String(waiter));
    const isValid =
      typeof ask === "string" && typeof method === "string" && isObject(params) && Number(timeoutMs) > 0;
    if (!isValid || waiting === undefined || waiting.taskId !== taskId) return { isAsked: false };
    const { asks, logger } = this.#parts;
    const abort = new AbortController();
    this.#asking.set(ask, abort);
    const asking = asks.ask({
      ...waiting.target,
      taskId: waiting.taskId,
      method,
      params,
      timeoutMs: Number(timeoutMs),
      signal: abort.signal,
      scopes: Array.isArray(scopes) ? scopes.map(String) : undefined,
    });
    const answering = asking
      .then(
        (result) => ({ ask, result }),
        (error: HalyardError) => ({ ask, problem: error.message, isLost: error.cause === streamLost }),
      )
      .then((answer) => this.#answer(from, answer))
      .finally(() => this.#asking.delete(ask));
    logRejection(logger, "Passing the answer of a task on", answering);
    return { isAsked: true };
  }

  async #answer(node: string, answer: JsonObject): Promise<void> {
    for (let sent = 0; sent < maxAnswers; sent++) {
      const { bus } = this.#parts.cluster;
      if (await bus.request(node, messages.answer, answer, confirmMs)) return;
    }
  }
}

function lost(method: string): HalyardError {
  return askFailed(method, "The client can no longer be reached", streamLost);
}

function questionOf(ask: string, waiter: string, question: TaskAsk): JsonObject {
  const { method, params, taskId, timeoutMs, scopes } = question;
  return {
    ask,
    waiter,
    method,
    params: { ...params },
    timeoutMs,
    ...(taskId !== undefined && { taskId }),
    ...(scopes && { scopes }),
  };
}
