// Base64 of bytes, and of text for URLs, with what every runtime has.

/** Plain base64. Works in slices, since spreading a large array overflows the stack. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

/** Base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text behind a base64url string, or undefined when it is none. */
export function textFromBase64Url(encoded: string): string | undefined {
  return textFromBase64(encoded.replaceAll("-", "+").replaceAll("_", "/"));
}

/** The bytes behind a base64url string; undefined when it is none, or not written in the one shortest way. */
export function fromBase64Url(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = bytesFromBase64(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    return toBase64Url(bytes) === encoded ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function bytesFromBase64(encoded: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
}

/** The text whose UTF-8 bytes a base64 string stands for, or undefined when it is none. */
export function textFromBase64(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesFromBase64(encoded));
  } catch {
    return undefined;
  }
}
