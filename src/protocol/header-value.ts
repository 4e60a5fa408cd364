// Values in HTTP headers: plain text, or `=?base64?…?=` where plain text would not arrive unchanged.
import { textFromBase64, toBase64 } from "../base/wire/base64.ts";

const sentinel = /^=\?base64\?(.*)\?=$/s;
/** The characters that a header can hold without encoding: printable ASCII, spaces and tabs. */
const plain = /^[\t\x20-\x7e]*$/;
/** Text that arrives unchanged: white space at its ends would be stripped. */
const unchanged = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text as a header value. */
export function encodeHeaderValue(text: string): string {
  if (unchanged.test(text) && !text.startsWith("=?base64?")) return text;
  return `=?base64?${toBase64(new TextEncoder().encode(text))}?=`;
}

/** Decodes a header value. Returns undefined if it has characters that need encoding, or invalid base64. */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = sentinel.exec(value)?.[1];
  if (encoded === undefined) return plain.test(value) ? value : undefined;
  return base64.test(encoded) ? textFromBase64(encoded) : undefined;
}
