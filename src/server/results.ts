// What handlers return, and how it becomes a result: content helpers and conversions.
import { toBase64 } from "../protocol/base64.ts";
import type {
  AudioContent,
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ImageContent,
  ResourceContents,
  TextContent,
} from "../protocol/model.ts";
import { isObject, type JsonObject } from "../wire/message.ts";

/**
 * A tool result in full; made by {@link result}.
 *
 * @example
 * ```ts
 * import { result, ToolResult } from "halyard";
 *
 * const failed: ToolResult<undefined> = result({ content: "No such city", isError: true });
 * ```
 */
export class ToolResult<Structured> {
  readonly content: readonly ContentBlock[] | undefined;
  readonly structured: Structured | undefined;
  readonly isError: boolean;
  readonly meta: JsonObject | undefined;

  constructor(parts: ToolResultParts<Structured>) {
    const { content } = parts;
    this.content = typeof content === "string" ? [text(content)] : content;
    this.structured = parts.structured;
    this.isError = parts.isError ?? false;
    this.meta = parts.meta;
  }
}

/** What {@link result} takes. */
export interface ToolResultParts<Structured> {
  /** @default {the structured value as text} */
  readonly content?: string | readonly ContentBlock[];
  readonly structured?: Structured;
  /** The call failed, and the content says why to the model. */
  readonly isError?: boolean;
  /** The `_meta` of the result. */
  readonly meta?: JsonObject;
}

/**
 * A tool result in full, for when a plain value does not say enough.
 *
 * @example
 * ```ts
 * import { McpServer, result } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("report", {}, () => result({ content: "3 rows", structured: { rows: 3 } }));
 * ```
 */
export function result<Structured = undefined>(parts: ToolResultParts<Structured>): ToolResult<Structured> {
  return new ToolResult(parts);
}

/**
 * A block of text.
 *
 * @example
 * ```ts
 * import { text } from "halyard";
 *
 * const block = text("Hello");
 * ```
 */
export function text(value: string): TextContent {
  return { type: "text", text: value };
}

/**
 * An image, from bytes or from base64.
 *
 * @example
 * ```ts
 * import { image } from "halyard";
 *
 * const block = image(new Uint8Array([0x89, 0x50]), "image/png");
 * ```
 */
export function image(data: Uint8Array | string, mimeType: string): ImageContent {
  return { type: "image", data: encoded(data), mimeType };
}

/**
 * A sound, from bytes or from base64. Clients of 2024-11-05 get a line of text instead.
 *
 * @example
 * ```ts
 * import { audio } from "halyard";
 *
 * const block = audio(new Uint8Array([0x52, 0x49]), "audio/wav");
 * ```
 */
export function audio(data: Uint8Array | string, mimeType: string): AudioContent {
  return { type: "audio", data: encoded(data), mimeType };
}

function encoded(data: Uint8Array | string): string {
  return typeof data === "string" ? data : toBase64(data);
}

/** The result of a tool without an output schema. */
export function toToolResult(returned: unknown): CallToolResult {
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  if (returned === undefined) return { content: [] };
  if (returned instanceof ToolResult) return toCallToolResult(returned);
  const blocks = Array.isArray(returned) ? returned : [returned];
  if (blocks.every(isBlock)) return { content: blocks };
  throw new TypeError(
    "A tool without an output schema must return a string, content blocks or result({ … })",
  );
}

/** The result of a tool with an output schema, once its value has been checked. */
export function toStructuredResult(
  structured: unknown,
  given: ToolResult<unknown> | undefined,
): CallToolResult {
  return toCallToolResult(given ?? new ToolResult({}), structured);
}

function toCallToolResult(
  given: ToolResult<unknown>,
  structured: unknown = given.structured,
): CallToolResult {
  const content = given.content ?? (structured === undefined ? [] : [text(JSON.stringify(structured))]);
  return { content, structuredContent: structured, isError: given.isError, _meta: given.meta };
}

/** The failure of a tool, told to the model. */
export function toErrorResult(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

export function toPromptResult(returned: unknown, description: string | undefined): GetPromptResult {
  const base = description === undefined ? {} : { description };
  if (typeof returned === "string") return { ...base, messages: [{ role: "user", content: text(returned) }] };
  if (Array.isArray(returned)) return { ...base, messages: returned };
  if (isBlock(returned)) return { ...base, messages: [{ role: "user", content: returned }] };
  if (isObject(returned) && Array.isArray(returned["messages"]))
    return { ...base, ...(returned as object) } as GetPromptResult;
  throw new TypeError("A prompt must return a string, content, messages or { messages }");
}

export function toContents(
  returned: unknown,
  uri: string,
  mimeType: string | undefined,
): readonly ResourceContents[] {
  const base = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof returned === "string") return [{ ...base, text: returned }];
  if (returned instanceof Uint8Array) return [{ ...base, blob: toBase64(returned) }];
  const contents = Array.isArray(returned) ? returned : [returned];
  if (contents.length > 0 && contents.every(isContents)) return contents;
  throw new TypeError("A resource must return a string, bytes, or contents with a uri and a text or a blob");
}

function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && typeof value["type"] === "string";
}

function isContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || typeof value["uri"] !== "string") return false;
  return (typeof value["text"] === "string") !== (typeof value["blob"] === "string");
}
