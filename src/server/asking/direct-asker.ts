// Asking a client that can be sent requests: the question goes out, and the handler waits for the answer.
import { askFailed } from "../../errors.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { AskOptions, Asker, Question } from "./question.ts";
import { QuestionKeys } from "./question-keys.ts";

/** Sends a request and resolves with its result. */
export type SendRequest = (
  method: string,
  params: JsonObject | undefined,
  options: { readonly timeoutMs: number },
) => Promise<JsonObject>;

interface Answered {
  readonly fingerprint: string;
  readonly result: JsonObject;
}

export class DirectAsker implements Asker {
  readonly #send: SendRequest;
  readonly #answered = new Map<string, Answered>();
  #keys = new QuestionKeys();

  constructor(send: SendRequest) {
    this.#send = send;
  }

  /** The handler runs from the start: what has been answered is not asked again. */
  rewind(): void {
    this.#keys = new QuestionKeys();
  }

  async ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    const { key, fingerprint } = this.#keys.name(question, options.key);
    const before = this.#answered.get(key);
    if (before?.fingerprint === fingerprint) return readAnswer(question, before.result);
    const result = await this.request(question, options);
    const answer = await readAnswer(question, result);
    this.#answered.set(key, { fingerprint, result });
    return answer;
  }

  /** Asks whatever was asked before. */
  request({ method, params, timeoutMs }: Question<unknown>, options: AskOptions = {}): Promise<JsonObject> {
    return this.#send(method, params, { timeoutMs: options.timeoutMs ?? timeoutMs });
  }
}

/** The answer as the handler gets it; throws when the client answered something else. */
export async function readAnswer<Answer>(question: Question<Answer>, result: JsonObject): Promise<Answer> {
  const reading = await question.read(result);
  if (reading.ok) return reading.value;
  throw askFailed(question.method, `the answer cannot be used: ${reading.problem}`);
}
