// What a client carries, sealed, from one round of a call to the next; the results of `ctx.once` are a part of it.
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { InputPending } from "../../base/errors.ts";

export interface RoundState {
  /** The number of rounds so far. */
  readonly rounds: number;
  /** Answers by key, each with the fingerprint of its question. */
  readonly answers: Readonly<Record<string, readonly [fingerprint: string, answer: JsonObject]>>;
  /** The results of `ctx.once`. */
  readonly onces: Readonly<Record<string, readonly unknown[]>>;
  /** The fingerprints of the open questions, by key. */
  readonly pending: Readonly<Record<string, string>>;
  /** The methods of the questions that were sent, by key; only if the server has `observe`. */
  readonly asked?: Readonly<Record<string, string>>;
  /** Answers that the client sent without a state. They are dropped unless the handler asks for them. */
  readonly unasked?: JsonObject;
  /** The `requestState` that the author returned with `inputRequired`. */
  readonly own?: unknown;
  /** The answers to the questions of `inputRequired`, until the handler returns other ones. */
  readonly responses?: JsonObject | undefined;
}

/** Has no prototype, because an author may choose `constructor` as a key. */
const none: Readonly<Record<string, never>> = Object.freeze(Object.create(null) as Record<string, never>);

export const firstRound: RoundState = { rounds: 0, answers: none, onces: none, pending: none };

/** The state with the client's answers to its open questions. */
export function withResponses(state: RoundState, responses: JsonObject): RoundState {
  const answered = Object.entries(state.pending).flatMap(([key, fingerprint]) => {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
    return isObject(response) ? [[key, [fingerprint, response] as const] as const] : [];
  });
  const answers = Object.assign(Object.create(null) as object, state.answers, Object.fromEntries(answered));
  return { ...state, answers };
}

/** The answers for `ctx.inputResponses`: those to returned questions, without those to awaited ones. */
export function ownResponses(state: RoundState, responses: JsonObject): JsonObject {
  const brought = Object.entries(responses).filter(([key]) => !Object.hasOwn(state.pending, key));
  return Object.fromEntries([...Object.entries(state.responses ?? {}), ...brought]);
}

/** The results of `ctx.once`, so that later rounds of the call do not repeat the work. */
export class Onces {
  /** The results, each in an array: an empty one stands for undefined, which JSON does not have. */
  readonly results: Record<string, readonly unknown[]>;
  readonly #running = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(results: Readonly<Record<string, readonly unknown[]>> = {}) {
    this.results = Object.assign(Object.create(null) as object, results);
  }

  run(key: string, work: () => unknown): Promise<unknown> {
    const known = this.results[key];
    if (known) return Promise.resolve(known[0]);
    // The state is sealed: the next round would repeat work that starts now.
    if (this.#closed) return Promise.reject(new InputPending());
    const running = this.#running.get(key) ?? this.#run(key, work);
    this.#running.set(key, running);
    return running;
  }

  /** Waits until no work is running, allows no more, and returns `then`. */
  close<T>(then: T): T | Promise<T> {
    if (!this.isIdle) return this.idle().then(() => this.close(then));
    this.#closed = true;
    return then;
  }

  /** Resolves when all running work has ended. Its results must be in the state, or the next round repeats it. */
  async idle(): Promise<void> {
    while (!this.isIdle) await Promise.allSettled(this.#running.values());
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Passes the result through JSON even in the first round, so that every round sees the same value. Errors are not kept. */
  async #run(key: string, work: () => unknown): Promise<unknown> {
    try {
      // Start in a later microtask, so that #running already has the entry that is deleted below.
      await undefined;
      const value = await work();
      const result = JSON.parse(JSON.stringify(value === undefined ? [] : [value])) as unknown[];
      this.results[key] = result;
      return result[0];
    } finally {
      this.#running.delete(key);
    }
  }
}
