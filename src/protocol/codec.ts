// Converts the neutral model to what one revision can carry: drops newer fields and replaces newer content with text.
import { isObject } from "../base/wire/message.ts";
import type { CallToolResult, ContentBlock, GetPromptResult } from "./model.ts";
import type { Revision, Shape } from "./revision.ts";

/** The fields of `value` that `revision` has for the shape, without undefined ones. */
export function encodeShape(value: object, shape: Shape, revision: Revision): Record<string, unknown> {
  const encoded = pick(value, revision.fields[shape]);
  if (shape !== "tool" && encoded["annotations"] !== undefined) {
    encoded["annotations"] = pick(encoded["annotations"] as object, revision.fields.annotations);
  }
  return encoded;
}

/** The member that holds a structured value that is not an object, in revisions that require an object. */
export const structuredWrapper = "result";

/** The fields of a tool result that `encodeCallToolResult` writes, and `resultType`, which is added later. */
const toolFields: ReadonlySet<string> = new Set([
  "content",
  "structuredContent",
  "isError",
  "_meta",
  "resultType",
]);

/**
 * A tool result as `revision` can carry it. Text replaces content that it cannot carry. `isObjectOutput` says whether the
 * tool's output schema is that of an object; it matters only where structured content must be an object.
 */
export function encodeCallToolResult(
  result: CallToolResult,
  revision: Revision,
  isObjectOutput: boolean,
): Record<string, unknown> {
  const { content, structuredContent, isError, _meta } = result;
  const encoded: Record<string, unknown> = {
    content: revision.degradesContent ? content.map((block) => encodeBlock(block, revision)) : content,
  };
  if (structuredContent !== undefined && revision.structuredContent !== "none") {
    const isCarried = revision.structuredContent === "any" || (isObject(structuredContent) && isObjectOutput);
    encoded["structuredContent"] = isCarried ? structuredContent : { [structuredWrapper]: structuredContent };
  }
  if (isError) encoded["isError"] = true;
  if (_meta !== undefined) encoded["_meta"] = _meta;
  // A result may have further fields. Most have none, and a loop finds that out without a copy.
  for (const name in result) if (!toolFields.has(name)) encoded[name] = (result as never)[name];
  return encoded;
}

export function encodePromptResult(result: GetPromptResult, revision: Revision): Record<string, unknown> {
  const messages = result.messages.map((message) => ({
    role: message.role,
    content: encodeBlock(message.content, revision),
  }));
  return { ...result, messages };
}

/** A block of a prompt or a tool result; text replaces a block that `revision` cannot carry. */
export function encodeBlock(block: ContentBlock, revision: Revision): unknown {
  if (!revision.degradesContent) return block;
  const fields = revision.content.get(block.type);
  if (!fields) return { type: "text", text: describe(block) };
  const encoded = pick(block, fields);
  if (block.annotations) encoded["annotations"] = pick(block.annotations, revision.fields.annotations);
  if (block.type === "resource") encoded["resource"] = encodeShape(block.resource, "contents", revision);
  return encoded;
}

/** The text for a client whose revision has no such block. */
function describe(block: ContentBlock): string {
  if (block.type === "resource_link") {
    return [`${block.title ?? block.name}: ${block.uri}`, block.description].filter(Boolean).join("\n");
  }
  const kind = block.type === "audio" ? `${block.mimeType} audio` : block.type;
  return `[${kind}: the protocol revision of this client does not support it]`;
}

function pick(value: object, fields: ReadonlySet<string>): Record<string, unknown> {
  const members = value as { readonly [field: string]: unknown };
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    if (members[field] !== undefined) picked[field] = members[field];
  }
  return picked;
}
