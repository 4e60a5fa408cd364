// What a call may get while it runs: a conversation with its client, an early answer, a task to go on as.
import type { JsonObject, RpcResponse } from "../../wire/message.ts";
import type { Questions } from "../context/context.ts";

/** What a handler and its client say to each other during one call. */
export interface Conversation extends Questions {
  /** Whether open questions have ended the call, so that nothing that the handler still does matters. */
  readonly hasEndedCall: boolean;
  /** Resolves when nothing that `ctx.once` does is under way. */
  idle(): Promise<void>;
}

/** A complete result, sent as it is: questions to the client, or a task that has been created. */
export class Reply {
  readonly result: JsonObject;

  constructor(result: JsonObject) {
    this.result = result;
  }
}

/** The answer of a call whose handler has not ended. */
export interface PendingAnswer {
  readonly isAnswered: boolean;
  /** See {@link Call.answerNow}. */
  answerNow(reply: Reply | Promise<Reply>, later: ((response: RpcResponse) => void) | undefined): void;
}

/** A call that goes on as a task says there what it has to say. */
export interface OwnTask {
  readonly id: string;
  /** How far the work is, for people. */
  report(status: string): void;
  /** Sends a notification about the task. */
  send(method: string, params: object): void;
}
