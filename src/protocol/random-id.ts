// Ids that nobody can guess.
import { toBase64Url } from "./base64.ts";

/** Random bytes in visible characters; 16 of them are the 128 bits that nobody can guess. */
export function randomId(bytes = 16): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
