// Entries of logs: their positions, which clients keep in event ids, their maximum size, and their checks before use.
import { type LogEntry, maxEntryBytes } from "./engine.ts";
import { readJson } from "../../base/wire/json.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/**
 * A position in a log: a sequence number, and a digest of its entry, because an engine may assign a number again after a failure.
 */
export function positionOf({ sequence, text }: Pick<LogEntry, "sequence" | "text">): string {
  return `${sequence}-${digestOf(text)}`;
}

/** The position before the first entry. */
export const startOfLog = "0-";

export function sequenceOf(position: string): number {
  return Number(position.slice(0, position.indexOf("-")));
}

/** The form of a position, for patterns. Engines count from one, or in microseconds since 1970. */
export const positionPattern: string = String.raw`\d{1,16}-[\da-z]{0,7}`;

/** Whether a number can be that of an entry. */
export function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** FNV-1a, of 32 bits: enough to tell two entries of the same number apart. */
export function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The text of an entry; undefined if it has more than {@link maxEntryBytes}. */
export function entryText(entry: { readonly m?: string | undefined }): string | undefined {
  // Checked first, to avoid serialising a large message only to measure it.
  if ((entry.m?.length ?? 0) > maxEntryBytes) return undefined;
  const text = JSON.stringify(entry);
  const isSmall = text.length * 3 <= maxEntryBytes;
  return isSmall || byteLength(text) <= maxEntryBytes ? text : undefined;
}

/** The text of an entry. Throws if it is too large for other nodes. `what` names it in the error. */
export function smallEntryText(entry: object, what = "A message"): string {
  const text = entryText(entry);
  if (text !== undefined) return text;
  const bytes = byteLength(JSON.stringify(entry));
  throw new RangeError(
    `${what} has ${bytes} bytes, and nodes can share at most ${maxEntryBytes}: send less, or a link to the rest`,
  );
}

/** The checks of each kind of entry before use: another version of Halyard, or another program, may have written it. */
export type EntryChecks<Kind extends string> = Readonly<Record<Kind, (entry: JsonObject) => boolean>>;

/** Reads an entry of a log. Returns undefined if it is invalid, or of a kind `k` that this version does not know. */
export function readLogEntry<Entry extends { readonly k: string }>(
  text: string,
  checks: EntryChecks<Entry["k"]>,
): Entry | undefined {
  const entry = readJson(text);
  if (!isObject(entry)) return undefined;
  const { k } = entry;
  const isValid = typeof k === "string" && Object.hasOwn(checks, k) && checks[k as Entry["k"]](entry);
  return isValid ? (entry as unknown as Entry) : undefined;
}
