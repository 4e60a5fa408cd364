// The conversation of one call: its questions, their answers, and the results of `ctx.once`.
import { askFailed } from "../../base/errors.ts";
import { filledText, func, type Kind, problemOf, text } from "../../base/kinds.ts";
import { checkOptions } from "../../base/options.ts";
import type {
  AskOptions,
  Elicited,
  Root,
  Sampled,
  SampleOptions,
  SamplingMessage,
  UrlAskOptions,
} from "../../protocol/asking.ts";
import type { AnySchema, SchemaSettings, Validated } from "../../protocol/schema/compile.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import type { Conversation } from "../calls/call-parts.ts";
import { subjectOf } from "../calls/failure.ts";
import { callerOf } from "../context/connection.ts";
import { directAsker, RememberingAsker } from "./remembering-asker.ts";
import {
  accepted,
  elicitationMethod,
  elicitationNeeds,
  formQuestion,
  knownUrlAskOptions,
  urlQuestion,
  withoutAction,
  type ElicitationIds,
} from "./elicitation.ts";
import { Onces, firstRound, type RoundState } from "./round-state.ts";
import { assertCanAsk, type Asker, knownAskOptions, type ClientQuestion, QuestionKeys } from "./question.ts";
import { rootsQuestion } from "./roots.ts";
import { type InputRequests, RoundAsker } from "./round-asker.ts";
import { knownSampleOptions, samplingQuestion } from "./sampling.ts";

/** The parts of the server that conversations use. */
export interface ConversationParts {
  readonly elicitationIds: ElicitationIds;
  readonly settings: SchemaSettings;
}

/** Called with the questions of a round when it ends; they become the response of the call. */
export type EndRound = (round: InputRequests | Promise<InputRequests>) => void;

export class CallConversation implements Conversation {
  readonly #call: Call;
  readonly #parts: ConversationParts;
  readonly #endRound: EndRound;
  /** The state of the previous rounds. */
  before: RoundState = firstRound;
  inputResponses: { readonly [key: string]: JsonObject } | undefined;
  onces: Onces = new Onces();
  #asker: RoundAsker | RememberingAsker | undefined;

  constructor(call: Call, parts: ConversationParts, endRound: EndRound) {
    this.#call = call;
    this.#parts = parts;
    this.#endRound = endRound;
  }

  /** Whether questions end the call, so that the client retries it with the answers. */
  get asksInRounds(): boolean {
    return this.#call.row.repeats !== undefined && !(this.#asker instanceof RememberingAsker);
  }

  get asker(): Asker {
    return (this.#asker ??= this.#makeAsker());
  }

  get #rounds(): RoundAsker | undefined {
    return this.#asker instanceof RoundAsker ? this.#asker : undefined;
  }

  /** Sends all further questions through `asker`, because the call has become a task. Earlier answers stay valid. */
  askThrough(asker: Asker): void {
    const before = this.#asker;
    const keys = before?.keys ?? new QuestionKeys();
    keys.mayRepeat = true;
    if (before instanceof RememberingAsker) before.asker = asker;
    else {
      const remembering = new RememberingAsker(asker, keys, this.answers);
      before?.handOver(remembering);
      this.#asker = remembering;
    }
  }

  /** Whether open questions are the response of the call, so that the result of the handler is ignored. */
  get hasEndedCall(): boolean {
    return this.#rounds?.isClosed ?? false;
  }

  /** The fingerprints of the open questions, by key. */
  get pending(): Record<string, string> {
    return this.#rounds?.pending ?? {};
  }

  /** The answers so far, by key. */
  get answers(): RoundState["answers"] {
    return this.#rounds?.answers ?? this.before.answers;
  }

  /** Restores the state of an earlier round. */
  takeUp(before: RoundState, inputResponses: JsonObject): void {
    // A retry must not repeat the work of ctx.once.
    if (this.asksInRounds) this.onces = new Onces(before.onces);
    if (this.#asker instanceof RememberingAsker) this.#asker.rewind();
    this.before = before;
    this.inputResponses = inputResponses as { readonly [key: string]: JsonObject };
  }

  idle(): Promise<void> {
    return this.onces.idle();
  }

  requestState<T>(): T | undefined {
    return this.before.own as T | undefined;
  }

  once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    checkArgument("ctx.once(key, work): key", filledText, key);
    checkArgument("ctx.once(key, work): work", func, work);
    return this.onces.run(key, work) as Promise<T>;
  }

  async elicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options?: UrlAskOptions,
  ): Promise<S extends URL ? void : Validated<S>> {
    const content: unknown = accepted(message, await this.tryElicit(message, asked, options));
    const refused = isObject(content)
      ? withoutAction(content, asked as AnySchema, this.#parts.settings)
      : content;
    return refused as S extends URL ? void : Validated<S>;
  }

  async tryElicit<S extends AnySchema | URL>(
    message: string,
    asked: S,
    options: UrlAskOptions = {},
  ): Promise<Elicited<S extends URL ? undefined : Validated<S>>> {
    this.#assertOpen("ctx.elicit");
    checkArgument("ctx.elicit(message, schema): message", text, message);
    checkArgument("ctx.elicit(message, schema): schema", askedForm, asked);
    checkOptions({ subject: "ctx.elicit" }, options, knownUrlAskOptions);
    const isPage = asked instanceof URL;
    // Check this before encoding the form, which may fail for a client that supports no forms at all.
    assertCanAsk(this.#call, elicitationMethod, elicitationNeeds[isPage ? "url" : "form"]);
    const question: ClientQuestion<Elicited<unknown>> = isPage
      ? this.#pageQuestion(message, asked, options)
      : formQuestion(message, asked, this.#call.protocol, this.#parts.settings);
    const answer = await this.asker.ask(question, options);
    return answer as Elicited<S extends URL ? undefined : Validated<S>>;
  }

  #pageQuestion(message: string, url: URL, options: UrlAskOptions): ClientQuestion<Elicited<undefined>> {
    const { elicitationId = crypto.randomUUID() } = options;
    this.#remember(elicitationId);
    return urlQuestion(message, url, elicitationId, this.#call.protocol);
  }

  #remember(elicitationId: string): void {
    const { session, exchange } = this.#call;
    this.#parts.elicitationIds.remember(elicitationId, session, callerOf(exchange));
  }

  async sample(messages: string | readonly SamplingMessage[], options: SampleOptions = {}): Promise<Sampled> {
    this.#assertOpen("ctx.sample");
    checkArgument("ctx.sample(messages, options): messages", askedMessages, messages);
    checkOptions({ subject: "ctx.sample" }, options, knownSampleOptions);
    return this.#ask(samplingQuestion(messages, options, this.#call.protocol), options);
  }

  async roots(options: AskOptions = {}): Promise<readonly Root[]> {
    this.#assertOpen("ctx.roots");
    checkOptions({ subject: "ctx.roots" }, options, knownAskOptions);
    return this.#ask(rootsQuestion, options);
  }

  /** Asks a question that the handler returned, even if it was answered before. */
  askAnew(question: ClientQuestion<JsonObject>, key: string): Promise<JsonObject> {
    const { asker } = this;
    const { elicitationId } = question.params ?? {};
    if (typeof elicitationId === "string") this.#remember(elicitationId);
    return asker instanceof RememberingAsker ? asker.askAnew(question, key) : asker.ask(question, { key });
  }

  /** Logs as well as throws, because code that runs on after its call seldom awaits the rejection. */
  #assertOpen(name: string): void {
    if (!this.#call.hasEnded) return;
    const failed = askFailed(name, "the call has ended");
    const { method, core } = this.#call;
    core.settings.logger.warn(failed.message, { method, name: subjectOf(this.#call) });
    throw failed;
  }

  #ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer> {
    assertCanAsk(this.#call, question.method, question.requires);
    return this.asker.ask(question, options);
  }

  #makeAsker(): RoundAsker | RememberingAsker {
    const call = this.#call;
    if (!this.asksInRounds) {
      const direct = directAsker((method, params, options) => call.ask(method, params, options));
      return new RememberingAsker(direct, new QuestionKeys());
    }
    return new RoundAsker(this.before, this.onces, this.#endRound);
  }
}

const askedForm: Kind = {
  is: (value) => typeof value !== "string",
  mustBe: "a schema, or the URL of a page",
  remedy: () => "for a page pass new URL(text)",
};

const askedMessages: Kind = {
  is: (value) => typeof value === "string" || Array.isArray(value),
  mustBe: "a text or a list of messages",
  remedy: (value) =>
    isObject(value) && "messages" in value
      ? "pass the list itself: ctx.sample(messages, { maxTokens })"
      : undefined,
};

/** Throws if an argument has the wrong kind, as in code written for other packages. */
function checkArgument(argument: string, kind: Kind, value: unknown): void {
  const problem = problemOf(kind, value);
  if (problem !== undefined) throw new TypeError(`${argument} ${problem}`);
}
