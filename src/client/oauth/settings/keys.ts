// The private keys of clients, for Web Crypto.
import type { CryptoKey, JWK, PrivateKey } from "oauth4webapi";
import { bytesFromBase64 } from "../../../base/wire/base64.ts";

/** The private key of a client: a key of Web Crypto, a JWK, or a PEM text (PKCS #8), whose algorithm you name. */
export type ClientKey =
  | CryptoKey
  | JWK
  | { readonly pem: string; readonly alg: string; readonly kid?: string | undefined };

/** A key, and the name of its algorithm in a JWT. */
export interface SigningKey extends PrivateKey {
  readonly alg: string;
}

interface Parameters {
  readonly name: string;
  readonly hash?: string;
  readonly namedCurve?: string;
}

const algorithms: { readonly [alg: string]: Parameters } = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  RS384: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" },
  RS512: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" },
  PS256: { name: "RSA-PSS", hash: "SHA-256" },
  PS384: { name: "RSA-PSS", hash: "SHA-384" },
  PS512: { name: "RSA-PSS", hash: "SHA-512" },
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384" },
  ES512: { name: "ECDSA", namedCurve: "P-521" },
  // The older name comes first: it is the one that nearly every server knows.
  EdDSA: { name: "Ed25519" },
  Ed25519: { name: "Ed25519" },
};

/** A variable of the environment may hold line breaks as "\\n". */
const pemText = /-----BEGIN ([A-Z0-9 ]+)-----((?:[A-Za-z0-9+/=\s]|\\n)+)-----END \1-----/;

/** What to do about a PEM text that is not PKCS #8, by its label. */
const pemProblems: { readonly [label: string]: string } = {
  "ENCRYPTED PRIVATE KEY": "is encrypted: decrypt it with `openssl pkcs8 -in key.pem`",
  "RSA PRIVATE KEY": "is PKCS #1, not PKCS #8: convert it with `openssl pkcs8 -topk8 -nocrypt -in key.pem`",
  "EC PRIVATE KEY": "is SEC 1, not PKCS #8: convert it with `openssl pkcs8 -topk8 -nocrypt -in key.pem`",
};

/** Why a key cannot sign, as far as that is visible without using it; undefined if nothing is wrong. */
export function keyProblem(key: unknown): string | undefined {
  const { alg, pem, d, kty, algorithm, type, usages } = Object(key) as { readonly [name: string]: unknown };
  if (algorithm !== undefined) {
    if (type !== "private") return `must be a private key: this one is ${String(type)}`;
    if (!(usages as readonly string[]).includes("sign")) return 'must have the usage "sign"';
  } else if (pem !== undefined) {
    const label = pemText.exec(String(pem))?.[1];
    if (label !== "PRIVATE KEY")
      return (
        pemProblems[label ?? ""] ?? 'must have a PEM text that begins with "-----BEGIN PRIVATE KEY-----"'
      );
    if (alg === undefined) return 'must name its algorithm, such as alg: "ES256"';
  } else if (typeof d !== "string") {
    return kty === undefined
      ? "must be a CryptoKey, a JWK, or { pem, alg }"
      : "must be a private key: this JWK has no d";
  }
  return algorithmOf(key as ClientKey) === undefined
    ? `must be for one of ${Object.keys(algorithms).join(", ")}`
    : undefined;
}

/** Makes a key usable. Rejects if it is not of the algorithm that it claims to be. */
export async function signingKeyOf(key: ClientKey): Promise<SigningKey> {
  const alg = algorithmOf(key) as string;
  if ("algorithm" in key) return { key: key as CryptoKey, alg };
  const { kid, pem, key_ops: _ops, use: _use, ext: _ext, ...jwk } = key as JWK & { readonly pem?: string };
  const parameters = algorithms[alg] as Parameters;
  const imported =
    pem === undefined
      ? crypto.subtle.importKey("jwk", jwk as object, parameters, false, ["sign"])
      : crypto.subtle.importKey("pkcs8", bytesOf(pem), parameters, false, ["sign"]);
  return { key: await imported, alg, ...(kid !== undefined && { kid }) };
}

/** The algorithm that is named, else the one that follows from the kind of key. */
function algorithmOf(key: ClientKey): string | undefined {
  const { alg, kty, crv, algorithm } = key as Partial<JWK & { readonly algorithm: Algorithm }>;
  if (alg !== undefined) return Object.hasOwn(algorithms, alg) ? alg : undefined;
  if (kty === "RSA") return "RS256";
  const { name, hash, namedCurve }: Algorithm =
    algorithm ?? (crv === "Ed25519" ? { name: crv } : { name: "ECDSA", namedCurve: crv });
  const isIt = (one: Parameters): boolean =>
    one.name === name && one.hash === hash?.name && one.namedCurve === namedCurve;
  return Object.keys(algorithms).find((one) => isIt(algorithms[one] as Parameters));
}

interface Algorithm {
  readonly name: string;
  readonly hash?: { readonly name: string };
  readonly namedCurve?: string | undefined;
}

function bytesOf(pem: string): Uint8Array<ArrayBuffer> {
  return bytesFromBase64((pemText.exec(pem)?.[2] ?? "").replaceAll(/\s|\\n/g, ""));
}
