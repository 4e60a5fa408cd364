// Answers the server's questions with the handlers of the client's user: the same for requests of a legacy server, rounds and tasks.
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { JsonObject, RpcError } from "../../wire/message.ts";

/** A question of the server. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
}

/** Its answer: the result, or the error that a legacy server receives and a modern call rejects with. */
export type Answered =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

/** Answers questions. */
export interface Answers {
  /** The capabilities that the handlers declare, on that revision. */
  capabilities(revision: Revision): ClientCapabilities;
  answer(question: Question, revision: Revision, signal: AbortSignal): Promise<Answered>;
  /** Whether a handler is at work: limits of silence do not run out meanwhile. */
  readonly isBusy: boolean;
}
