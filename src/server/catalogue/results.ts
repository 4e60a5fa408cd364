// The values that handlers return, and how they become results: content helpers, questions and conversions.
import { isThenable } from "../../base/async/promises.ts";
import { InputPending } from "../../base/errors.ts";
import { anything, flag, type Known, plainObject } from "../../base/kinds.ts";
import { checkOptions } from "../../base/options.ts";
import type { InputRequest } from "../../protocol/asking.ts";
import { toBase64 } from "../../base/wire/base64.ts";
import type {
  AudioContent,
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ImageContent,
  ReadResourceResult,
  TextContent,
} from "../../protocol/model.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { isContentBlock, isContents, jsonProblem, kindOf, openFields } from "./result-checks.ts";

/** Identifies results of every copy of this package, which have different classes. */
const mark: unique symbol = Symbol.for("halyard.ToolResult");

/**
 * A full tool result; {@link result} creates it.
 *
 * @example
 * ```ts
 * import { result, ToolResult } from "halyard";
 *
 * const failed: ToolResult<undefined> = result({ content: "No such city", isError: true });
 * ```
 */
export class ToolResult<Structured> {
  // Declared for its type alone: with `content` beside it, the compiler compares a wrong `{ content }` with this class.
  readonly structured: Structured | undefined;
  /** @internal */
  readonly content: readonly ContentBlock[] | undefined;
  /** @internal */
  readonly isError: boolean;
  /** @internal */
  readonly meta: JsonObject | undefined;

  constructor(parts: ToolResultParts<Structured>) {
    checkOptions({ subject: "result()", such: '{ content: "Done" }' }, parts, knownParts);
    const { content } = parts;
    this.content = typeof content === "string" ? [text(content)] : content;
    this.structured = parts.structured;
    this.isError = parts.isError ?? false;
    this.meta = parts.meta;
  }

  /** @internal */
  get [mark](): true {
    return true;
  }
}

/** The arguments of {@link result}. */
export interface ToolResultParts<Structured> {
  /** @default {the structured value as text, also for an empty list} */
  readonly content?: string | readonly ContentBlock[] | undefined;
  /** The value that the output schema describes, sent as `structuredContent`. */
  readonly structured?: Structured | undefined;
  /** Whether the call failed; then the content tells the model why. */
  readonly isError?: boolean | undefined;
  /** The `_meta` of the result. */
  readonly meta?: JsonObject | undefined;
}

const knownParts: Known<ToolResultParts<unknown>> = {
  content: { is: isContent, mustBe: "a text, or a list of content blocks" },
  structured: anything,
  isError: flag,
  meta: plainObject,
};

function isContent(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && [...value].every(isObject));
}

/**
 * Creates a full tool result, if a plain value is not enough.
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
 * Creates a block of text.
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
 * Creates an image from bytes or base64.
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
 * Creates a sound from bytes or base64. Clients of 2024-11-05 get a line of text instead.
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
  // Anything else stays as it is: the check of the result rejects it, and says where it is.
  return ArrayBuffer.isView(data) ? toBase64(data) : data;
}

/** Converts the value of a tool without an output schema. */
export function toToolResult(returned: unknown): CallToolResult {
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  if (returned === undefined) return { content: [] };
  const given = asToolResult(returned, noneDeclared);
  if (given) return toCallToolResult(given);
  const blocks = Array.isArray(returned) ? returned : [returned];
  if (Array.isArray(returned) || isContentBlock(returned)) return { content: blocks };
  if (isObject(returned) && "content" in returned)
    throw new TypeError(`content must be an array of content blocks, not ${kindOf(returned["content"])}`);
  throw notReturnable(returned, "a string, content blocks, { content } or result({ … }), or set output");
}

const noneDeclared = (): boolean => false;

/**
 * Returns the full result if the handler returned one: from {@link result}, or in the protocol's form. Undefined for a plain
 * value, such as an object whose `content` or `structuredContent` the output schema declares.
 */
export function asToolResult(
  returned: unknown,
  declares: (name: string) => boolean,
): GivenResult | undefined {
  if (!isObject(returned)) return undefined;
  if (mark in returned) return returned as unknown as ToolResult<unknown>;
  if (isThenable(returned["content"]) && !declares("content"))
    throw new TypeError("content is a promise: await it");
  const isProtocol =
    (Array.isArray(returned["content"]) && !declares("content")) ||
    ("structuredContent" in returned && !declares("structuredContent"));
  if (!isProtocol) {
    if ("structured" in returned && !declares("structured"))
      throw new TypeError("structured is an argument of result({ … }): return what result() returns");
    return undefined;
  }
  const open = openFields("Tool", returned);
  const {
    content,
    structuredContent: structured,
    isError,
    _meta: meta,
  } = returned as unknown as CallToolResult;
  return { content, structured, isError: isError as boolean, meta, open };
}

/** A full tool result, with the fields that the protocol does not define. */
interface GivenResult extends Omit<ToolResult<unknown>, typeof mark> {
  readonly open?: JsonObject | undefined;
}

/** Whether an output value looks like a result of the protocol, so that the author may have meant one. */
export function looksLikeResult(returned: unknown): boolean {
  return isObject(returned) && (Array.isArray(returned["content"]) || "structuredContent" in returned);
}

/** The result of a tool with an output schema, from its validated value. */
export function toStructuredResult(structured: unknown, given: GivenResult | undefined): CallToolResult {
  return toCallToolResult(given ?? new ToolResult({}), structured);
}

function toCallToolResult(given: GivenResult, structured: unknown = given.structured): CallToolResult {
  const { content: said = [] } = given;
  // Clients without structured content need it as text. Servers of other SDKs may return an empty `content` beside it.
  const isTextMissing = structured !== undefined && said.length === 0;
  const content = isTextMissing ? [text(toJson(structured))] : said;
  const named = { content, structuredContent: structured, isError: given.isError, _meta: given.meta };
  return given.open === undefined ? named : { ...given.open, ...named };
}

function toJson(structured: unknown): string {
  try {
    return JSON.stringify(structured);
  } catch (error) {
    const problem = jsonProblem(structured, "structuredContent");
    throw problem === undefined ? error : new TypeError(problem, { cause: error });
  }
}

/** The result that tells the model why a tool failed. */
export function toErrorResult(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

export function toPromptResult(returned: unknown, description: string | undefined): GetPromptResult {
  const base = description === undefined ? {} : { description };
  if (typeof returned === "string") return { ...base, messages: [{ role: "user", content: text(returned) }] };
  if (Array.isArray(returned)) return { ...base, messages: returned };
  if (isObject(returned) && "messages" in returned) {
    const { messages, description: own = description, _meta } = returned as unknown as GetPromptResult;
    return { ...openFields("Prompt", returned), messages, description: own, _meta } as GetPromptResult;
  }
  if (isContentBlock(returned)) return { ...base, messages: [{ role: "user", content: returned }] };
  throw notReturnable(returned, "a string, a content block, messages or { messages }");
}

export function toReadResult(
  returned: unknown,
  uri: string,
  mimeType: string | undefined,
): ReadResourceResult {
  const base = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof returned === "string") return { contents: [{ ...base, text: returned }] };
  if (returned instanceof Uint8Array) return { contents: [{ ...base, blob: toBase64(returned) }] };
  if (isObject(returned) && "contents" in returned) {
    const { contents, _meta } = returned as unknown as ReadResourceResult;
    return { ...openFields("Resource", returned), contents, _meta } as ReadResourceResult;
  }
  if (Array.isArray(returned) && returned.length > 0) return { contents: returned };
  if (isContents(returned)) return { contents: [returned] };
  const remedy = "a string, bytes, contents with a uri and either text or blob, or { contents }";
  throw notReturnable(returned, remedy);
}

function notReturnable(returned: unknown, remedy: string): TypeError {
  const problem = jsonProblem(returned, "");
  return new TypeError(problem ?? `it is ${kindOf(returned)}: ${stepBefore(returned)}return ${remedy}`);
}

/** The step that an error message recommends first for a returned value of this class. */
function stepBefore(returned: unknown): string {
  if (returned instanceof Error) return "throw it, or ";
  if (returned instanceof Response) return "await its text(), and ";
  if (ArrayBuffer.isView(returned)) return "pass bytes to image() or audio(), or convert them to text, and ";
  if (!isObject(returned)) return "";
  if (returned["isError"] === true) return "throw new ToolError(message), or ";
  return Symbol.asyncIterator in returned ? "collect what it yields, and " : "";
}

/** The arguments of {@link inputRequired}: at least one of the two. */
export interface InputRequiredParts {
  /** The questions, by keys that you choose. */
  readonly inputRequests?: { readonly [key: string]: InputRequest } | undefined;
  /** A JSON value that `ctx.requestState()` returns in the next run. The client cannot read or change it. */
  readonly requestState?: unknown;
}

/**
 * The return value of a handler that has questions; {@link inputRequired} creates it.
 *
 * @example
 * ```ts
 * import { InputRequired, inputRequired } from "halyard";
 *
 * const later: InputRequired = inputRequired({ requestState: { try: 2 } });
 * ```
 */
export class InputRequired {
  readonly inputRequests: { readonly [key: string]: InputRequest };
  readonly requestState: unknown;

  constructor({ inputRequests = {}, requestState }: InputRequiredParts) {
    if (Object.keys(inputRequests).length === 0 && requestState === undefined) {
      throw new TypeError("inputRequired() requires inputRequests or requestState");
    }
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/** Ends the run of a handler that returned its questions, as {@link InputPending} ends one that awaits an answer. */
export class InputRound extends InputPending {
  readonly required: InputRequired;

  constructor(required: InputRequired) {
    super();
    this.required = required;
  }
}

/** Returns the value of a handler. Throws an `InputRound` if the value holds questions. */
export function orAsk(returned: unknown): unknown {
  if (returned instanceof InputRequired) throw new InputRound(returned);
  return returned;
}

/** The helpers that the official SDK has on `inputRequired`, and what replaces them. */
const officialHelpers: Readonly<Record<string, string>> = {
  elicit: "await ctx.tryElicit(message, schema)",
  elicitUrl: "await ctx.tryElicit(message, new URL(url))",
  createMessage: "await ctx.sample(messages, options)",
  listRoots: "await ctx.roots()",
};

function withoutHelpers<Make extends object>(make: Make): Make {
  for (const [name, remedy] of Object.entries(officialHelpers)) {
    const refuse = (): never => {
      throw new TypeError(`inputRequired has no ${name}(): use ${remedy}, and nothing has to be returned`);
    };
    Object.defineProperty(make, name, { value: refuse });
  }
  return make;
}

/**
 * Ends a call with questions, for a handler that keeps its own state between rounds; `ctx.elicit`, `ctx.sample` and
 * `ctx.roots` do so automatically. The handler runs again with `ctx.inputResponses` and `ctx.requestState()`, for clients of
 * every revision.
 *
 * @example
 * ```ts
 * import { inputRequired, McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("roots", {}, (_, ctx) => {
 *   const answer = ctx.inputResponses?.["where"];
 *   if (answer !== undefined) return JSON.stringify(answer["roots"]);
 *   return inputRequired({ inputRequests: { where: { method: "roots/list" } }, requestState: { step: 1 } });
 * });
 * ```
 */
export const inputRequired: (parts: InputRequiredParts) => InputRequired = withoutHelpers(
  (parts: InputRequiredParts): InputRequired => new InputRequired(parts),
);
