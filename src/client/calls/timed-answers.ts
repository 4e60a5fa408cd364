// Answers that know when the last of them ended, so that the time of the client's user does not count as the server's silence.
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Answered, Answers, Question } from "../answering/answers.ts";
import type { Pauses } from "./call.ts";

export class TimedAnswers implements Answers, Pauses {
  readonly #answers: Answers;
  lastEndedAt: number = Number.NEGATIVE_INFINITY;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  get isBusy(): boolean {
    return this.#answers.isBusy;
  }

  capabilities(revision: Revision): ClientCapabilities {
    return this.#answers.capabilities(revision);
  }

  async answer(question: Question, revision: Revision, signal: AbortSignal): Promise<Answered> {
    try {
      return await this.#answers.answer(question, revision, signal);
    } finally {
      this.lastEndedAt = performance.now();
    }
  }
}
