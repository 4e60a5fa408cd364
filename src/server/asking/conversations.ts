// The conversations of all calls: restores them from a retry, and turns their questions into the response of the call.
import {
  errorCodes,
  HalyardError,
  invalidRequest,
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
} from "../../base/errors.ts";
import type { JsonObject, RpcError } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import { Reply } from "../calls/call-parts.ts";
import type { AskingSeam } from "../calls/seams.ts";
import { stampAs } from "../calls/stamp.ts";
import { boundTo } from "../request-state/binding.ts";
import type { RequestState } from "../request-state/request-state.ts";
import { InputRequired, InputRound, orAsk } from "../catalogue/results.ts";
import type { Settings } from "../settings/settings.ts";
import { tellRound } from "./ask-events.ts";
import { CallConversation, type ConversationParts } from "./conversation.ts";
import { plainQuestion } from "./plain-question.ts";
import { assertCanAsk, type ClientQuestion, readResponses, toRequest } from "./question.ts";
import type { InputRequests } from "./round-asker.ts";
import { firstRound, ownResponses, type RoundState, withResponses } from "./round-state.ts";
import { urlQuestions, urlRefusal, urlRequiredError } from "./elicitation.ts";

interface Parts extends ConversationParts {
  readonly settings: Settings;
  readonly requestState: RequestState;
}

export class Conversations implements AskingSeam {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  converse(call: Call): CallConversation {
    return new CallConversation(call, this.#parts, (round) =>
      call.answerNow(() => this.#sealAwaited(call, round)),
    );
  }

  of(call: Call): CallConversation {
    return call.conversation as CallConversation;
  }

  async resume(call: Call): Promise<void> {
    const { inputResponses = {}, requestState: token } = call.params;
    const responses = readResponses(inputResponses);
    const { requestState, settings } = this.#parts;
    const conversation = this.of(call);
    if (token === undefined) return conversation.takeUp({ ...firstRound, unasked: responses }, responses);
    const state = (await requestState.open(token, boundTo(call))) as RoundState;
    tellRound(settings, call, state.asked, responses);
    conversation.takeUp(withResponses(state, responses), ownResponses(state, responses));
  }

  settle(error: unknown, call: Call, again: () => unknown): "answered" | Promise<unknown> | undefined {
    const required = questionsOf(error, call);
    if (!required) return undefined;
    if (required instanceof HalyardError) return Promise.reject(required);
    if (!this.of(call).asksInRounds) return this.#askAndRun(call, required, again);
    call.answerNow(() => this.#sealReturned(call, required));
    return "answered";
  }

  refusalOf(error: unknown, call: Call): HalyardError | undefined {
    return error instanceof UrlElicitationRequired ? urlRefusal(error, call) : undefined;
  }

  urlRequired(error: UrlElicitationRequired, call: Call): RpcError {
    return urlRequiredError(error, call, this.#parts.elicitationIds);
  }

  /** Seals a round in which the handler awaits answers: the retry must see everything that this run saw. */
  async #sealAwaited(call: Call, round: InputRequests | Promise<InputRequests>): Promise<Reply> {
    const requests = round instanceof Promise ? await orAborted(round, call.signal) : round;
    const { before, inputResponses } = this.of(call);
    return this.#seal(call, () => requests, { own: before.own, responses: inputResponses });
  }

  /** Seals a round that the handler returned as `inputRequired`. */
  #sealReturned(call: Call, required: InputRequired): Promise<Reply> {
    const requests = (): InputRequests =>
      Object.fromEntries(questionsIn(required, call).map(([key, question]) => [key, toRequest(question)]));
    return this.#seal(call, requests, { own: required.requestState });
  }

  /** Builds the result: the questions, and the sealed state for the next run. */
  async #seal(
    call: Call,
    write: () => InputRequests,
    kept: Pick<RoundState, "own" | "responses">,
  ): Promise<Reply> {
    const { settings } = this.#parts;
    const { before, answers, onces, pending } = this.of(call);
    this.#assertRoundsLeft(call, before.rounds);
    const inputRequests = write();
    const written = Object.entries(inputRequests);
    const asked = settings.observe && Object.fromEntries(written.map(([key, { method }]) => [key, method]));
    const state: RoundState = {
      rounds: before.rounds + 1,
      answers,
      onces: onces.results,
      pending,
      ...(asked && { asked }),
      ...kept,
    };
    const requestState = await this.#parts.requestState.seal(state, boundTo(call));
    // A cancelled call gets no response, so its questions are never sent.
    if (!call.cancelled) tellRound(settings, call, asked);
    const questions = written.length > 0 ? { inputRequests } : {};
    return new Reply(stampAs("input_required", { ...questions, requestState }, call));
  }

  /** Asks a client that accepts requests, or the client of a task, and runs the handler again. */
  async #askAndRun(call: Call, first: InputRequired, run: () => unknown): Promise<unknown> {
    const conversation = this.of(call);
    let required = first;
    for (let rounds = 0; ; rounds++) {
      this.#assertRoundsLeft(call, rounds);
      const questions = questionsIn(required, call);
      if (questions.length === 0) await pause();
      if (call.cancelled) throw invalidRequest("The call was cancelled before its handler ran again");
      const asked = questions.map(
        async ([key, question]) => [key, await conversation.askAnew(question, key)] as const,
      );
      const responses = Object.fromEntries(await Promise.all(asked));
      const { requestState } = required;
      const own: unknown = requestState === undefined ? undefined : JSON.parse(JSON.stringify(requestState));
      conversation.takeUp({ ...firstRound, rounds: rounds + 1, own }, responses);
      try {
        return orAsk(await run());
      } catch (error) {
        const more = questionsOf(error, call);
        if (!(more instanceof InputRequired)) throw more ?? error;
        required = more;
      }
    }
  }

  #assertRoundsLeft({ method }: Call, rounds: number): void {
    const { maxRounds } = this.#parts.settings.limits;
    if (rounds < maxRounds) return;
    const remedies = "ask more questions at once, ask the same ones in each run, or raise limits.maxRounds";
    const message = `${method} asked questions in ${maxRounds} rounds and has more: ${remedies}`;
    throw new ProtocolError(errorCodes.internal, message);
  }
}

/** The questions that an error stands for, if any, or the user's refusal of one. */
function questionsOf(error: unknown, call: Call): InputRequired | HalyardError | undefined {
  if (error instanceof InputRound) return error.required;
  const isQuestion = error instanceof UrlElicitationRequired && call.protocol.urlRequired === "question";
  return isQuestion ? (urlRefusal(error, call) ?? urlQuestions(error, call)) : undefined;
}

/** The questions of an author. Throws if this client cannot be asked one of them. */
function questionsIn(
  { inputRequests }: InputRequired,
  call: Call,
): [key: string, ClientQuestion<JsonObject>][] {
  return Object.entries(inputRequests).map(([key, request]) => {
    const question = plainQuestion(request, call.protocol);
    assertCanAsk(call, question.method, question.requires);
    return [key, question];
  });
}

/** Resolves with the round when `ctx.once` work has ended. It may never end, so this rejects when the call is aborted. */
function orAborted<Round>(round: Promise<Round>, signal: AbortSignal): Promise<Round> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new ToolError((signal.reason as Error).message));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp);
    round.then(resolve, reject);
  });
}

/** Waits before the next run if the handler returned a state without questions, which means "try again later". */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}
