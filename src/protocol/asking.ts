// What a server may ask of a client, and what comes back, whatever revision the peer speaks.
import type { JsonObject } from "../wire/message.ts";
import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./model.ts";

/** The model wants a tool of the sampling request to be used. */
export interface ToolUseContent {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: JsonObject;
}

/** What came of a {@link ToolUseContent}. */
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

/** One message to, or from, the client's model. */
export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly content: SamplingContent | readonly SamplingContent[];
}

/** A tool that the client's model may use while it answers. */
export interface SamplingTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

/** Which model the client should choose: each from 0 (unimportant) to 1. */
export interface ModelPreferences {
  /** Names, or parts of names, of models, best first. */
  readonly hints?: readonly { readonly name?: string }[];
  readonly costPriority?: number;
  readonly speedPriority?: number;
  readonly intelligencePriority?: number;
}

/** What the client's model answered. */
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

/** What the user did with a question, and the answer if there is one: `action` tells which. */
export type Elicited<Content> =
  | { readonly action: "accept"; readonly content: Content }
  | { readonly action: "decline"; readonly content?: undefined }
  | { readonly action: "cancel"; readonly content?: undefined };

/** A question in the words of the protocol, as `inputRequired({ … })` takes it. */
export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: JsonObject;
}
