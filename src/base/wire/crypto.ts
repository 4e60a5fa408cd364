// Web Crypto: random ids, keys derived from a secret, and authenticated encryption.
import { fromBase64Url, toBase64Url } from "./base64.ts";

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

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

const salt = new Uint8Array();

/** A secret that keys are derived from. */
export class DerivationSecret {
  readonly #base: Key;

  private constructor(base: Key) {
    this.#base = base;
  }

  static async from(secret: Uint8Array<ArrayBuffer>): Promise<DerivationSecret> {
    const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey", "deriveBits"]);
    return new DerivationSecret(base);
  }

  /** A key of AES-256-GCM. */
  encryptionKey(purpose: string): Promise<Key> {
    const kind = { name: "AES-GCM", length: 256 };
    return crypto.subtle.deriveKey(from(purpose), this.#base, kind, false, ["encrypt", "decrypt"]);
  }

  /** Bits that reveal nothing about the secret or its keys. */
  async bits(purpose: string, length: number): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await crypto.subtle.deriveBits(from(purpose), this.#base, length));
  }
}

function from(purpose: string): {
  readonly name: string;
  readonly hash: string;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly info: Uint8Array<ArrayBuffer>;
} {
  return { name: "HKDF", hash: "SHA-256", salt, info: new Uint8Array(encoder.encode(purpose)) };
}

/** Random bytes as base64url; the default has 128 bits. */
export function randomId(bytes = 16): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
