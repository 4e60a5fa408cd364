// The keys that seal request state. The first one seals and all of them open, so that keys can be rotated.
import { toBase64Url } from "../../base/wire/base64.ts";
import { DerivationSecret } from "../../base/wire/crypto.ts";

/** A secret that an author sets: 32 bytes or more. */
export type Secret = string | Uint8Array;

export interface SealingKey {
  /** Identifies the key, so that opening a state need not try each. */
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

export const minSecretBytes = 32;

const encoder = new TextEncoder();

export function secretBytes(secret: Secret): Uint8Array {
  return new Uint8Array(typeof secret === "string" ? encoder.encode(secret) : secret);
}

export function deriveKeys(secrets: readonly Secret[]): Promise<readonly SealingKey[]> {
  return Promise.all(secrets.map((secret) => derive(secretBytes(secret))));
}

/** Derives the key, since the author may use the secret for other purposes too. */
async function derive(bytes: Uint8Array): Promise<SealingKey> {
  const secret = await DerivationSecret.from(new Uint8Array(bytes));
  const id = toBase64Url(await secret.bits("halyard request state v1 id", 32));
  return { id, key: await secret.encryptionKey("halyard request state v1 key") };
}
