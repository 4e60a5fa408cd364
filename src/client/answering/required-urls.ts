// The error of 2025-11-25 that asks the user to visit pages before a request can succeed.
import { InputCancelled, InputDeclined } from "../../base/errors.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcNotification } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "./question.ts";
import type { RpcRejection } from "../settings/errors.ts";
import type { ClientLimits } from "../settings/limits.ts";
import { answerAll } from "./rounds.ts";

/** The parts of a call that the pages need. */
export interface UrlRequiredOptions {
  readonly answers: QuestionAnswers;
  readonly revision: Revision;
  readonly limits: Pick<ClientLimits, "maxQuestions">;
  readonly signal: AbortSignal;
  readonly onNotification: (method: string, callback: (message: RpcNotification) => void) => () => void;
  /** How long to wait for the user: the call's `timeoutMs`. */
  readonly waitMs: number;
}

/**
 * The pages of one call. The user consents first, and the request is sent again at once, since a handler may have waited for the
 * user. If the server still rejects it, the call waits until the server says that the pages are done, at most `waitMs`, and sends
 * it for the last time.
 */
export class RequiredUrls {
  readonly #options: UrlRequiredOptions;
  readonly #open = new Set<string>();
  readonly #stopListening: () => void;
  #times = 0;
  #onDone = (): void => {};

  constructor(options: UrlRequiredOptions) {
    this.#options = options;
    this.#stopListening = options.onNotification("notifications/elicitation/complete", ({ params }) => {
      // Ignores an id that is unknown or already complete.
      if (this.#open.delete(String(params?.["elicitationId"])) && this.#open.size === 0) this.#onDone();
    });
  }

  /**
   * Resolves when the request may be sent again. Rejects with `rejection` if that cannot help, or with the reason that ends the
   * call.
   */
  async next(rejection: RpcRejection): Promise<void> {
    this.#times++;
    if (this.#times === 1) return this.#ask(rejection);
    if (this.#times > 2) throw rejection;
    await this.#untilDone();
  }

  close(): void {
    this.#stopListening();
  }

  async #ask(rejection: RpcRejection): Promise<void> {
    const { answers, revision, signal, limits } = this.#options;
    const pages = readPages(rejection.data);
    const isDeclared = isObject(answers.capabilities(revision).elicitation?.["url"]);
    if (pages === undefined || pages.length > limits.maxQuestions || !isDeclared) throw rejection;
    for (const { elicitationId } of pages) this.#open.add(String(elicitationId));
    const questions = pages.map(
      (params, index) => [String(index), { method: "elicitation/create", params }] as const,
    );
    const given = await answerAll(questions, answers, revision, signal);
    pages.forEach(({ message }, index) => {
      const { action } = given[index] as { readonly action: string };
      if (action === "decline") throw new InputDeclined(String(message));
      if (action === "cancel") throw new InputCancelled(String(message));
    });
  }

  #untilDone(): Promise<void> {
    const { signal, waitMs } = this.#options;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        finish();
      };
      const stop = (): void => settle(() => reject(signal.reason as Error));
      const timer = setTimeout(() => settle(resolve), waitMs);
      this.#onDone = () => settle(resolve);
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
      else if (this.#open.size === 0) this.#onDone();
    });
  }
}

/** The pages that an error names. Undefined if it names none, or if its data has another form. */
function readPages(data: unknown): readonly JsonObject[] | undefined {
  const pages = isObject(data) ? data["elicitations"] : undefined;
  const isPages =
    Array.isArray(pages) &&
    pages.length > 0 &&
    pages.every(
      (page) => isObject(page) && page["mode"] === "url" && typeof page["elicitationId"] === "string",
    );
  return isPages ? (pages as JsonObject[]) : undefined;
}
