// Answers the server's questions: the same for requests of a legacy server, rounds and tasks. The handlers' code is loaded when needed.
import { type Later, later } from "../../base/async/later.ts";
import { errorCodes } from "../../base/errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { ConnectOptions } from "../settings/options.ts";
import type { AnswersOptions, Handlers } from "./handlers.ts";
import type { Answered, QuestionAnswers, ServerQuestion } from "./question.ts";

/** Answers questions with the handlers that the user of the client passed. */
export class HandlerAnswers implements QuestionAnswers {
  readonly #declared: NonNullable<ConnectOptions["capabilities"]>;
  readonly #hasTasks: boolean;
  readonly #custom: NonNullable<ConnectOptions["onRequest"]>;
  readonly #handlers: Later<Handlers>;
  readonly #maxHeld: number;
  #held = 0;
  #lastEndedAt = Number.NEGATIVE_INFINITY;

  private constructor(options: AnswersOptions) {
    this.#declared = options.capabilities ?? {};
    this.#hasTasks = options.tasks ?? false;
    this.#custom = options.onRequest ?? {};
    this.#maxHeld = options.limits.maxQuestionBytes;
    this.#handlers = later(
      () => import("./questions.ts"),
      ({ Handlers }) => new Handlers(options, (bytes) => this.hold(bytes)),
    );
  }

  /** Throws if an option cannot work, such as a root that is not a `file://` URI. */
  static async create(options: AnswersOptions): Promise<HandlerAnswers> {
    const answers = new HandlerAnswers(options);
    // The client declares their capabilities with its first request.
    if (options.onElicit ?? options.onSample ?? options.roots) await answers.#handlers.get();
    return answers;
  }

  get isBusy(): boolean {
    return this.#handlers.loaded?.areBusy ?? false;
  }

  get lastEndedAt(): number {
    return this.#lastEndedAt;
  }

  capabilities(revision: Revision): ClientCapabilities {
    const { experimental, extensions: declared, ...questions } = this.#declared;
    const own = this.#hasTasks && revision.tasks === "extension" ? { [extensionIds.tasks]: {} } : undefined;
    const extensions = declared || own ? { ...own, ...declared } : undefined;
    return {
      // Only a modern server asks its questions in results, which the user can answer without a handler.
      ...(revision.era === "modern" && questions),
      ...this.#handlers.loaded?.capabilities(revision),
      ...(experimental && { experimental }),
      ...(extensions && { extensions }),
    };
  }

  knows(method: string): boolean {
    return Object.hasOwn(this.#custom, method);
  }

  hold(bytes: number): (() => void) | undefined {
    if (this.#held + bytes > this.#maxHeld) return undefined;
    this.#held += bytes;
    return () => void (this.#held -= bytes);
  }

  async answer(question: ServerQuestion, revision: Revision, signal: AbortSignal): Promise<Answered> {
    try {
      const handlers = await this.#handlers.get();
      return await handlers.answer(question, revision, signal);
    } catch (cause) {
      return {
        ok: false,
        error: { code: errorCodes.internal, message: "The client could not answer" },
        cause,
      };
    } finally {
      this.#lastEndedAt = performance.now();
    }
  }
}
