// Sampling: a question to the client's model.
import type {
  ModelPreferences,
  Sampled,
  SamplingContent,
  SamplingMessage,
  SamplingTool,
} from "../../protocol/asking.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { AskOptions, Question, Reading } from "./question.ts";

/** How the client's model is asked. */
export interface SampleOptions extends AskOptions {
  /** How many tokens the answer may have at most. @default {1024} */
  readonly maxTokens?: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: ModelPreferences;
  /** Passed on to the provider of the model. */
  readonly metadata?: JsonObject;
  /** Tools that the model may use, for clients that declare `sampling.tools`. */
  readonly tools?: readonly SamplingTool[];
  readonly toolChoice?: { readonly mode: "auto" | "required" | "none" };
}

export const samplingMethod = "sampling/createMessage";

/** A model may think for a while, and a person may have to allow it first. */
const timeoutMs = 5 * 60_000;

export function samplingQuestion(
  asked: string | readonly SamplingMessage[],
  options: SampleOptions,
  revision: Revision,
): Question<Sampled> {
  const messages: readonly SamplingMessage[] =
    typeof asked === "string" ? [{ role: "user", content: { type: "text", text: asked } }] : asked;
  const problem = messagesProblem(messages);
  if (problem !== undefined) throw new TypeError(`${samplingMethod}: ${problem}`);
  const { maxTokens = 1024 } = options;
  const written = revision.samplingBlocks === "many" ? messages : oneBlockEach(messages);
  const needsTools = options.tools !== undefined || options.toolChoice !== undefined;
  return {
    method: samplingMethod,
    params: encodeShape({ ...options, messages: written, maxTokens }, "sampling", revision),
    requires: { sampling: needsTools ? { tools: {} } : {} },
    timeoutMs,
    read: readSampled,
  };
}

/** A message with several blocks, as several messages of the same role. */
function oneBlockEach(messages: readonly SamplingMessage[]): readonly SamplingMessage[] {
  return messages.flatMap(({ role, content }) =>
    blocksOf(content).map((block) => ({ role, content: block })),
  );
}

function blocksOf(content: SamplingMessage["content"]): readonly SamplingContent[] {
  return Array.isArray(content) ? content : [content as SamplingContent];
}

/** Tool results stand alone, right after the message that asked for them, one for each. */
function messagesProblem(messages: readonly SamplingMessage[]): string | undefined {
  let awaited: readonly string[] = [];
  for (const { role, content } of messages) {
    if (role !== "user" && role !== "assistant") return "the role of a message must be user or assistant";
    const blocks = blocksOf(content);
    if (!blocks.every(isBlock)) return "the content of a message must be blocks";
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length > 0 && results.length < blocks.length)
      return "a message with tool results must have nothing else";
    const given = results.map((block) => block.toolUseId);
    if (!sameMembers(awaited, given))
      return "every tool_use must be followed by a message with its tool_result";
    awaited = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
  }
  return awaited.length > 0 ? "every tool_use must be followed by a message with its tool_result" : undefined;
}

function sameMembers(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((member) => other.includes(member));
}

function readSampled(result: JsonObject): Reading<Sampled> {
  const { role, content, model, stopReason } = result;
  const blocks = [content].flat();
  if (role !== "user" && role !== "assistant")
    return { ok: false, problem: "role must be user or assistant" };
  if (!blocks.every(isBlock)) return { ok: false, problem: "content must be blocks" };
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  const reason = typeof stopReason === "string" ? { stopReason } : {};
  return {
    ok: true,
    value: { role, content: blocks, text, model: typeof model === "string" ? model : "", ...reason },
  };
}

function isBlock(block: unknown): block is SamplingContent {
  if (!isObject(block) || typeof block["type"] !== "string") return false;
  // What is no text may not even have a way to become one.
  return block["type"] !== "text" || typeof block["text"] === "string";
}
