// Cursors of lists: a position, encoded as text that is opaque to clients.
import { textFromBase64Url, toBase64Url } from "../../base/wire/base64.ts";

/** The server writes shorter cursors, so it rejects longer ones without decoding them. */
const maxLength = 256;

export function writeCursor(place: string): string {
  return toBase64Url(new TextEncoder().encode(place));
}

/** Decodes the position of a cursor; returns undefined if `writeCursor` cannot have written it. */
export function readCursor(cursor: unknown): string | undefined {
  const place =
    typeof cursor === "string" && cursor.length <= maxLength ? textFromBase64Url(cursor) : undefined;
  return place !== undefined && writeCursor(place) === cursor ? place : undefined;
}
