// Parses JSON. Rejects text that is too large, nests too deep or has too many values before it builds any. Knows nothing of MCP.
import { errorCodes } from "../errors.ts";
import type { MessageLimits } from "./limits.ts";
import type { RpcError } from "./message.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown; readonly weight: number }
  | {
      readonly ok: false;
      readonly isTooLarge: boolean;
      readonly error: RpcError;
      /** There is currently no room for the message, so it was not parsed. */
      readonly isTooHeavy?: true;
    };

/** A text with less weight is parsed without checking whether there is room. */
const heavyWeight = 256 * 1024;

/** Whether there is room for a message of that weight. `mayAsk`: it may expect a response. */
export type HasRoom = (weight: number, mayAsk: boolean) => boolean;

/**
 * Parses `text`. If a key appears twice, the last one wins, in every layer: nothing parses the text again. A heavy text is parsed only
 * if it `hasRoom`.
 */
export function parseJson(text: string, limits: MessageLimits, hasRoom: HasRoom = () => true): ParsedJson {
  const limit = exceededLimit(text, limits);
  if (limit) return refused(errorCodes.invalidRequest, problemOf(limit, limits));
  const measured = text.length <= shortText ? undefined : measure(text, unlimited);
  const weight = measured ? weigh(text.length, measured) : 24 * text.length;
  if (measured && weight > heavyWeight && !hasRoom(weight, measured.mayAsk))
    return { ...refused(errorCodes.invalidRequest, "There is no room for the message"), isTooHeavy: true };
  try {
    return { ok: true, value: JSON.parse(text), weight };
  } catch {
    return refused(errorCodes.parse, `The message is not valid JSON${hintOf(text)}`);
  }
}

function hintOf(text: string): string {
  if (text === "") return ": it is empty";
  return text.startsWith("[object") ? ": pass JSON.stringify(message)" : "";
}

/** Like `parseJson`, for a reader that does not count memory: weighing costs a scan of the text. `limit`: the one that the text exceeds. */
export function parseWithin(
  text: string,
  limits: MessageLimits,
):
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly limit?: Limit } {
  const limit = exceededLimit(text, limits);
  if (limit) return { ok: false, problem: problemOf(limit, limits), limit };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, problem: "The message is not valid JSON" };
  }
}

/** Returns the value of a text that this server or another node of it has written, or undefined if it is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Applies the same limits to a value that the caller has parsed. */
export function checkValue(value: unknown, limits: MessageLimits): ParsedJson {
  const left = { elements: limits.maxElements, characters: limits.maxBytes };
  const exceeded = exceededBy(value, 0, limits, left);
  // The text of a value is at least as long as its strings.
  const limit = left.characters < 0 ? "maxBytes" : exceeded;
  if (limit) return refused(errorCodes.invalidRequest, problemOf(limit, limits), limit === "maxBytes");
  const values = limits.maxElements - left.elements;
  // As if each value were an object with a key.
  const weight = weigh(limits.maxBytes - left.characters, { values, keys: values, containers: values });
  return { ok: true, value, weight };
}

function refused(code: number, message: string, isTooLarge = false): ParsedJson & { readonly ok: false } {
  return { ok: false, isTooLarge, error: { code, message } };
}

/** The weight of a text up to this length is estimated without a scan. */
const shortText = 512;

/**
 * Estimates how many bytes of heap a text and its parsed value take together; never far too low. A string takes its length,
 * but small values take far more than their text: `{}` takes twenty times as much, and an array in an array 28 times.
 */
function weigh(
  characters: number,
  { values, keys, containers }: Pick<Measured, "values" | "keys" | "containers">,
): number {
  return 2 * characters + 32 * values + 80 * keys + 56 * containers;
}

const unlimited = { maxDepth: Number.POSITIVE_INFINITY, maxElements: Number.POSITIVE_INFINITY };

/** The limit of depth or number that a value exceeds. Subtracts the elements of the value from `left`. */
function exceededBy(
  value: unknown,
  level: number,
  limits: MessageLimits,
  left: { elements: number; characters: number },
): Limit | undefined {
  if (--left.elements < 0) return "maxElements";
  if (typeof value === "string") left.characters -= value.length;
  if (typeof value !== "object" || value === null) return undefined;
  if (level >= limits.maxDepth) return "maxDepth";
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) left.characters -= name.length;
    const exceeded = exceededBy(member, level + 1, limits, left);
    if (exceeded) return exceeded;
  }
  return undefined;
}

/** Completes the error message for each limit: what the message does, and what the limit counts. */
const exceeding = {
  maxBytes: ["is larger than", "bytes"],
  maxDepth: ["nests deeper than", "levels"],
  maxElements: ["holds more than", "values"],
} as const;

type Limit = keyof typeof exceeding;

function problemOf(limit: Limit, limits: MessageLimits): string {
  const [verb, unit] = exceeding[limit];
  return `The message ${verb} ${limits[limit]} ${unit}`;
}

function exceededLimit(text: string, limits: MessageLimits): Limit | undefined {
  if (exceedsBytes(text, limits.maxBytes)) return "maxBytes";
  // Most messages are too short or too flat to exceed a limit, and need no scan.
  const flat = hasAtMost(text, "{", limits.maxDepth, hasAtMost(text, "[", limits.maxDepth, 0));
  if (flat >= 0 && text.length <= 2 * limits.maxElements) return undefined;
  const { depth, values, keys, containers } = measure(text, limits);
  if (depth > limits.maxDepth) return "maxDepth";
  return values + keys + containers > limits.maxElements ? "maxElements" : undefined;
}

/** UTF-8 takes one to three bytes per UTF-16 unit, so the length often decides without encoding the text. */
function exceedsBytes(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  return new TextEncoder().encode(text).length > maxBytes;
}

/** Adds the occurrences of `character` to `count`; returns -1 if there are more than `most`. */
function hasAtMost(text: string, character: string, most: number, count: number): number {
  if (count < 0) return -1;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    if (++count > most) return -1;
  }
  return count;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** The measured contents of a text. */
interface Measured {
  readonly depth: number;
  /** The number of values: one, and one for each comma. */
  readonly values: number;
  readonly keys: number;
  /** Arrays and objects. */
  readonly containers: number;
  /** Whether it is a batch, or has the keys of a request. */
  readonly mayAsk: boolean;
}

/** Measures a text in one pass, and stops when its depth, or all that it holds together, exceeds its limit. */
function measure(text: string, limits: Pick<MessageLimits, "maxDepth" | "maxElements">): Measured {
  let level = 0;
  let depth = 0;
  let elements = 1;
  let keys = 0;
  let containers = 0;
  /** Where the last string of the outermost object begins, and which keys of a request that object has. */
  let start = 0;
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      if (level === 1) start = at;
      at = endOfString(text, at + 1);
    } else if (unit === comma || unit === colon) {
      if (unit === colon) {
        keys++;
        if (level === 1) found |= requestKey(text, start, at);
      }
      if (++elements > limits.maxElements) break;
    } else if (unit === 0x7b || unit === 0x5b) {
      containers++;
      if (++level > depth) depth = level;
      if (++elements > limits.maxElements || level > limits.maxDepth) break;
    } else if (unit === 0x7d || unit === 0x5d) {
      level--;
    }
  }
  const mayAsk = found === 3 || text.trimStart().startsWith("[");
  return { depth, values: elements - keys - containers, keys, containers, mayAsk };
}

/** 1 for the key `id`, 2 for `method`, 3 for one that may be either, 0 for others. The key is between `start` and `end`, perhaps with escapes. */
function requestKey(text: string, start: number, end: number): number {
  // White space may follow the key.
  if (end - start > 60) return 3;
  const key = readJson(text.slice(start, end));
  return key === "id" ? 1 : key === "method" ? 2 : 0;
}

/** Where the string ends whose first character is at `from`: the next quote that is not escaped. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end >= 0 && text.charCodeAt(end - 1) === backslash && isEscaped(text, from, end))
    end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** Whether an odd number of backslashes precedes `end`, in a string that begins at `from`. */
function isEscaped(text: string, from: number, end: number): boolean {
  let start = end;
  while (start > from && text.charCodeAt(start - 1) === backslash) start--;
  return (end - start) % 2 === 1;
}
