// Cursors of lists: a place written as text that says nothing to a client, and is looked at only if it can be ours.
import { textFromBase64Url, toBase64Url } from "../../wire/base64.ts";

/** Ours are shorter: a longer one need not be decoded. */
const maxLength = 256;

export function writeCursor(place: string): string {
  return toBase64Url(new TextEncoder().encode(place));
}

/** The place that a cursor stands for; undefined when it is none that we could have written. */
export function readCursor(cursor: unknown): string | undefined {
  const place =
    typeof cursor === "string" && cursor.length <= maxLength ? textFromBase64Url(cursor) : undefined;
  return place !== undefined && writeCursor(place) === cursor ? place : undefined;
}
