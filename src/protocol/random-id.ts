// Unguessable ids.
import { toBase64Url } from "../base/wire/base64.ts";

/** Random bytes as base64url; the default has 128 bits. */
export function randomId(bytes = 16): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
