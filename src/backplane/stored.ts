// What several nodes write to the engine: entries that are checked before use, and values that are changed by comparing versions.
import { HalyardError } from "../errors.ts";
import { readJson } from "../wire/json.ts";
import { isObject, type JsonObject } from "../wire/message.ts";
import { type Engine, maxEntryBytes, type StoredValue, type ValueKey } from "./engine.ts";

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The text of an entry; undefined if it has more than {@link maxEntryBytes}. */
export function entryText(entry: { readonly m?: string | undefined }): string | undefined {
  // Not serialised once more only to be measured.
  if ((entry.m?.length ?? 0) > maxEntryBytes) return undefined;
  const text = JSON.stringify(entry);
  const isSmall = text.length * 3 <= maxEntryBytes;
  return isSmall || byteLength(text) <= maxEntryBytes ? text : undefined;
}

/** The text of an entry. Throws if it is larger than nodes share. `what` names it in the error. */
export function smallEntryText(entry: object, what = "A message"): string {
  const text = entryText(entry);
  if (text !== undefined) return text;
  const bytes = byteLength(JSON.stringify(entry));
  throw new RangeError(
    `${what} has ${bytes} bytes, and nodes can share at most ${maxEntryBytes}: send less, or a link to the rest`,
  );
}

/** What each kind of entry must have, checked before use: another version of Halyard, or somebody else, may have written it. */
export type EntryChecks<Kind extends string> = Readonly<Record<Kind, (entry: JsonObject) => boolean>>;

/** Reads an entry of a log. Returns undefined if it is invalid, or of a kind `k` that this version does not know. */
export function readEntry<Entry extends { readonly k: string }>(
  text: string,
  checks: EntryChecks<Entry["k"]>,
): Entry | undefined {
  const entry = readJson(text);
  if (!isObject(entry)) return undefined;
  const { k } = entry;
  const isValid = typeof k === "string" && Object.hasOwn(checks, k) && checks[k as Entry["k"]](entry);
  return isValid ? (entry as unknown as Entry) : undefined;
}

/** How often a node tries to change a value while other nodes change it. */
export const maxTries = 50;

/** What a value becomes. Without `ttlMs` it never expires. */
interface NextValue {
  readonly text: string;
  readonly ttlMs?: number;
}

/**
 * Stores what `edit` makes of a value, and resolves with that; undefined leaves the value as it is. If another node changes the value
 * meanwhile, `edit` is called again. `what` names the value in the error after too many tries.
 */
export async function changeValue(
  engine: Engine,
  key: ValueKey,
  what: string,
  edit: (stored: StoredValue | undefined) => Promise<NextValue | undefined>,
): Promise<NextValue | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const stored = await engine.get(key);
    const next = await edit(stored);
    if (next === undefined) return undefined;
    const { text, ttlMs } = next;
    const version = await (stored === undefined
      ? engine.create(key, text, ttlMs)
      : engine.replace(key, text, ttlMs, stored.version));
    if (version !== undefined) return next;
  }
  throw tooBusy(what);
}

export function tooBusy(what: string): HalyardError {
  return new HalyardError("BACKPLANE_UNAVAILABLE", `${what} changes too often: try again later`);
}
