// The questions that a server may ask a client and the answers, the same for every revision, and the rules for messages of sampling.
import { isObject, type JsonObject } from "../base/wire/message.ts";
import {
  type AudioContent,
  type ContentBlock,
  type ImageContent,
  isRole,
  type TextContent,
} from "./model.ts";

/** A call by the model of a tool from the sampling request. */
export interface ToolUseContent {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: JsonObject;
}

/** The result of a {@link ToolUseContent}. */
export interface ToolResultContent {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** One piece of a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message to or from the client's model. */
export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly content: SamplingContent | readonly SamplingContent[];
}

/** A tool that the client's model may call. */
export interface SamplingTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

/** Which model the client should choose. Each priority is a number from 0 (unimportant) to 1. */
export interface ModelPreferences {
  /** Names of models, or parts of names, best first. */
  readonly hints?: readonly { readonly name?: string }[];
  readonly costPriority?: number;
  readonly speedPriority?: number;
  readonly intelligencePriority?: number;
}

/** The response of the client's model. */
export interface Sampled {
  readonly role: "user" | "assistant";
  readonly content: readonly SamplingContent[];
  /** The text of the content, joined. */
  readonly text: string;
  readonly model: string;
  readonly stopReason?: string;
}

/** A folder or file that the client lets the server work on. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
  readonly _meta?: JsonObject;
}

/** What the user did with a question; `content` is the answer if `action` is `accept`. */
export type Elicited<Content> =
  | { readonly action: "accept"; readonly content: Content }
  | { readonly action: "decline"; readonly content?: undefined }
  | { readonly action: "cancel"; readonly content?: undefined };

/** A question as the protocol writes it, for `inputRequired({ … })`. */
export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: JsonObject;
}

/** How a question is asked. */
export interface AskOptions {
  /**
   * Names the question among those of the call, for a modern client's retry to find its answer.
   * @default {made of the question itself, and of how often it was asked before}
   */
  readonly key?: string | undefined;
  /** How long to wait for an answer; a progress report of the client restarts it. Modern clients retry when they like. */
  readonly timeoutMs?: number | undefined;
}

/** How the user is sent to a page. */
export interface UrlAskOptions extends AskOptions {
  /** Names it in `server.push.elicitationComplete(id)`. @default {a random one} */
  readonly elicitationId?: string | undefined;
}

/** How the client's model is asked. */
export interface SampleOptions extends AskOptions {
  /** How many tokens the answer may have at most. @default {1024} */
  readonly maxTokens?: number | undefined;
  readonly systemPrompt?: string | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly modelPreferences?: ModelPreferences | undefined;
  /** Passed on to the provider of the model. */
  readonly metadata?: JsonObject | undefined;
  /** Tools that the model may use, for clients that declare `sampling.tools`. */
  readonly tools?: readonly SamplingTool[] | undefined;
  readonly toolChoice?: { readonly mode: "auto" | "required" | "none" } | undefined;
}

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
