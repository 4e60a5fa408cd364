// The state that a client carries, sealed, from one round of a call to the next.
import { isObject, type JsonObject } from "../../base/wire/message.ts";

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
