// Keys that sign access tokens in tests, and the tokens.
import {
  calculateJwkThumbprint,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";

export interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly kid: string;
  /** With its private part, for a server that signs. */
  readonly jwk: JWK;
  /** As a server publishes it. */
  readonly publicJwk: JWK;
}

export async function makeKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const published = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(published);
  const rest = { kid, alg: "ES256", use: "sig" };
  const jwk = { ...(await exportJWK(privateKey)), ...rest };
  return { privateKey, kid, jwk, publicJwk: { ...published, ...rest } };
}

/** Changes to the header of a token, and another key to sign it with. */
export type TokenHeader = Partial<JWTHeaderParameters> & { readonly key?: SigningKey };

/** An access token with these claims; undefined leaves a claim out. */
export function signToken(
  own: SigningKey,
  claims: Readonly<Record<string, unknown>>,
  { key = own, ...header }: TokenHeader = {},
): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: key.kid, ...header })
    .sign(key.privateKey);
}
