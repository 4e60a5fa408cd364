// Rounds: a modern server responds with questions, and the client sends the request again with the answers.
import { clip } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, isRequestId, type JsonObject } from "../../base/wire/message.ts";
import { type QuestionAnswers, type ServerQuestion, tooManyBytes } from "./question.ts";
import { backoffPause } from "../channel/backoff.ts";
import { InvalidResponse } from "../settings/errors.ts";
import type { ClientLimits } from "../settings/limits.ts";

/** The members that the next round adds to the parameters of the request. */
export interface RoundParams {
  readonly inputResponses?: JsonObject;
  /** The state that the server sent, byte for byte. */
  readonly requestState?: string;
}

/** The waits before rounds without questions: the first one, then twice as long each time, up to the longest. */
const firstWaitMs = 200;
const longestWaitMs = 10_000;

/**
 * Answers all questions of an `input_required` result at once. Without questions it waits a little, longer with each round (the
 * first is 1). Rejects with the exception of a handler, with InvalidResponse if the server may not ask this, or with the reason
 * of `signal`.
 */
export async function answerRound(
  result: JsonObject,
  answers: QuestionAnswers,
  revision: Revision,
  signal: AbortSignal,
  limits: Pick<ClientLimits, "maxQuestions" | "maxQuestionBytes">,
  round = 1,
): Promise<RoundParams> {
  const { inputRequests, requestState } = result;
  if (inputRequests === undefined && requestState === undefined)
    throw new InvalidResponse("An input_required result must have inputRequests or requestState");
  if (requestState !== undefined && typeof requestState !== "string")
    throw new InvalidResponse("requestState must be a string");
  const state = requestState === undefined ? undefined : { requestState };
  const release = answers.hold(requestState?.length ?? 0);
  if (release === undefined) throw new InvalidResponse(tooManyBytes(limits.maxQuestionBytes));
  try {
    if (inputRequests === undefined) {
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (round - 1));
      await backoffPause(waitMs * (1 - Math.random() / 2), signal);
      return { ...state };
    }
    const inputResponses = await answerAll(readQuestions(inputRequests, limits), answers, revision, signal);
    return { inputResponses, ...state };
  } finally {
    release();
  }
}

/** The parameters of the next round: the request's own, without those of an earlier round. */
export function nextParams(params: JsonObject | undefined, round: RoundParams): JsonObject {
  const { inputResponses: _, requestState: _stale, ...own } = params ?? {};
  return { ...own, ...round };
}

/** The questions of an `inputRequests` object, by key. Throws InvalidResponse if it is malformed. */
export function readQuestions(
  requests: unknown,
  limits: Pick<ClientLimits, "maxQuestions">,
): [key: string, question: ServerQuestion][] {
  if (!isObject(requests)) throw new InvalidResponse("inputRequests must be an object");
  const entries = Object.entries(requests);
  if (entries.length > limits.maxQuestions) {
    const problem = `The server asks ${entries.length} questions at once`;
    throw new InvalidResponse(
      `${problem}: raise limits.maxQuestions to answer more than ${limits.maxQuestions}`,
    );
  }
  return entries.map(([key, request]) => {
    if (!isRequestId(key))
      throw new InvalidResponse(`The key ${JSON.stringify(clip(key))} of a question is too long`);
    const { method, params = {} } = isObject(request) ? request : {};
    if (typeof method !== "string" || !isObject(params))
      throw new InvalidResponse(`The question ${JSON.stringify(clip(key))} must have a method and params`);
    return [key, { key, method, params }];
  });
}

/** The answers by key. If one question gets no answer, the signals of the other handlers are aborted. */
export async function answerAll(
  questions: readonly (readonly [key: string, question: ServerQuestion])[],
  answers: QuestionAnswers,
  revision: Revision,
  signal: AbortSignal,
): Promise<JsonObject> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const answer = async ([key, question]: readonly [string, ServerQuestion]): Promise<
    [string, JsonObject]
  > => {
    const answered = await answers.answer(question, revision, either);
    if (answered.ok) return [key, answered.result];
    failed.abort(answered.cause);
    throw answered.cause;
  };
  return Object.fromEntries(await Promise.all(questions.map(answer)));
}
