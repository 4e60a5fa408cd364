// Converts a response to its result, or to the error that the request rejects with.
import { clip, errorCodes } from "../../base/errors.ts";
import { extensionIds } from "../../protocol/meta.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject, type RpcResponse } from "../../base/wire/message.ts";
import type { QuestionAnswers } from "../answering/question.ts";
import { InvalidResponse, RpcRejection } from "../settings/errors.ts";
import type { SentCall } from "./call.ts";
import type { CallToolResult } from "../settings/received.ts";

/** The advice of errors for tools that need tasks which the client does not declare. */
export const passTasks = "pass tasks: true to connect";

/** Whether this client declares the tasks extension. */
export function declaresTasks(answers: QuestionAnswers, revision: Revision): boolean {
  return answers.capabilities(revision).extensions?.[extensionIds.tasks] !== undefined;
}

/** The result of a response. Throws RpcRejection for an error, and InvalidResponse for a response that has neither. */
export function resultOf(
  call: SentCall,
  response: RpcResponse,
  revision: Revision,
  answers: QuestionAnswers,
): JsonObject {
  const { result, error } = response as { readonly result?: unknown; readonly error?: unknown };
  if (result === undefined) throw rejectionOf(call, error);
  if (!isObject(result)) throw invalid(call, "result is not an object");
  if (error !== undefined) throw invalid(call, "response has both a result and an error");
  if (revision.era === "modern" && !call.options.verbatim)
    checkType(call, result["resultType"], revision, answers);
  return result;
}

function checkType(call: SentCall, type: unknown, revision: Revision, answers: QuestionAnswers): void {
  if (type === undefined || type === "complete" || type === "input_required") return;
  if (type === "task" && call.method === "tools/call") {
    if (declaresTasks(answers, revision)) return;
    throw invalid(call, `result is a task, although this client did not declare tasks: ${passTasks}`);
  }
  throw invalid(call, `result has the resultType ${clip(JSON.stringify(type))}, which it cannot have`);
}

function rejectionOf(call: SentCall, error: unknown): Error {
  if (!isObject(error) || !Number.isSafeInteger(error["code"])) return invalid(call, "error has no code");
  const { code, message, data } = error as { code: number; message?: unknown; data?: unknown };
  return new RpcRejection({ code, message: typeof message === "string" ? message : `Error ${code}`, data });
}

function invalid(call: SentCall, problem: string): InvalidResponse {
  return new InvalidResponse(`${call.what}: the server's ${problem}`);
}

/** Whether the server rejected a request until the user has visited pages. */
export function isUrlRequired(error: unknown, revision: Revision): error is RpcRejection {
  const isCode = error instanceof RpcRejection && error.code === errorCodes.legacyUrlElicitationRequired;
  return isCode && revision.urlRequired === "error";
}

/** A result that asks for input, which a call with `inputRequired: "return"` may resolve with. */
export interface InputRequiredResult {
  readonly resultType: "input_required";
  /** The questions by key: answer each in `inputResponses`, under the same key. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  /** Send it back as it is. */
  readonly requestState?: string;
}

/**
 * Whether a result asks for input instead of being complete.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, isInputRequired } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("roots", {}, async (_, ctx) => JSON.stringify(await ctx.roots()));
 *
 * const client = await connect(server, { capabilities: { roots: {} } });
 * const result = await client.callTool("roots", {}, { inputRequired: "return" });
 * if (isInputRequired(result)) console.log(result.inputRequests);
 * await client.close();
 * ```
 */
export function isInputRequired(result: object): result is InputRequiredResult {
  return (result as { readonly resultType?: unknown }).resultType === "input_required";
}

/** The result of a tool, with an empty `content` if the server left it out. */
export function toToolResult(name: string, result: JsonObject): CallToolResult {
  const { resultType = "complete", content } = result;
  const whole = resultType === "complete" && content === undefined ? { ...result, content: [] } : result;
  if (resultType === "complete" && !Array.isArray(whole["content"]))
    throw new InvalidResponse(`${name}: the content of the result is not an array`);
  return whole as unknown as CallToolResult;
}
