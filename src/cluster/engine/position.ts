// Positions in a log, which clients keep as part of event ids.
import type { LogEntry } from "./engine.ts";

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
