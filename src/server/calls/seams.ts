// The seams through which `methods/`, `asking/` and `tasks/` join the core, which imports none of them.
import type { HalyardError, UrlElicitationRequired } from "../../base/errors.ts";
import type { RpcError } from "../../base/wire/message.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import type { Call } from "./call.ts";
import type { Conversation } from "./call-parts.ts";

/** Handles one method of the protocol. */
export interface MethodHandler {
  /** Returns the result in the neutral model, as middleware sees it. */
  run(call: Call): unknown;
  /** Encodes the result for the peer's revision, as a new object. Without `encode`, the result is sent unchanged. */
  encode?(result: never, call: Call): Record<string, unknown>;
  /** Converts an error that middleware did not handle to a result; undefined if it is an error of the protocol. */
  recover?(error: unknown, call: Call): unknown;
}

/** Asks the clients of calls. */
export interface AskingSeam {
  /** Creates the conversation of a call, at its first question. */
  converse(call: Call): Conversation;
  /** Restores the earlier round of a retry. Rejects if its state is invalid. */
  resume(call: Call): Promise<void>;
  /**
   * Handles an error that stands for questions. Either the questions become the response, by {@link Call.answerNow}
   * ("answered"), or the client has been asked and `again` runs the handler once more: then it returns a promise of the
   * result. Returns undefined for any other error.
   */
  settle(error: unknown, call: Call, again: () => unknown): "answered" | Promise<unknown> | undefined;
  /** The user's refusal to open a page that the error demands, if the retry has it. */
  refusalOf(error: unknown, call: Call): HalyardError | undefined;
  /** The error for a client whose user must open a page before the request can succeed. */
  urlRequired(error: UrlElicitationRequired, call: Call): RpcError;
}

/** Turns tool calls into tasks. */
export interface TaskSeam {
  /**
   * Turns a call into a task if its tool and its client want one. Resolves when the client has its response and the handler may
   * run. Returns undefined if the client waits for the result, or if the handler decides (see {@link Call.mayStartTask}).
   */
  begin(tool: CompiledTool, call: Call): Promise<void> | undefined;
}
