// What a result must be to be sent, field by field: a handler, or middleware, may have returned anything.
import { nearest } from "../options.ts";
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
  ResourceContents,
} from "../protocol/model.ts";
import { isObject, type JsonObject } from "../wire/message.ts";

/** The fields that a block of each type cannot do without. */
const required: Readonly<Record<ContentBlock["type"], readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
  resource: ["resource"],
};

/** What the fields of blocks and contents are, wherever they stand. */
const kinds: ReadonlyMap<string, string> = new Map(
  Object.entries({
    text: "string",
    data: "string",
    blob: "string",
    mimeType: "string",
    uri: "string",
    name: "string",
    title: "string",
    description: "string",
    size: "number",
    resource: "object",
    annotations: "object",
    _meta: "object",
  }),
);

type Fields<T> = { readonly [Name in keyof Required<T>]: true };

const toolFields: Fields<CallToolResult> = {
  content: true,
  structuredContent: true,
  isError: true,
  _meta: true,
};
const promptFields: Fields<GetPromptResult> = { description: true, messages: true, _meta: true };
const readFields: Fields<ReadResourceResult> = { contents: true, _meta: true };

/** The field of a protocol result that the protocol does not have, if there is one; what follows would be lost in silence. */
function strangeField(result: JsonObject, fields: object): string | undefined {
  const strange = Object.keys(result).find((name) => !Object.hasOwn(fields, name));
  return strange && `${strange} is not a field of the result: ${nearest(strange, fields)}`;
}

export const unknownField: Readonly<
  Record<"tool" | "prompt" | "resource", (result: JsonObject) => string | undefined>
> = {
  tool: (result) => strangeField(result, toolFields),
  prompt: (result) => strangeField(result, promptFields),
  resource: (result) => strangeField(result, readFields),
};

/** What is wrong with a tool result, if anything is. */
export function toolResultProblem({ content, isError, _meta }: JsonObject): string | undefined {
  if (!Array.isArray(content)) return mustBe("content", "a list of content blocks", content);
  if (isError !== undefined && typeof isError !== "boolean")
    return mustBe("isError", "true or false", isError);
  return metaProblem(_meta) ?? firstProblem(content, "content", blockProblem);
}

/** What is wrong with a prompt, if anything is. */
export function promptResultProblem({ messages, description, _meta }: JsonObject): string | undefined {
  if (!Array.isArray(messages)) return mustBe("messages", "a list", messages);
  if (description !== undefined && typeof description !== "string")
    return mustBe("description", "a string", description);
  return metaProblem(_meta) ?? firstProblem(messages, "messages", messageProblem);
}

/** What is wrong with what was read, if anything is. */
export function readResultProblem({ contents, _meta }: JsonObject): string | undefined {
  if (!Array.isArray(contents)) return mustBe("contents", "a list", contents);
  return metaProblem(_meta) ?? firstProblem(contents, "contents", contentsProblem);
}

function firstProblem(
  list: readonly unknown[],
  name: string,
  problemOf: (item: unknown, at: string) => string | undefined,
): string | undefined {
  for (const [index, item] of list.entries()) {
    const problem = problemOf(item, `${name}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function messageProblem(message: unknown, at: string): string | undefined {
  if (!isObject(message)) return mustBe(at, "a message with role and content", message);
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") return mustBe(`${at}.role`, '"user" or "assistant"', role);
  return blockProblem(content, `${at}.content`);
}

function blockProblem(block: unknown, at: string): string | undefined {
  if (!isObject(block)) return mustBe(at, "a content block", block);
  const { type } = block;
  if (!isBlockType(type)) return mustBe(`${at}.type`, Object.keys(required).join(", "), type);
  const missing = required[type].find((field) => block[field] === undefined);
  if (missing !== undefined) return `${at}.${missing} is missing`;
  return (
    fieldsProblem(block, at) ??
    (type === "resource" ? contentsProblem(block["resource"], `${at}.resource`) : undefined)
  );
}

function contentsProblem(contents: unknown, at: string): string | undefined {
  if (!isObject(contents)) return mustBe(at, "an object with a uri and a text or a blob", contents);
  if (contents["uri"] === undefined) return `${at}.uri is missing`;
  const { text, blob } = contents as Partial<Record<"text" | "blob", unknown>>;
  if ((text === undefined) === (blob === undefined)) return `${at} must have either a text or a blob`;
  return fieldsProblem(contents, at);
}

function fieldsProblem(holder: JsonObject, at: string): string | undefined {
  for (const name of Object.keys(holder)) {
    const kind = kinds.get(name);
    const value = holder[name];
    if (kind === undefined || value === undefined) continue;
    if (kind === "object" ? !isObject(value) : typeof value !== kind)
      return mustBe(`${at}.${name}`, `of type ${kind}`, value);
  }
  return undefined;
}

function metaProblem(meta: unknown): string | undefined {
  return meta === undefined || isObject(meta) ? undefined : mustBe("_meta", "an object", meta);
}

function isBlockType(type: unknown): type is ContentBlock["type"] {
  return typeof type === "string" && Object.hasOwn(required, type);
}

/** Whether a handler meant it as a block, or as contents; what is wrong with it is said when it is sent. */
export function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && typeof value["type"] === "string";
}

export function isContents(value: unknown): value is ResourceContents {
  return isObject(value) && "uri" in value;
}

/** Values stay out of it: the log is read by more people than may see them. */
function mustBe(at: string, what: string, value: unknown): string {
  return `${at} must be ${what}, not ${kindOf(value)}`;
}

/** What a value is, in a word. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (!isObject(value)) return `a ${typeof value}`;
  const names = Object.keys(value).slice(0, 8);
  return names.length === 0 ? "an empty object" : `an object with ${names.join(", ")}`;
}
