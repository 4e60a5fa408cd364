// Remembers what a client has answered, for a handler that runs again while its call goes on.
import type { JsonObject } from "../../wire/message.ts";
import { readAnswer } from "./direct-asker.ts";
import type { AskOptions, Asker, Question } from "./question.ts";
import type { QuestionKeys } from "./question-keys.ts";
import type { RoundState } from "./round-state.ts";

export class RememberingAsker implements Asker {
  readonly #asker: Asker;
  /** Answers by key, each with the fingerprint of the question that it answers. */
  readonly #answers: Map<string, RoundState["answers"][string]>;
  readonly #keys: QuestionKeys;

  /** Goes on from the `answers` that the same run has had. */
  constructor(asker: Asker, keys: QuestionKeys, answers: RoundState["answers"] = {}) {
    this.#asker = asker;
    this.#keys = keys;
    this.#answers = new Map(Object.entries(answers));
  }

  /** The handler runs from the start: what has been answered is not asked again. */
  rewind(): void {
    this.#keys.startOver();
  }

  async ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    const { key, fingerprint } = this.#keys.name(question, options.key);
    const [answered, before] = this.#answers.get(key) ?? [];
    if (before !== undefined && answered === fingerprint) return readAnswer(question, before);
    let given: JsonObject = {};
    const read = (result: JsonObject): ReturnType<typeof question.read> => question.read((given = result));
    const answer = await this.#asker.ask({ ...question, read }, options);
    this.#answers.set(key, [fingerprint, given]);
    return answer;
  }

  /** Asks whatever was asked before. */
  askAnew<Answer>(question: Question<Answer>, key: string): Promise<Answer> {
    return this.#asker.ask(question, { key });
  }
}
