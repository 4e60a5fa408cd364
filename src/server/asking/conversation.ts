// What a handler and the client say to each other during one call: questions, answers, and what was done between them.
import { ToolError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { Elicited, Root, Sampled, SamplingMessage } from "../../protocol/asking.ts";
import type { RequestRow } from "../../protocol/revision.ts";
import type { AnySchema, SchemaSettings } from "../../schema/compile.ts";
import type { JsonObject } from "../../wire/message.ts";
import { callerOf, type Exchange } from "../context/connection.ts";
import { directAsker } from "./direct-asker.ts";
import {
  accepted,
  elicitationMethod,
  elicitationNeeds,
  formQuestion,
  knownUrlAskOptions,
  type UrlAskOptions,
  urlQuestion,
} from "./elicitation.ts";
import type { ElicitationIds } from "./elicitation-ids.ts";
import { Onces } from "./onces.ts";
import {
  assertCanAsk,
  type Asked,
  type AskOptions,
  type Asker,
  knownAskOptions,
  type Question,
} from "./question.ts";
import { QuestionKeys } from "./question-keys.ts";
import { RememberingAsker } from "./remembering-asker.ts";
import { rootsQuestion } from "./roots.ts";
import { firstRound, type RoundState } from "./round-state.ts";
import { RoundAsker } from "./round-asker.ts";
import { knownSampleOptions, type SampleOptions, samplingQuestion } from "./sampling.ts";

/** The call, as far as its conversation has to know it. */
interface Asking extends Asked {
  readonly row: RequestRow;
  readonly exchange: Exchange;
  readonly core: {
    readonly elicitations: ElicitationIds;
    readonly settings: SchemaSettings;
  };
  readonly interrupt: ((answer: object) => void) | undefined;
  readonly signal: AbortSignal;
  ask(method: string, params?: object, options?: { readonly timeoutMs?: number }): Promise<JsonObject>;
}

export class Conversation {
  readonly #call: Asking;
  /** What the rounds before this one have brought. */
  before: RoundState = firstRound;
  inputResponses: { readonly [key: string]: JsonObject } | undefined;
  onces: Onces = new Onces();
  #asker: RoundAsker | RememberingAsker | undefined;

  constructor(call: Asking) {
    this.#call = call;
  }

  /** Whether questions end the call, for the client to come back with answers. */
  get comesBack(): boolean {
    return this.#call.row.repeats !== undefined && !(this.#asker instanceof RememberingAsker);
  }

  get asker(): Asker {
    return (this.#asker ??= this.#makeAsker());
  }

  get #rounds(): RoundAsker | undefined {
    return this.#asker instanceof RoundAsker ? this.#asker : undefined;
  }

  /** From here on questions go another way: the call has become a task. What was answered before is not asked again there. */
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

  /** Whether open questions have ended the call, so that nothing that the handler still does matters. */
  get hasClosed(): boolean {
    return this.#rounds?.isClosed ?? false;
  }

  /** The fingerprints of the questions that are open, by key. */
  get pending(): Record<string, string> {
    return this.#rounds?.pending ?? {};
  }

  /** The answers so far, by key. */
  get answers(): RoundState["answers"] {
    return this.#rounds?.answers ?? this.before.answers;
  }

  /** Goes on from an earlier round. */
  takeUp(before: RoundState, inputResponses: JsonObject): void {
    // Where the call itself asks again, what was done once stays done.
    if (this.comesBack) this.onces = new Onces(before.onces);
    if (this.#asker instanceof RememberingAsker) this.#asker.rewind();
    this.before = before;
    this.inputResponses = inputResponses as { readonly [key: string]: JsonObject };
  }

  async elicit(message: string, asked: AnySchema | URL, options?: UrlAskOptions): Promise<unknown> {
    return accepted(message, await this.tryElicit(message, asked, options));
  }

  async tryElicit(
    message: string,
    asked: AnySchema | URL,
    options: UrlAskOptions = {},
  ): Promise<Elicited<unknown>> {
    const { table, session, core, exchange } = this.#call;
    checkOptions({ subject: "ctx.elicit" }, options, knownUrlAskOptions);
    const isPage = asked instanceof URL;
    assertCanAsk(this.#call, elicitationMethod, elicitationNeeds[isPage ? "url" : "form"]);
    if (!isPage) {
      const question = formQuestion(message, asked, table, core.settings);
      return this.#ask<Elicited<unknown>>(question, options);
    }
    const { elicitationId = crypto.randomUUID() } = options;
    core.elicitations.remember(elicitationId, session, callerOf(exchange));
    return this.#ask(urlQuestion(message, asked, elicitationId, table), options);
  }

  async sample(messages: string | readonly SamplingMessage[], options: SampleOptions = {}): Promise<Sampled> {
    checkOptions({ subject: "ctx.sample" }, options, knownSampleOptions);
    return this.#ask(samplingQuestion(messages, options, this.#call.table), options);
  }

  async roots(options: AskOptions = {}): Promise<readonly Root[]> {
    checkOptions({ subject: "ctx.roots" }, options, knownAskOptions);
    return this.#ask(rootsQuestion, options);
  }

  /** Asks what a handler has returned as its question, even if it was answered before. */
  askAnew(question: Question<JsonObject>, key: string): Promise<JsonObject> {
    const { asker } = this;
    const { elicitationId } = question.params ?? {};
    const { core, session, exchange } = this.#call;
    if (typeof elicitationId === "string")
      core.elicitations.remember(elicitationId, session, callerOf(exchange));
    return asker instanceof RememberingAsker ? asker.askAnew(question, key) : asker.ask(question, { key });
  }

  #ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    assertCanAsk(this.#call, question.method, question.requires);
    return this.asker.ask(question, options);
  }

  #makeAsker(): RoundAsker | RememberingAsker {
    const call = this.#call;
    if (!this.comesBack) {
      const direct = directAsker((method, params, options) => call.ask(method, params, options));
      return new RememberingAsker(direct, new QuestionKeys());
    }
    return new RoundAsker(this.before, this.onces, (round) =>
      call.interrupt?.(round instanceof Promise ? orAborted(round, call.signal) : round),
    );
  }
}

/** The round when what is done once has ended; that may be never, and a call has its time. */
function orAborted(round: Promise<object>, signal: AbortSignal): Promise<object> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new ToolError((signal.reason as Error).message));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp);
    round.then(resolve, reject);
  });
}
