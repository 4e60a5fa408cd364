// Asks a client that accepts no requests: the call ends with its open questions, and the client retries it with the answers.
import { InputPending } from "../../base/errors.ts";
import type { AskOptions, InputRequest } from "../../protocol/asking.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Onces, RoundState } from "./round-state.ts";
import { type Asker, type ClientQuestion, readResponse, toRequest, QuestionKeys } from "./question.ts";
import type { RememberingAsker } from "./remembering-asker.ts";

/** The questions of a round, by key. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

/** A question without an answer. */
interface Open {
  readonly request: InputRequest;
  readonly fingerprint: string;
  /** Sends it through another asker. */
  readonly handTo: (asker: RememberingAsker) => void;
  readonly reject: (error: unknown) => void;
}

/** The questions of one run of a handler, and the answers of the runs before it. */
export class RoundAsker implements Asker {
  /** Answers by key, each with the fingerprint of its question. */
  readonly answers: Record<string, readonly [string, JsonObject]>;
  /** The keys of this run. */
  readonly keys: QuestionKeys = new QuestionKeys();
  readonly #unasked: JsonObject;
  readonly #onces: Onces;
  readonly #close: (round: InputRequests | Promise<InputRequests>) => void;
  readonly #open = new Map<string, Open>();
  #closed = false;

  /** `close` receives the questions when the round ends; they become the response of the call. */
  constructor(
    before: RoundState,
    onces: Onces,
    close: (round: InputRequests | Promise<InputRequests>) => void,
  ) {
    this.answers = Object.assign(Object.create(null) as object, before.answers);
    this.#unasked = before.unasked ?? {};
    this.#onces = onces;
    this.#close = close;
  }

  ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer> {
    const named = this.keys.name(question, options.key);
    const { key, fingerprint } = named;
    const answer = this.#answerTo(key, fingerprint);
    if (answer !== undefined) return readResponse(question, key, answer);
    if (this.#closed) return Promise.reject(new InputPending());
    return new Promise<Answer>((resolve, reject) => {
      const handTo = (asker: RememberingAsker): void =>
        void asker.put(question, named, { key }).then(resolve, reject);
      this.#open.set(key, { request: toRequest(question), fingerprint, handTo, reject });
      if (this.#open.size === 1 || !this.#onces.isIdle) this.#closeSoon(this.#onces.isIdle);
    });
  }

  /** Sends the open questions through `asker`, because the call has become a task. */
  handOver(asker: RememberingAsker): void {
    for (const { handTo } of this.#open.values()) handTo(asker);
    this.#open.clear();
  }

  /** Whether the round has ended, so that the result of the handler is ignored. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** The fingerprints of the open questions, for the next run. */
  get pending(): Record<string, string> {
    return Object.fromEntries([...this.#open].map(([key, { fingerprint }]) => [key, fingerprint]));
  }

  /** An answer must have the fingerprint of the question, unless the client sent no state. */
  #answerTo(key: string, fingerprint: string): JsonObject | undefined {
    const [answered, answer] = this.answers[key] ?? [];
    if (answered === fingerprint) return answer;
    const unasked = Object.hasOwn(this.#unasked, key) ? (this.#unasked[key] as JsonObject) : undefined;
    if (unasked !== undefined) this.answers[key] = [fingerprint, unasked];
    return unasked;
  }

  /** Waits one macrotask after the first question, so that questions asked together are sent together. */
  #closeSoon(whenIdle: boolean): void {
    setTimeout(async () => {
      if (whenIdle) await this.#onces.idle();
      this.#endRound();
    }, 0);
  }

  /**
   * The response waits for running `ctx.once` work: otherwise its result is lost and the next round repeats it. The questions
   * reject at once, since such work may await one of them and would never end.
   */
  #endRound(): void {
    if (this.#closed || this.#open.size === 0) return;
    this.#closed = true;
    const requests = [...this.#open].map(([key, { request }]) => [key, request] as const);
    this.#close(this.#onces.close(Object.fromEntries(requests)));
    for (const { reject } of this.#open.values()) reject(new InputPending());
  }
}
