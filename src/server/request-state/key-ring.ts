// The keys that seal request state. The first one seals and all of them open, so that keys can be rotated.
import { toBase64Url } from "../../wire/base64.ts";

/** A secret that an author sets: 32 bytes or more. */
export type Secret = string | Uint8Array;

export interface SealingKey {
  /** Identifies the key, so that opening a state need not try each. */
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

export const minSecretBytes = 32;

const encoder = new TextEncoder();
const salt = new Uint8Array();

export function secretBytes(secret: Secret): Uint8Array<ArrayBuffer> {
  return new Uint8Array(typeof secret === "string" ? encoder.encode(secret) : secret);
}

export function deriveKeys(secrets: readonly Secret[]): Promise<readonly SealingKey[]> {
  return Promise.all(secrets.map((secret) => derive(secretBytes(secret))));
}

/** Derives the key, since the author may use the secret for other purposes too. */
async function derive(secret: Uint8Array<ArrayBuffer>): Promise<SealingKey> {
  const { subtle } = crypto;
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveKey", "deriveBits"]);
  const from = (
    label: string,
  ): { name: string; hash: string; salt: Uint8Array<ArrayBuffer>; info: Uint8Array<ArrayBuffer> } => ({
    name: "HKDF",
    hash: "SHA-256",
    salt,
    info: new Uint8Array(encoder.encode(`halyard request state v1 ${label}`)),
  });
  const key = await subtle.deriveKey(from("key"), base, { name: "AES-GCM", length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
  const id = toBase64Url(new Uint8Array(await subtle.deriveBits(from("id"), base, 32)));
  return { id, key };
}
