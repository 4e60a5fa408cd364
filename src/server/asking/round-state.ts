// What travels with the client from one round of a call to the next, sealed.
import { isObject, type JsonObject } from "../../wire/message.ts";

export interface RoundState {
  /** How many rounds there have been. */
  readonly rounds: number;
  /** Answers by key, each with the fingerprint of its question. */
  readonly answers: Readonly<Record<string, readonly [fingerprint: string, answer: JsonObject]>>;
  /** The results of `ctx.once`. */
  readonly onces: Readonly<Record<string, readonly unknown[]>>;
  /** The fingerprints of the questions that are open, by key. */
  readonly pending: Readonly<Record<string, string>>;
  /** The methods of the questions that went out, by key; only where somebody observes what becomes of them. */
  readonly asked?: Readonly<Record<string, string>>;
  /** Answers that a client brought without a state; not kept, unless a question is found for them. */
  readonly unasked?: JsonObject;
  /** What the author returned with `inputRequired`. */
  readonly own?: unknown;
  /** What its questions were answered with, for as long as the handler has asked nothing else that way. */
  readonly responses?: JsonObject;
}

/** Without a prototype: keys may be of an author's choice, and `constructor` is one. */
const none: Readonly<Record<string, never>> = Object.freeze(Object.create(null) as Record<string, never>);

export const firstRound: RoundState = { rounds: 0, answers: none, onces: none, pending: none };

/** The state with the answers to its open questions that the client brought. */
export function withResponses(state: RoundState, responses: JsonObject): RoundState {
  const answered = Object.entries(state.pending).flatMap(([key, fingerprint]) => {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
    return isObject(response) ? [[key, [fingerprint, response] as const] as const] : [];
  });
  const answers = Object.assign(Object.create(null) as object, state.answers, Object.fromEntries(answered));
  return { ...state, answers };
}

/** What the handler sees of the answers: those to its own questions, not those that its awaits resolve with. */
export function ownResponses(state: RoundState, responses: JsonObject): JsonObject {
  const brought = Object.entries(responses).filter(([key]) => !Object.hasOwn(state.pending, key));
  return Object.fromEntries([...Object.entries(state.responses ?? {}), ...brought]);
}
