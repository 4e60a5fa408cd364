// The values of mirrored headers: plain text, or base64 between markers for what a header cannot carry.
import { textFromBase64 } from "../wire/base64.ts";

const sentinel = /^=\?base64\?(.*)\?=$/s;
/** What a header may hold as it is: visible ASCII, with blanks between. */
const plain = /^[\t\x20-\x7e]*$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text that a header value stands for; undefined when it has other characters, or its base64 is not valid. */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = sentinel.exec(value)?.[1];
  if (encoded === undefined) return plain.test(value) ? value : undefined;
  return base64.test(encoded) ? textFromBase64(encoded) : undefined;
}
