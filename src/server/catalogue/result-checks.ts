// Checks each field of a result before it is sent: a handler or middleware may have returned anything.
import { isThenable } from "../../base/async/promises.ts";
import { clip } from "../../base/errors.ts";
import { mimeType as mimeTypeKind } from "../../base/kinds.ts";
import { nearest } from "../../base/options.ts";
import {
  type CallToolResult,
  type ContentBlock,
  type GetPromptResult,
  isRole,
  type ReadResourceResult,
  type ResourceContents,
} from "../../protocol/model.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** The required fields of each type of content block. */
const required: Readonly<Record<ContentBlock["type"], readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
  resource: ["resource"],
};

/** The types of fields, in any object. */
const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: ["text", "data", "blob", "mimeType", "uri", "name", "title", "description"],
    number: ["size"],
    boolean: ["isError"],
    object: ["resource", "annotations", "_meta"],
  }).flatMap(([type, fields]) => fields.map((field) => [field, type])),
);

/** The shape of one kind of result: a list of items of one kind. */
interface ResultShape {
  readonly list: string;
  /** What is wrong with one item, as text that continues its path. Only an invalid result pays for building the path. */
  readonly itemProblem: (item: unknown) => string | undefined;
  readonly fields: object;
}

type Fields<T> = { readonly [Name in keyof T]-?: 1 };

const toolFields: Fields<CallToolResult> = { content: 1, structuredContent: 1, isError: 1, _meta: 1 };
const promptFields: Fields<GetPromptResult> = { messages: 1, description: 1, _meta: 1 };
const readFields: Fields<ReadResourceResult> = { contents: 1, _meta: 1 };

/** The kind of definition whose handler returned a result. */
export type ResultKind = "Tool" | "Prompt" | "Resource";

const shapes: Readonly<Record<ResultKind, ResultShape>> = {
  Tool: { list: "content", itemProblem: blockProblem, fields: toolFields },
  Prompt: { list: "messages", itemProblem: messageProblem, fields: promptFields },
  Resource: { list: "contents", itemProblem: contentsProblem, fields: readFields },
};

/** Fields that the server sets itself. A result relayed from another server may have them, and they are dropped. */
const written: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);

/** Fields of other return values. Next to a result they are probably a mistake. */
const elsewhere: ReadonlySet<string> = new Set(
  ["structured", "content", "contents", "messages", "text", "blob", "data", "uri", "mimeType"].map(plain),
);

/**
 * Returns the fields of a result that the protocol does not define, if any: results are open, so they are sent unchanged.
 * Throws for a field that is misspelled or in the wrong place.
 */
export function openFields(kind: ResultKind, result: JsonObject): JsonObject | undefined {
  const { fields } = shapes[kind];
  let open: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(result)) {
    if (Object.hasOwn(fields, name) || value === undefined) continue;
    const isMeant =
      elsewhere.has(plain(name)) || Object.keys(fields).some((known) => plain(known) === plain(name));
    const isQuestion = name === "resultType" && value !== "complete";
    if (isMeant) throw new TypeError(`${name} is not a field of the result: ${nearest(name, fields)}`);
    if (isQuestion) throw new TypeError('resultType must be "complete": return inputRequired({ … }) to ask');
    if (!written.has(name)) (open ??= {})[name] = value;
  }
  const problem = open && jsonProblem(result, "");
  if (problem !== undefined) throw new TypeError(problem);
  return open;
}

/** The name without case and punctuation, to compare spellings. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, "");
}

/**
 * What is wrong with a result, or undefined. `isJudged`: a JSON Schema has accepted the structured content as JSON writes it, which is
 * with null for NaN and infinite numbers.
 */
export function resultProblem(kind: ResultKind, result: object, isJudged = false): string | undefined {
  const { list, itemProblem } = shapes[kind];
  const fields = result as JsonObject;
  const items = fields[list];
  if (!Array.isArray(items)) return jsonProblem(items, list) ?? list + mustBe("an array", items);
  for (let index = 0; index < items.length; index++) {
    const problem = itemProblem(items[index]);
    if (problem === undefined) continue;
    const place = `${list}[${index}]`;
    return jsonProblem(items[index], place) ?? place + problem;
  }
  const problem = fieldsProblem(fields);
  if (problem) return jsonProblem(fields, "") ?? problem.slice(1);
  const { structuredContent } = fields;
  if (structuredContent === undefined) return undefined;
  return jsonProblem(structuredContent, "structuredContent", isJudged ? bigintProblem : numberProblem);
}

/** Names the first promise, map, set, error, bigint, infinite number or circle inside a value: JSON writes it as `{}` or null, or fails. Undefined if there is none. */
export function jsonProblem(
  value: unknown,
  place: string,
  leafProblem: LeafProblem = numberProblem,
): string | undefined {
  // An error that a handler returned gets a message of its own, which says to throw it.
  if (place === "" && value instanceof Error) return undefined;
  const path: string[] = [];
  const problem = problemBelow(value, path, new Map(), leafProblem);
  if (problem === undefined) return undefined;
  const at = [place, ...path].join("").replace(/^\./, "");
  return `${at === "" ? "it" : at} ${problem}`;
}

/**
 * What is wrong with the value, or with one inside it, whose path is added. Nothing is built while nothing is wrong. `seen` maps
 * each object to whether it contains the value.
 */
function problemBelow(
  value: unknown,
  path: string[],
  seen: Map<unknown, boolean>,
  leafProblem: LeafProblem,
): string | undefined {
  if (typeof value !== "object" || value === null) return leafProblem(value);
  if (isThenable(value)) return "is a promise: await it";
  if (value instanceof Map || value instanceof Set)
    return `is a ${value.constructor.name}, which JSON has not: send an object or a list`;
  // An object with `toJSON` decides how JSON writes it.
  if ("toJSON" in value) return undefined;
  if (value instanceof Error) return "is an Error, which JSON writes without its message: send its message";
  const isAround = seen.get(value);
  if (isAround === true)
    return `refers to ${seen.keys().next().value === value ? "the result itself" : "an object that contains it"}`;
  if (isAround === false) return undefined;
  seen.set(value, true);
  for (const name in value) {
    const inner = (value as JsonObject)[name];
    const problem =
      typeof inner === "object" ? problemBelow(inner, path, seen, leafProblem) : leafProblem(inner);
    if (problem === undefined) continue;
    path.unshift(Array.isArray(value) ? `[${name}]` : `.${name}`);
    return problem;
  }
  seen.set(value, false);
  return undefined;
}

/** What is wrong with a value that is not an object. */
type LeafProblem = (value: unknown) => string | undefined;

function numberProblem(value: unknown): string | undefined {
  return typeof value === "number" && !Number.isFinite(value)
    ? `is ${value}, which JSON has not: send null or a string`
    : bigintProblem(value);
}

function bigintProblem(value: unknown): string | undefined {
  return typeof value === "bigint" ? "is a bigint, which JSON has not: send a number or a string" : undefined;
}

function messageProblem(message: unknown): string | undefined {
  if (!isObject(message)) return mustBe("a message with role and content", message);
  const { role, content } = message;
  if (!isRole(role)) {
    const given = typeof role === "string" ? JSON.stringify(clip(role)) : kindOf(role);
    return `.role must be "user" or "assistant", not ${given}`;
  }
  return below(".content", blockProblem(content));
}

function blockProblem(block: unknown): string | undefined {
  if (!isObject(block)) return mustBe('a content block, such as text("Hello")', block);
  const { type } = block;
  if (!isBlockType(type)) {
    const allowed = `one of ${Object.keys(required).join(", ")}`;
    return typeof type === "string"
      ? `.type must be ${allowed}, not ${JSON.stringify(clip(type))}`
      : `.type${mustBe(allowed, type)}`;
  }
  for (const field of required[type]) {
    if (block[field] !== undefined) continue;
    const remedy = "source" in block ? `: write ${required[type].join(" and ")} instead of source` : "";
    return `.${field} is missing${remedy}`;
  }
  const problem = fieldsProblem(block) ?? ("data" in block ? mediaProblem(block) : undefined);
  return type === "resource" ? (problem ?? below(".resource", contentsProblem(block["resource"]))) : problem;
}

function contentsProblem(contents: unknown): string | undefined {
  if (!isObject(contents)) return mustBe("an object", contents);
  const { uri, text, blob } = contents;
  if (uri === undefined) return ".uri is missing";
  if ((text === undefined) === (blob === undefined)) return " must have either text or blob";
  return fieldsProblem(contents) ?? base64Problem("blob", blob);
}

/** What is wrong with an image or a sound whose fields have the right types. */
function mediaProblem({ data, mimeType }: JsonObject): string | undefined {
  const problem = base64Problem("data", data);
  if (problem !== undefined || typeof mimeType !== "string" || mimeTypeKind.is(mimeType)) return problem;
  return `.mimeType must be like image/png, not ${JSON.stringify(clip(mimeType))}`;
}

/** How many characters of either end are checked, since a result may have millions. */
const checkedCharacters = 64;

function base64Problem(field: string, data: unknown): string | undefined {
  if (typeof data !== "string") return undefined;
  if (data.startsWith("data:")) return `.${field} is a data: URL: drop everything up to the comma`;
  const isLong = data.length > 2 * checkedCharacters;
  const ends = isLong ? data.slice(0, checkedCharacters) + data.slice(-checkedCharacters) : data;
  const isCut = data.length % 4 === 1 && !/\s/.test(ends);
  return isCut || !/^[A-Za-z\d+/\s]*[=\s]*$/.test(ends)
    ? `.${field} is not base64: pass the bytes`
    : undefined;
}

function fieldsProblem(holder: JsonObject): string | undefined {
  // A loop over the keys makes no list of them, and most results are small.
  for (const name in holder) {
    const type = types.get(name);
    const value = holder[name];
    if (value === undefined || type === undefined) continue;
    const fits = type === "object" ? isObject(value) && !jsonProblem(value, name) : typeof value === type;
    if (fits) continue;
    return isBytes(value) && bytes[name]
      ? `.${name} is bytes: ${bytes[name]}, or encode them as base64`
      : `.${name}${mustBe(`of type ${type}`, value)}`;
  }
  return undefined;
}

/** How to send bytes that are in a field for base64. */
const bytes: Readonly<Record<string, string>> = {
  data: "use image() or audio()",
  blob: "return the Uint8Array itself",
};

function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function below(place: string, problem: string | undefined): string | undefined {
  return problem && place + problem;
}

function isBlockType(type: unknown): type is ContentBlock["type"] {
  return typeof type === "string" && Object.hasOwn(required, type);
}

/** Whether the value is meant as a content block. It is checked when it is sent. */
export function isContentBlock(value: unknown): value is ContentBlock {
  return isObject(value) && Object.hasOwn(value, "type") && typeof value["type"] === "string";
}

export function isContents(value: unknown): value is ResourceContents {
  return isObject(value) && "uri" in value;
}

/** Names the type and not the value: more people read the log than may see the value. */
function mustBe(what: string, value: unknown): string {
  return ` must be ${what}, not ${kindOf(value)}`;
}

/** Describes the type of a value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (!isObject(value)) return `a ${typeof value}`;
  const names = Object.keys(value).slice(0, 8).join(", ");
  // A generator has a constructor without a name.
  const name =
    (value as Partial<object>).constructor?.name || Object.prototype.toString.call(value).slice(8, -1);
  if (name !== "Object") return `an instance of ${name}`;
  return names === "" ? "an empty object" : `an object with ${names}`;
}
