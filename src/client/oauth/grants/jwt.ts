// Signs the JWTs of a client: assertions of who it is, and proofs that it holds a key. oauth4webapi could, at three times the size.
import { generateRandomState } from "oauth4webapi";
import { toBase64Url } from "../../../wire/base64.ts";
import type { SigningKey } from "../settings/keys.ts";

type Members = Readonly<Record<string, unknown>>;

/** Adds the time, and an id that no other JWT has. */
export async function signJwt({ key, alg }: SigningKey, header: Members, claims: Members): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const whole = [
    { alg, ...header },
    { iat, jti: generateRandomState(), ...claims },
  ];
  const text = whole.map((part) => toBase64Url(bytesOf(JSON.stringify(part)))).join(".");
  const bits = Number(alg.slice(2));
  // Each algorithm takes what it needs: ECDSA the hash, RSA-PSS the length of the salt.
  const parameters = { name: key.algorithm.name, hash: `SHA-${bits}`, saltLength: bits / 8 };
  return `${text}.${toBase64Url(new Uint8Array(await crypto.subtle.sign(parameters, key, bytesOf(text))))}`;
}

/** The hash of an access token, as a proof contains it. */
export async function hashOf(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(text))));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
