// The rules for the messages of a sampling request, which servers follow and clients check.
import { isObject } from "../base/wire/message.ts";
import type { SamplingContent, SamplingMessage } from "./asking.ts";
import { isRole } from "./model.ts";

export function blocksOf(content: SamplingMessage["content"]): readonly SamplingContent[] {
  return Array.isArray(content) ? content : [content as SamplingContent];
}

export function isBlock(block: unknown): block is SamplingContent {
  if (!isObject(block) || typeof block["type"] !== "string") return false;
  // Check the text: a value that is not a string may not even convert to one.
  return block["type"] !== "text" || typeof block["text"] === "string";
}

/** What is wrong with the messages. Tool results need their own message, right after the one with the tool uses, with one result for each. */
export function messagesProblem(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return "messages must be an array";
  let awaited: readonly string[] = [];
  for (const message of messages as readonly SamplingMessage[]) {
    if (!isObject(message)) return "a message must be an object";
    const blocks = blocksOf(message.content);
    const problem = messageProblem(message, blocks);
    if (problem) return problem;
    const given = blocks.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : []));
    if (!sameMembers(awaited, given)) return unanswered;
    awaited = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  }
  return awaited.length > 0 ? unanswered : undefined;
}

const unanswered = "every tool_use must be followed by a message with its tool_result";

/** What is wrong with a single message. */
function messageProblem(message: SamplingMessage, blocks: readonly SamplingContent[]): string | undefined {
  const { role } = message;
  if (!isRole(role)) return "the role of a message must be user or assistant";
  if (blocks.length === 0 || !blocks.every(isBlock)) return "the content of a message must be content blocks";
  const results = blocks.filter(({ type }) => type === "tool_result").length;
  if (results > 0 && results < blocks.length)
    return "a message with tool_result blocks must have no other content";
  if (results > 0 && role !== "user") return "a tool_result needs the role user";
  const isAsking = blocks.some(({ type }) => type === "tool_use");
  return isAsking && role !== "assistant" ? "a tool_use needs the role assistant" : undefined;
}

function sameMembers(one: readonly string[], other: readonly string[]): boolean {
  const found = new Set(other);
  return one.length === other.length && one.every((member) => found.has(member));
}
