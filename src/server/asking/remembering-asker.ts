// Remembers what a client has answered, for a handler that runs again while its call goes on.
import type { JsonObject } from "../../wire/message.ts";
import { readAnswer } from "./direct-asker.ts";
import type { Asker, Question } from "./question.ts";
import type { AskOptions } from "../../protocol/asking.ts";
import type { Named, QuestionKeys } from "./question-keys.ts";
import type { RoundState } from "./round-state.ts";

export class RememberingAsker implements Asker {
  /** Who asks what has not been answered yet. */
  asker: Asker;
  readonly keys: QuestionKeys;
  /** Answers by key, each with the fingerprint of the question that it answers. */
  readonly #answers: Map<string, RoundState["answers"][string]>;

  /** Goes on from the `answers` that the same run has had. */
  constructor(asker: Asker, keys: QuestionKeys, answers: RoundState["answers"] = {}) {
    this.asker = asker;
    this.keys = keys;
    this.#answers = new Map(Object.entries(answers));
  }

  /** The handler runs from the start: what has been answered is not asked again. */
  rewind(): void {
    this.keys.startOver();
  }

  async ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    const named = this.keys.name(question, options.key);
    const [answered, before] = this.#answers.get(named.key) ?? [];
    const isKnown = before !== undefined && answered === named.fingerprint;
    return isKnown ? readAnswer(question, before) : this.put(question, named, options);
  }

  /** Asks a question that has its name already. */
  async put<Answer>(question: Question<Answer>, named: Named, options: AskOptions): Promise<Answer> {
    let given: JsonObject = {};
    const read = (result: JsonObject): ReturnType<typeof question.read> => question.read((given = result));
    const answer = await this.asker.ask({ ...question, read }, options);
    this.#answers.set(named.key, [named.fingerprint, given]);
    return answer;
  }

  /** Asks whatever was asked before. */
  askAnew<Answer>(question: Question<Answer>, key: string): Promise<Answer> {
    return this.asker.ask(question, { key });
  }
}
