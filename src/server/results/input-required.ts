// The explicit form of asking: a handler returns its questions, and runs again with the answers.
import { InputPending } from "../../errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";

/** What {@link inputRequired} takes: at least one of the two. */
export interface InputRequiredParts {
  /** The questions, by keys of the author's choice. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  /** Anything that JSON can write: `ctx.requestState()` has it again on the next run. The client cannot read or change it. */
  readonly requestState?: unknown;
}

/**
 * Returned by a handler that has to ask before it can answer; made by {@link inputRequired}.
 *
 * @example
 * ```ts
 * import { InputRequired, inputRequired } from "halyard";
 *
 * const later: InputRequired = inputRequired({ requestState: { try: 2 } });
 * ```
 */
export class InputRequired {
  readonly inputRequests: { readonly [key: string]: InputRequest };
  readonly requestState: unknown;

  constructor({ inputRequests = {}, requestState }: InputRequiredParts) {
    if (Object.keys(inputRequests).length === 0 && requestState === undefined) {
      throw new TypeError("inputRequired() needs inputRequests, or a requestState to come back with");
    }
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/** Ends the run of a handler that has returned its questions, as {@link InputPending} ends one that awaits an answer. */
export class InputRound extends InputPending {
  readonly required: InputRequired;

  constructor(required: InputRequired) {
    super();
    this.required = required;
  }
}

/** What a handler returned, unless it returned questions. */
export function orAsk(returned: unknown): unknown {
  if (returned instanceof InputRequired) throw new InputRound(returned);
  return returned;
}

/**
 * Ends a call with questions, for a handler that keeps its own state between the rounds: what `ctx.elicit` and its like do
 * by themselves. The handler runs again with `ctx.inputResponses` and `ctx.requestState()`, for clients of every revision.
 *
 * @example
 * ```ts
 * import { inputRequired, McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("roots", {}, (_, ctx) => {
 *   const answer = ctx.inputResponses?.["where"];
 *   if (answer !== undefined) return JSON.stringify(answer["roots"]);
 *   return inputRequired({ inputRequests: { where: { method: "roots/list" } }, requestState: { step: 1 } });
 * });
 * ```
 */
export function inputRequired(parts: InputRequiredParts): InputRequired {
  return new InputRequired(parts);
}
