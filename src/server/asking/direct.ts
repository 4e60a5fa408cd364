// Asking a client that can be sent requests: the question goes out, and the handler waits for the answer.
import { HalyardError } from "../../errors.ts";
import type { JsonObject } from "../../wire/message.ts";
import type { AskOptions, Asker, Question } from "./question.ts";

/** Sends a request and resolves with its result. */
export type SendRequest = (
  method: string,
  params: JsonObject | undefined,
  options: { readonly timeoutMs: number },
) => Promise<JsonObject>;

export class DirectAsker implements Asker {
  readonly #send: SendRequest;

  constructor(send: SendRequest) {
    this.#send = send;
  }

  async ask<Answer>(question: Question<Answer>, options: AskOptions): Promise<Answer> {
    const { method, params, timeoutMs } = question;
    const result = await this.#send(method, params, { timeoutMs: options.timeoutMs ?? timeoutMs });
    return readAnswer(question, result);
  }
}

/** The answer as the handler gets it; throws when the client answered something else. */
export async function readAnswer<Answer>(question: Question<Answer>, result: JsonObject): Promise<Answer> {
  const reading = await question.read(result);
  if (reading.ok) return reading.value;
  throw new HalyardError("ASK_FAILED", `${question.method}: the answer cannot be used: ${reading.problem}`);
}
