// The seams: how `methods/`, `asking/` and `tasks/` join what answers calls, which imports none of them.
import type { UrlElicitationRequired } from "../../errors.ts";
import type { RpcError } from "../../wire/message.ts";
import type { CompiledTool } from "../catalogue/tools.ts";
import type { Call } from "./call.ts";
import type { Conversation } from "./call-parts.ts";

/** What it takes to answer one method of the protocol. */
export interface MethodHandler {
  /** The result in the neutral model, as middleware sees it. */
  run(call: Call): unknown;
  /** The result as the peer's revision can carry it, in an object of its own; without it, as it is. */
  encode?(result: never, call: Call): Record<string, unknown>;
  /** The result that a failure comes to once middleware has let it pass; undefined when it is an error of the protocol. */
  recover?(error: unknown, call: Call): unknown;
}

/** How calls ask their clients. */
export interface Asking {
  /** Makes the conversation of a call, at its first question. */
  converse(call: Call): Conversation;
  /** Takes up the earlier round that a retry brings. Rejects when it cannot be used. */
  resume(call: Call): Promise<void>;
  /**
   * What comes of an error that a handler has thrown, if it stands for questions. They are the answer, by
   * {@link Call.answerNow}; or the client has been asked, and `again` has run the handler once more: the promise is of its
   * result. Undefined for any other error.
   */
  settle(error: unknown, call: Call, again: () => unknown): "answered" | Promise<unknown> | undefined;
  /** The error for a client that has to send its user to a page before the request can be answered. */
  urlRequired(error: UrlElicitationRequired, call: Call): RpcError;
}

/** How calls of tools become tasks. */
export interface Tasks {
  /**
   * Makes a task of a call, where its tool and its client want one: resolves when the client has its reply and the handler may
   * run. Undefined when the client waits for the result, or when the handler decides (see {@link Call.mayStartTask}).
   */
  begin(tool: CompiledTool, call: Call): Promise<void> | undefined;
}
