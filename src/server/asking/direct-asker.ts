// Asks a client that accepts requests: sends the question and waits for the response.
import { askFailed } from "../../base/errors.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Asker, ClientQuestion } from "./question.ts";

/** Sends a request and resolves with its result. */
export type SendRequest = (
  method: string,
  params: JsonObject | undefined,
  options: { readonly timeoutMs: number },
) => Promise<JsonObject>;

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
