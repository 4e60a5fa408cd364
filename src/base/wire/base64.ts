// Base64 and base64url, encoded and decoded with functions that every runtime has.

const common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const plain = new TextEncoder().encode(`${common}+/`);
const forUrls = new TextEncoder().encode(`${common}-_`);
const padding = "=".charCodeAt(0);
const decoder = new TextDecoder();

/** Plain base64. */
export function toBase64(bytes: Uint8Array): string {
  return decoder.decode(encode(bytes, plain));
}

/** Base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return decoder.decode(encode(bytes, forUrls).subarray(0, Math.ceil((bytes.length * 4) / 3)));
}

/** A loop, because `btoa` takes a binary string, and building that takes ten times as long. */
function encode(bytes: Uint8Array, alphabet: Uint8Array): Uint8Array {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const three = (bytes[from]! << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
    text[to] = alphabet[three >> 18]!;
    text[to + 1] = alphabet[(three >> 12) & 63]!;
    text[to + 2] = alphabet[(three >> 6) & 63]!;
    text[to + 3] = alphabet[three & 63]!;
  }
  return text.fill(padding, Math.ceil((bytes.length * 4) / 3));
}

/** Decodes base64url to text; returns undefined if it is invalid. */
export function textFromBase64Url(encoded: string): string | undefined {
  return textFromBase64(encoded.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Decodes base64url to bytes; returns undefined if it is invalid or not in its canonical form. */
export function fromBase64Url(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(encoded)) return undefined;
  try {
    const bytes = bytesFromBase64(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    // Only the last characters can have unused bits.
    const last = bytes.subarray(bytes.length - (bytes.length % 3));
    return encoded.endsWith(toBase64Url(last)) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes base64 to bytes; throws if it is invalid. A loop, because `Uint8Array.from` uses the string's iterator and takes a hundred times as long. */
export function bytesFromBase64(encoded: string): Uint8Array<ArrayBuffer> {
  const binary = atob(encoded);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Decodes base64 to UTF-8 text; returns undefined if it is invalid. */
export function textFromBase64(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesFromBase64(encoded));
  } catch {
    return undefined;
  }
}
