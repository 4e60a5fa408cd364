// The questions of a task of 2025-11-25: requests on a stream of its session, preferably where the client waits for the result.
import { askFailed, type HalyardError } from "../../base/errors.ts";
import { type Asks, type AskTarget, streamLost } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { readAnswer } from "../asking/remembering-asker.ts";
import type { ClientQuestion } from "../asking/question.ts";
import type { AskOptions } from "../../protocol/asking.ts";
import { inBackground } from "../../base/async/timers.ts";
import { relatedTask } from "./record.ts";
import type { AskPlace, TaskAsk, TaskAsker } from "./task-asker.ts";

/** How to reach the client of a task. */
export interface Reach {
  readonly taskId: string;
  readonly session: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Whether a disconnected client may reconnect. A client on a pipe cannot. */
  readonly mayReturn: boolean;
  readonly hub: Hub;
  readonly asks: Asks;
}

export class StreamAsker implements TaskAsker {
  readonly #reach: Reach;
  readonly #changed: () => void;
  readonly #places = new Set<AskPlace>();
  readonly #waiting = new Set<(place: AskPlace) => void>();
  #open = 0;

  constructor(reach: Reach, changed: () => void) {
    this.#reach = reach;
    this.#changed = changed;
  }

  get isAsking(): boolean {
    return this.#open > 0;
  }

  attach(place: AskPlace): () => void {
    this.#places.add(place);
    for (const take of this.#waiting) take(place);
    this.#waiting.clear();
    return () => void this.#places.delete(place);
  }

  async ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer> {
    const { session, taskId, scopes } = this.#reach;
    const { method, params } = question;
    if (session === undefined) throw askFailed(method, "the client of this task has no session");
    this.#open++;
    this.#changed();
    try {
      const _meta = { ...(params?.["_meta"] as object), ...relatedTask(taskId) };
      const request = {
        taskId,
        scopes,
        method,
        params: { ...params, _meta },
        timeoutMs: options.timeoutMs ?? question.timeoutMs,
      };
      return await readAnswer(question, await this.#put(session, request));
    } finally {
      this.#open--;
      this.#changed();
    }
  }

  /** Does nothing: clients answer with responses, not with `tasks/update`. */
  async answer(): Promise<void> {}

  /** Does nothing: the signal withdraws the questions. */
  giveUp(): void {}

  /** Asks again if the client disconnects before it answers and then comes back for its task. */
  async #put(session: string, request: TaskAsk): Promise<JsonObject> {
    const { signal, mayReturn } = this.#reach;
    const giveUpAt = performance.now() + request.timeoutMs;
    for (;;) {
      const leftMs = giveUpAt - performance.now();
      const place = this.#place(session) ?? (await this.#nextPlace(request, leftMs));
      try {
        return await place.ask({ ...request, timeoutMs: leftMs, signal });
      } catch (error) {
        if (!mayReturn || (error as HalyardError).cause !== streamLost) throw error;
        for (const other of this.#places) if (other.at === place.at) this.#places.delete(other);
      }
    }
  }

  #place(session: string): AskPlace | undefined {
    const [awaited] = this.#places;
    if (awaited !== undefined) return awaited;
    const { hub, asks, scopes } = this.#reach;
    const target = hub.reach(session, scopes);
    return target && placeHere(asks, target);
  }

  /** Waits for a stream: a client that sees `input_required` requests the result, and then it can be asked. */
  #nextPlace({ method, timeoutMs }: TaskAsk, leftMs: number): Promise<AskPlace> {
    const { signal } = this.#reach;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(take);
        finish();
      };
      const fail = (problem: string): void => settle(() => reject(askFailed(method, problem)));
      const take = (place: AskPlace): void => settle(() => resolve(place));
      const onAbort = (): void => fail("the task was cancelled");
      const tooLate = (): void => fail(`the client did not connect within ${timeoutMs} ms`);
      const timer = inBackground(setTimeout(tooLate, leftMs));
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      this.#waiting.add(take);
    });
  }
}

/** The place of a client that this process can ask on a stream. */
export function placeHere(asks: Asks, target: AskTarget): AskPlace {
  return { at: target.stream, ask: (ask) => asks.ask({ ...ask, ...target }) };
}
