// The explicit form of asking: a handler returns the questions, and runs again with the answers.
import { InputPending } from "../../errors.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ClientCapabilities } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import { elicitationMethod, elicitationNeeds } from "./elicitation.ts";
import { formFor } from "./form.ts";
import type { Question } from "./question.ts";
import { rootsMethod } from "./roots.ts";
import { samplingMethod, samplingNeeds, samplingParams } from "./sampling.ts";

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

const needs: Readonly<Record<string, (params: JsonObject) => ClientCapabilities>> = {
  [elicitationMethod]: ({ mode }) => elicitationNeeds[mode === "url" ? "url" : "form"],
  [samplingMethod]: samplingNeeds,
  [rootsMethod]: () => ({ roots: {} }),
};

/** The question that an author's own request is. Its answer is the author's to read. */
export function plainQuestion(request: InputRequest, revision: Revision): Question<JsonObject> {
  const { method, params = {} } = request;
  const requires = Object.hasOwn(needs, method) ? needs[method] : undefined;
  if (requires === undefined) throw new TypeError(`A client cannot be asked ${method}`);
  return {
    method,
    params: paramsFor(request, revision),
    requires: requires(params),
    timeoutMs: 10 * 60_000,
    read: (result) => ({ ok: true, value: result }),
  };
}

/** The author writes the newest form; what this revision does not know of it is left out. */
function paramsFor({ method, params }: InputRequest, revision: Revision): JsonObject | undefined {
  if (method === samplingMethod) return samplingParams(params ?? {}, revision);
  return method === elicitationMethod ? elicitationParams(params ?? {}, revision) : params;
}

function elicitationParams(params: JsonObject, revision: Revision): JsonObject {
  const { message, requestedSchema, mode = "form", url } = params;
  if (typeof message !== "string") throw new TypeError(`${elicitationMethod}: message must be a string`);
  if (mode === "url") {
    if (!URL.canParse(String(url))) throw new TypeError(`${elicitationMethod}: url must be a URL`);
    const { elicitationId = crypto.randomUUID() } = params;
    return encodeShape({ ...params, elicitationId }, "elicitation", revision);
  }
  if (!isObject(requestedSchema)) throw new TypeError(`${elicitationMethod}: requestedSchema is missing`);
  const form = formFor(requestedSchema, revision);
  return encodeShape({ mode, message, requestedSchema: form }, "elicitation", revision);
}
