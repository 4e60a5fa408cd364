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

/** The text whose UTF-8 bytes a base64 string stands for, or undefined when it is none. */
export function textFromBase64(encoded: string): string | undefined {
  try {
    const binary = atob(encoded);
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
