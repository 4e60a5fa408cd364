// Sampling: questions to the model of the client's user.
import { blocksOf, isBlock, messagesProblem, type SamplingContent } from "../../protocol/asking.ts";
import { isRole } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { OnSample, SampleAnswer, SampleOption, SampleQuestion } from "../settings/handlers.ts";
import { mistake, type QuestionReading, refused } from "./question.ts";

/** The handler of sampling requests, and the features that it supports. */
export interface SampleHandler {
  readonly answer: OnSample;
  readonly tools?: boolean | undefined;
  readonly context?: boolean | undefined;
}

export function sampleHandler(option: SampleOption | undefined): SampleHandler | undefined {
  return typeof option === "function" ? { answer: option } : option;
}

/** The capability that the client declares. Revisions without tools have no members for it. */
export function sampleCapability(handler: SampleHandler, revision: Revision): JsonObject {
  if (!hasTools(revision)) return {};
  return { ...(handler.tools && { tools: {} }), ...(handler.context && { context: {} }) };
}

export function readSampling(
  params: JsonObject,
  handler: SampleHandler,
  revision: Revision,
): QuestionReading {
  const { tools, toolChoice, maxTokens } = params;
  const usesTools = tools !== undefined || toolChoice !== undefined;
  if (usesTools && !(handler.tools && hasTools(revision)))
    return refused("The client did not declare sampling.tools: leave out tools and toolChoice");
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isObject)))
    return refused("tools must be a list of tools");
  if (typeof maxTokens !== "number") return refused("maxTokens must be a number");
  const problem = messagesProblem(params["messages"]);
  if (problem !== undefined) return refused(problem);
  // The protocol lets a client ignore a request for context.
  const seen = handler.context ? params : { ...params, includeContext: undefined };
  const question = seen as unknown as SampleQuestion;
  return {
    ok: true,
    ask: async (context) => encodeAnswer(await handler.answer(question, context), question, revision),
  };
}

function hasTools(revision: Revision): boolean {
  return revision.fields.sampling.has("tools");
}

function encodeAnswer(answer: SampleAnswer, question: SampleQuestion, revision: Revision): JsonObject {
  if (!isObject(answer)) throw mistake("onSample", "it must be an object");
  const { role, content, model, stopReason } = answer;
  if (!isRole(role)) throw mistake("onSample", 'role must be "assistant" or "user"');
  if (typeof model !== "string") throw mistake("onSample", "model must be the name of the model");
  const blocks = blocksOf(content);
  if (blocks.length === 0 || !blocks.every(isBlock))
    throw mistake("onSample", "content must be a content block or a list of them");
  const problem = toolProblem(blocks, question) ?? blockProblem(blocks, revision);
  if (problem !== undefined) throw mistake("onSample", problem);
  const carried = revision.samplingBlocks === "one" ? blocks[0] : content;
  return { role, content: carried, model, ...(stopReason !== undefined && { stopReason }) };
}

/** Why the answer breaks `toolChoice`, or uses a tool that the server did not offer. */
function toolProblem(blocks: readonly SamplingContent[], question: SampleQuestion): string | undefined {
  const uses = blocks.flatMap((block) => (block.type === "tool_use" ? [block.name] : []));
  const mode = question.toolChoice?.mode ?? "auto";
  if (mode === "required" && uses.length === 0) return "toolChoice requires a tool_use";
  if (mode === "none" && uses.length > 0) return "toolChoice allows no tool_use";
  const offered = new Set(question.tools?.map(({ name }) => name));
  const unknown = uses.find((name) => !offered.has(name));
  return unknown === undefined ? undefined : `the server did not offer the tool ${unknown}`;
}

function blockProblem(blocks: readonly SamplingContent[], revision: Revision): string | undefined {
  if (revision.samplingBlocks === "one" && blocks.length > 1)
    return `protocol revision ${revision.date} allows one content block`;
  const strange = blocks.find(({ type }) => type !== "tool_use" && !revision.content.has(type));
  return strange && `protocol revision ${revision.date} has no ${strange.type} content`;
}
