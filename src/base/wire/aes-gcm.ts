// Encrypts and authenticates bytes with AES-GCM, as base64url text. Knows nothing of keys.
import { fromBase64Url, toBase64Url } from "./base64.ts";

type Key = Parameters<typeof crypto.subtle.encrypt>[1];

const ivBytes = 12;
const tagBytes = 16;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encrypts bytes. The text can be decrypted only in the same context. */
export async function encrypt(plain: Uint8Array<ArrayBuffer>, key: Key, context: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const encrypted = await crypto.subtle.encrypt(parameters(iv, context), key, plain);
  const body = new Uint8Array(ivBytes + encrypted.byteLength);
  body.set(iv);
  body.set(new Uint8Array(encrypted), ivBytes);
  return toBase64Url(body);
}

/** Resolves with the text that was encrypted, or with undefined if it was not with this key and in this context. */
export async function decrypt(encrypted: string, key: Key, context: string): Promise<string | undefined> {
  const body = fromBase64Url(encrypted);
  if (!body || body.length < ivBytes + tagBytes) return undefined;
  try {
    const how = parameters(body.subarray(0, ivBytes), context);
    return decoder.decode(await crypto.subtle.decrypt(how, key, body.subarray(ivBytes)));
  } catch {
    return undefined;
  }
}

/** The length of the text that this many bytes become. */
export function encryptedLength(bytes: number): number {
  return Math.ceil(((ivBytes + bytes + tagBytes) * 4) / 3);
}

function parameters(
  iv: Uint8Array<ArrayBuffer>,
  context: string,
): { name: string; iv: Uint8Array<ArrayBuffer>; additionalData: Uint8Array<ArrayBuffer> } {
  return { name: "AES-GCM", iv, additionalData: new Uint8Array(encoder.encode(context)) };
}
