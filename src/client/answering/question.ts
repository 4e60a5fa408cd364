// A question of the server as one handler understands it: read and checked, ready to be answered.
import { errorCodes } from "../../errors.ts";
import type { JsonObject, RpcError } from "../../wire/message.ts";
import type { QuestionContext } from "../settings/handlers.ts";

/** A question of the server. */
export interface Question {
  /** Its key in `inputRequests`; absent if the question is a request of its own. */
  readonly key?: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** A question that a handler can answer: calls the handler and returns the result. Or why the server may not ask it. */
export type Reading =
  | { readonly ok: true; readonly ask: (context: QuestionContext) => Promise<JsonObject> }
  | { readonly ok: false; readonly error: RpcError };

/** The reading of a question that the server may not ask. */
export function refused(message: string, code: number = errorCodes.invalidParams): Reading {
  return { ok: false, error: { code, message } };
}

/** The error for a handler that returned something it must not. */
export function mistake(handler: string, problem: string): TypeError {
  return new TypeError(`${handler} returned an answer that cannot be sent: ${problem}`);
}
