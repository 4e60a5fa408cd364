// From the questions of a handler to the answer of its call: sealed for a client that comes back, or asked right away.
import {
  errorCodes,
  invalidParams,
  invalidRequest,
  ProtocolError,
  UrlElicitationRequired,
} from "../../errors.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Call } from "../calls/call.ts";
import { stampAs } from "../calls/stamp.ts";
import { tellRound } from "./ask-events.ts";
import { type InputRequired, InputRound, orAsk, plainQuestion } from "./input-required.ts";
import { assertCanAsk, toRequest } from "./question.ts";
import { firstRound, ownResponses, type RoundState, withResponses } from "./round-state.ts";
import { boundTo } from "../request-state/binding.ts";
import { asVisits, visitRefusal } from "./visits.ts";

/** Whether the client comes back with answers, or with a state. */
export function isRetry(call: Call): boolean {
  if (call.row.repeats === undefined) return false;
  const { inputResponses, requestState } = call.params;
  return inputResponses !== undefined || requestState !== undefined;
}

/** Takes up the call where the last round left it. Throws when what the client brought cannot be used. */
export async function takeUp(call: Call): Promise<void> {
  const { inputResponses = {}, requestState } = call.params;
  if (!isObject(inputResponses) || !Object.values(inputResponses).every(isObject)) {
    throw invalidParams("inputResponses must be an object of results");
  }
  const state = requestState === undefined ? undefined : await openState(call, requestState);
  if (state === undefined) {
    call.conversation.takeUp({ ...firstRound, unasked: inputResponses }, inputResponses);
  } else {
    tellRound(call, state.asked, inputResponses);
    call.conversation.takeUp(withResponses(state, inputResponses), ownResponses(state, inputResponses));
  }
}

async function openState(call: Call, requestState: unknown): Promise<RoundState> {
  return (await call.core.requestState.open(requestState, boundTo(call))) as RoundState;
}

/** The questions that an error stands for; throws any other error again. */
export function questionsOf(error: unknown, call: Call): InputRequired {
  if (error instanceof InputRound) return error.required;
  const isQuestion = error instanceof UrlElicitationRequired && call.table.urlRequired === "question";
  if (!isQuestion) throw error;
  const refusal = visitRefusal(error, call);
  if (refusal !== undefined) throw refusal;
  return asVisits(error, call);
}

/** What comes of a handler's questions: they are the result, or they are asked, and `run` runs the handler again. */
export function settleInput(call: Call, required: InputRequired, run: () => unknown): Promise<JsonObject> {
  return call.conversation.comesBack ? sealRound(call, required) : askAndRun(call, required, run);
}

/** The questions as a result, and a sealed state with all that the next run has to know. */
async function sealRound(call: Call, required: InputRequired): Promise<JsonObject> {
  // A task that the handler did not wait for would come too late: its client would never hear of it.
  call.interrupt = undefined;
  const { before, answers, onces, pending, hasClosed, inputResponses } = call.conversation;
  assertRoundsLeft(call, before.rounds);
  const { inputRequests } = required;
  const written = Object.entries(inputRequests).map(([key, request]) => {
    const question = plainQuestion(request, call.table);
    assertCanAsk(call, question.method, question.requires);
    return [key, toRequest(question)] as const;
  });
  const asked =
    call.core.settings.observe && Object.fromEntries(written.map(([key, { method }]) => [key, method]));
  const state: RoundState = {
    rounds: before.rounds + 1,
    answers,
    onces: onces.results,
    pending,
    ...(asked && { asked }),
    // A handler that awaits has to come there again, with all that it saw on its way.
    ...(hasClosed ? { own: before.own, responses: inputResponses } : { own: required.requestState }),
  };
  const requestState = await call.core.requestState.seal(state, boundTo(call));
  // One who has cancelled the call gets no reply, and so no questions.
  if (!call.cancelled) tellRound(call, asked);
  const questions = written.length > 0 ? { inputRequests: Object.fromEntries(written) } : {};
  return stampAs("input_required", { ...questions, requestState }, call);
}

/** For a client that can be sent requests, and inside a task: the handler does not notice the difference. */
async function askAndRun(call: Call, first: InputRequired, run: () => unknown): Promise<JsonObject> {
  let required = first;
  for (let rounds = 0; ; rounds++) {
    assertRoundsLeft(call, rounds);
    const { inputRequests, requestState } = required;
    const questions = Object.entries(inputRequests).map(([key, request]) => {
      const question = plainQuestion(request, call.table);
      assertCanAsk(call, question.method, question.requires);
      return [key, question] as const;
    });
    if (questions.length === 0) await pause();
    if (call.cancelled) throw invalidRequest("The call was cancelled while its handler waited to run again");
    const asked = questions.map(
      async ([key, question]) => [key, await call.conversation.askAnew(question, key)] as const,
    );
    const responses = Object.fromEntries(await Promise.all(asked));
    const own: unknown = requestState === undefined ? undefined : JSON.parse(JSON.stringify(requestState));
    call.conversation.takeUp({ ...firstRound, rounds: rounds + 1, own }, responses);
    try {
      return orAsk(await run()) as JsonObject;
    } catch (error) {
      required = questionsOf(error, call);
    }
  }
}

/** A state alone means "come back later". */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}

function assertRoundsLeft({ core, method }: Call, rounds: number): void {
  const { maxRounds } = core.settings.limits;
  if (rounds < maxRounds) return;
  const remedies = "ask more at a time, ask the same in each run, or raise limits.maxRounds";
  const message = `${method} asked in ${maxRounds} rounds and would ask again: ${remedies}`;
  throw new ProtocolError(errorCodes.internal, message);
}
