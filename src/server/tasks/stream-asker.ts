// Questions of a task of 2025-11-25: requests on a stream of its session, best on one where its result is awaited.
import { HalyardError } from "../../errors.ts";
import type { Asks } from "../../push/asks.ts";
import type { Hub } from "../../push/hub.ts";
import type { Stream } from "../../push/listener.ts";
import type { JsonObject } from "../../wire/message.ts";
import { readAnswer } from "../asking/direct.ts";
import type { AskOptions, Asker, Question } from "../asking/question.ts";
import { relatedTask } from "./forms.ts";

/** Whose task it is, and how its client is reached. */
export interface Reach {
  readonly taskId: string;
  readonly session: string | undefined;
  readonly signal: AbortSignal;
  readonly hub: Hub;
  readonly asks: Asks;
}

export class StreamAsker implements Asker {
  readonly #reach: Reach;
  readonly #changed: () => void;
  readonly #streams = new Set<Stream>();
  readonly #waiting = new Set<(stream: Stream) => void>();
  /** How many questions are open. */
  open = 0;

  constructor(reach: Reach, changed: () => void) {
    this.#reach = reach;
    this.#changed = changed;
  }

  /** A stream on which the task's result is awaited, until the returned function is called. */
  attach(stream: Stream): () => void {
    this.#streams.add(stream);
    for (const take of this.#waiting) take(stream);
    this.#waiting.clear();
    return () => void this.#streams.delete(stream);
  }

  async ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    const { session, asks, signal, taskId } = this.#reach;
    const { method, params } = question;
    if (session === undefined)
      throw new HalyardError("ASK_FAILED", `${method}: the client of this task has no session`);
    this.open++;
    this.#changed();
    try {
      const timeoutMs = options.timeoutMs ?? question.timeoutMs;
      const stream = this.#stream(session) ?? (await this.#nextStream(method, timeoutMs));
      const marked: JsonObject = {
        ...params,
        _meta: { ...(params?.["_meta"] as object), ...relatedTask(taskId) },
      };
      return await readAnswer(
        question,
        await asks.ask({ session, stream, method, params: marked, timeoutMs, signal }),
      );
    } finally {
      this.open--;
      this.#changed();
    }
  }

  #stream(session: string): Stream | undefined {
    const [awaited] = this.#streams;
    return awaited ?? this.#reach.hub.streamOf(session);
  }

  /** The client is away: when it sees that input is required, it comes for the result, and can be asked. */
  #nextStream(method: string, timeoutMs: number): Promise<Stream> {
    const { signal } = this.#reach;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(take);
        finish();
      };
      const fail = (problem: string): void =>
        settle(() => reject(new HalyardError("ASK_FAILED", `${method}: ${problem}`)));
      const take = (stream: Stream): void => settle(() => resolve(stream));
      const onAbort = (): void => fail("the task was cancelled");
      const timer = setTimeout(() => fail(`the client did not come within ${timeoutMs} ms`), timeoutMs);
      signal.addEventListener("abort", onAbort);
      this.#waiting.add(take);
    });
  }
}
