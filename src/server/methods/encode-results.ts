// Checks results, from handlers and middleware alike, and encodes them for the client's revision.
import { encodeCallToolResult, encodeContents, encodePromptResult } from "../../protocol/codec.ts";
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "../../protocol/model.ts";
import type { Call } from "../calls/call.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { cannotSend, subjectOf } from "../calls/failure.ts";
import { type ResultKind, resultProblem } from "../results/result-checks.ts";

export function encodeToolResult(
  result: CallToolResult,
  call: Call,
  tools: Catalogue["tools"],
): Record<string, unknown> {
  assertSendable("Tool", result, call);
  const isObjectOutput = result.structuredContent === undefined || promisesObject(call, tools);
  return encodeCallToolResult(result, call.protocol, isObjectOutput);
}

/** Whether the structured content is always an object, as it is without an output schema. */
function promisesObject(call: Call, tools: Catalogue["tools"]): boolean {
  const { output } = tools.find(call.params["name"] as string) ?? {};
  return output === undefined || output.json["type"] === "object";
}

export function encodePrompt(result: GetPromptResult, call: Call): Record<string, unknown> {
  assertSendable("Prompt", result, call);
  return encodePromptResult(result, call.protocol);
}

export function encodeRead(result: ReadResourceResult, call: Call): Record<string, unknown> {
  assertSendable("Resource", result, call);
  const contents = result.contents.map((each) => encodeContents(each, call.protocol));
  return { ...result, contents };
}

function assertSendable(kind: ResultKind, result: object, call: Call): void {
  const problem = resultProblem(kind, result);
  if (problem !== undefined) throw unsendable(kind, problem, call);
}

function unsendable(kind: ResultKind, problem: string, call: Call): Error {
  return cannotSend(`${kind} ${subjectOf(call)} returned an invalid result`, problem, call);
}

/** Runs `convert` on a returned value. If it throws, the error names the tool, prompt or resource. */
export function converted<Result>(kind: ResultKind, call: Call, convert: () => Result): Result {
  try {
    return convert();
  } catch (error) {
    throw unsendable(kind, error instanceof Error ? error.message : String(error), call);
  }
}
