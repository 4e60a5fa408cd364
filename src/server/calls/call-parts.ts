// The parts that a call may acquire while it runs: a conversation with its client, an early response, a task.
import type { JsonObject, RpcResponse } from "../../base/wire/message.ts";
import type { Questions } from "../context/context.ts";

/** The questions and answers of one call. */
export interface Conversation extends Questions {
  /** Whether open questions are the response of the call, so that the result of the handler is ignored. */
  readonly hasEndedCall: boolean;
  /** Resolves when no `ctx.once` work is running. */
  idle(): Promise<void>;
}

/** A complete result, sent unchanged: questions to the client, or a created task. */
export class Reply {
  readonly result: JsonObject;

  constructor(result: JsonObject) {
    this.result = result;
  }
}

/** The response of a call whose handler is still running. */
export interface PendingAnswer {
  readonly isAnswered: boolean;
  /** See {@link Call.answerNow}. */
  answerNow(
    reply: Reply | (() => Promise<Reply>),
    later: ((response: RpcResponse) => void) | undefined,
  ): void;
}

/** The task of a call, which receives its progress and notifications. */
export interface OwnTask {
  readonly id: string;
  /** Sets the status message, for people. */
  report(status: string): void;
  /** Sends a notification about the task. */
  send(method: string, params: object): void;
}
