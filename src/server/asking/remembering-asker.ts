// Asks a client that accepts requests, and remembers its answers, for a handler that runs again within the same call.
import type { JsonObject } from "../../base/wire/message.ts";
import type { Asker, ClientQuestion, Named, QuestionKeys } from "./question.ts";
import type { AskOptions } from "../../protocol/asking.ts";
import type { RoundState } from "./round-state.ts";
import { askFailed } from "../../base/errors.ts";

export class RememberingAsker implements Asker {
  /** Asks the questions that have no answer yet. */
  asker: Asker;
  readonly keys: QuestionKeys;
  /** Answers by key, each with the fingerprint of its question. */
  readonly #answers: Map<string, RoundState["answers"][string]>;

  /** Starts with the `answers` that this run already has. */
  constructor(asker: Asker, keys: QuestionKeys, answers: RoundState["answers"] = {}) {
    this.asker = asker;
    this.keys = keys;
    this.#answers = new Map(Object.entries(answers));
  }

  /** Called before the handler runs again from the start. It finds the earlier answers. */
  rewind(): void {
    this.keys.startOver();
  }

  async ask<Answer>(question: ClientQuestion<Answer>, options: AskOptions): Promise<Answer> {
    const named = this.keys.name(question, options.key);
    const [answered, before] = this.#answers.get(named.key) ?? [];
    const isKnown = before !== undefined && answered === named.fingerprint;
    return isKnown ? readAnswer(question, before) : this.put(question, named, options);
  }

  /** Asks a question that already has a name. */
  async put<Answer>(question: ClientQuestion<Answer>, named: Named, options: AskOptions): Promise<Answer> {
    let given: JsonObject = {};
    const read = (result: JsonObject): ReturnType<typeof question.read> => question.read((given = result));
    const answer = await this.asker.ask({ ...question, read }, options);
    this.#answers.set(named.key, [named.fingerprint, given]);
    return answer;
  }

  /** Asks even if there is an answer. */
  askAnew<Answer>(question: ClientQuestion<Answer>, key: string): Promise<Answer> {
    return this.asker.ask(question, { key });
  }
}

/** Sends a request and resolves with its result. */
type SendRequest = (
  method: string,
  params: JsonObject | undefined,
  options: { readonly timeoutMs: number },
) => Promise<JsonObject>;

/** Sends the question and waits for the response. */
export function directAsker(send: SendRequest): Asker {
  return {
    async ask(question, { timeoutMs = question.timeoutMs }) {
      return readAnswer(question, await send(question.method, question.params, { timeoutMs }));
    },
  };
}

/** Reads the answer. Throws if the client responded with something else. */
export async function readAnswer<Answer>(
  question: ClientQuestion<Answer>,
  result: JsonObject,
): Promise<Answer> {
  const reading = await question.read(result);
  if (reading.ok) return reading.value;
  throw askFailed(question.method, `the client sent an invalid answer: ${reading.problem}`);
}
