// Proves with each request that the client holds the key that its tokens are bound to (DPoP, RFC 9449).
import type { JWK } from "oauth4webapi";
import { type SigningKey, signingKeyOf } from "../settings/keys.ts";
import { hashOf, signJwt } from "./jwt.ts";

/** Whose nonces these are: an authorization server may share an origin with the MCP server, but not its nonces. */
type Owner = "issuer" | "server";

export class Proofs {
  /** The private key, as it is kept with the tokens. */
  readonly key: JWK;
  readonly #signingKey: SigningKey;
  /** The last nonce of each, and the origin that it is for. */
  readonly #nonces: { [Name in Owner]?: { readonly origin: string; readonly nonce: string } } = {};

  private constructor(key: JWK, signingKey: SigningKey) {
    this.key = key;
    this.#signingKey = signingKey;
  }

  /** With a key that was kept, or with a new one. */
  static async create(kept?: JWK): Promise<Proofs> {
    const key = kept ?? (await newKey());
    return new Proofs(key, await signingKeyOf({ ...key, alg: "ES256" }));
  }

  /** Makes the `DPoP` header of a request: with a token to an MCP server, without one to an authorization server. */
  async header(url: string, method: string, accessToken?: string): Promise<string> {
    const { origin, pathname } = new URL(url);
    const { kty, crv, x, y } = this.key;
    const kept = this.#nonces[accessToken === undefined ? "issuer" : "server"];
    return signJwt(
      this.#signingKey,
      { typ: "dpop+jwt", jwk: { kty, crv, x, y } },
      {
        htm: method,
        htu: origin + pathname,
        ath: accessToken && (await hashOf(accessToken)),
        nonce: kept?.origin === origin ? kept.nonce : undefined,
      },
    );
  }

  /** Keeps the nonce that somebody wants in the next proof. */
  nonce(url: string, nonce: string, owner: Owner = "server"): void {
    this.#nonces[owner] = { origin: new URL(url).origin, nonce };
  }
}

async function newKey(): Promise<JWK> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", privateKey);
  return { kty, crv, x, y, d } as JWK;
}
