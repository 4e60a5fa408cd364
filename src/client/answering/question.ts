// A question of the server, its answer, and the handler's reading of it: checked, and ready to be answered.
import { errorCodes } from "../../base/errors.ts";
import type { JsonObject, RpcError } from "../../base/wire/message.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { QuestionContext } from "../settings/handlers.ts";

/** A question of the server. */
export interface ServerQuestion {
  /** Its key in `inputRequests`; absent if the question is a request of its own. */
  readonly key?: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The answer to a question: the result, or why there is none. */
export type Answered =
  | { readonly ok: true; readonly result: JsonObject }
  | {
      readonly ok: false;
      /** What a legacy server receives. It does not reveal what a handler threw. */
      readonly error: RpcError;
      /** The reason with which the call of a modern client rejects: the handler's exception, or the problem of the question. */
      readonly cause: unknown;
      /** Whether a handler failed, which only its author can mend. */
      readonly isFault?: boolean;
    };

/** Answers the questions of a server. */
export interface QuestionAnswers {
  /** Whether a handler is running. Timeouts for a silent server stop meanwhile. */
  readonly isBusy: boolean;
  /** When the last handler ended, by `performance.now()`: the time that the user took does not count as the server's silence. */
  readonly lastEndedAt: number;
  /** The capabilities that the client declares on that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  /** Whether the user of this client answers a request that the protocol does not define. */
  knows?(method: string): boolean;
  /** Never rejects. When `signal` is aborted, it resolves at once, and the caller ignores the answer. */
  answer(question: ServerQuestion, revision: Revision, signal: AbortSignal): Promise<Answered>;
  /** Counts bytes of questions until you call the returned function. Returns undefined if there are too many. */
  hold(bytes: number): (() => void) | undefined;
}

/** A question that a handler can answer, with the function that calls the handler; or why the server may not ask it. */
export type QuestionReading =
  | { readonly ok: true; readonly ask: (context: QuestionContext) => Promise<JsonObject> }
  | { readonly ok: false; readonly error: RpcError };

/** The reading of a question that the server may not ask. */
export function refused(message: string, code: number = errorCodes.invalidParams): QuestionReading {
  return { ok: false, error: { code, message } };
}

/** What is wrong with questions that take too many bytes. */
export function tooManyBytes(maxBytes: number): string {
  return `The questions take more than ${maxBytes} bytes: raise limits.maxQuestionBytes if that is meant`;
}

/** The error for a handler that returned an invalid value. */
export function mistake(handler: string, problem: string): TypeError {
  return new TypeError(`${handler} returned an answer that cannot be sent: ${problem}`);
}
