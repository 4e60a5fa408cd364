// Proves that the client holds the key that its tokens are bound to (DPoP, RFC 9449).
import * as oauth from "oauth4webapi";
import { toBase64Url } from "../../../base/wire/base64.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

export class Proofs {
  /** The private key, as it is kept with the tokens. */
  readonly key: oauth.JWK;
  /** Makes the proofs for token endpoints, and knows their nonces. */
  readonly handle: oauth.DPoPHandle;
  readonly #privateKey: oauth.CryptoKey;
  /** The last nonce of the MCP server: an authorization server may share its origin, but not its nonces. */
  #nonce: { readonly origin: string; readonly nonce: string } | undefined;

  private constructor(key: oauth.JWK, privateKey: oauth.CryptoKey, publicKey: oauth.CryptoKey) {
    this.key = key;
    this.#privateKey = privateKey;
    this.handle = oauth.DPoP({}, { privateKey, publicKey });
  }

  /** With a key that was kept, or with a new one. */
  static async create(kept?: oauth.JWK): Promise<Proofs> {
    const { kty, crv, x, y, d } = kept ?? (await newKey());
    const open = { kty, crv, x, y } as object;
    const key = { ...open, d } as oauth.JWK;
    const privateKey = await crypto.subtle.importKey("jwk", key as object, algorithm, false, ["sign"]);
    return new Proofs(
      key,
      privateKey,
      await crypto.subtle.importKey("jwk", open, algorithm, true, ["verify"]),
    );
  }

  /** Makes the `DPoP` header of a request to the MCP server: oauth4webapi makes proofs only for requests that it sends itself. */
  async header(url: string, method: string, accessToken: string): Promise<string> {
    const { origin, pathname } = new URL(url);
    const { kty, crv, x, y } = this.key;
    const claims = {
      iat: Math.floor(Date.now() / 1000),
      jti: oauth.generateRandomState(),
      htm: method,
      htu: origin + pathname,
      ath: toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(accessToken)))),
      nonce: this.#nonce?.origin === origin ? this.#nonce.nonce : undefined,
    };
    const parts = [{ alg: "ES256", typ: "dpop+jwt", jwk: { kty, crv, x, y } }, claims];
    const text = parts.map((part) => toBase64Url(bytesOf(JSON.stringify(part)))).join(".");
    const how = { ...algorithm, hash: "SHA-256" };
    const signature = await crypto.subtle.sign(how, this.#privateKey, bytesOf(text));
    return `${text}.${toBase64Url(new Uint8Array(signature))}`;
  }

  /** Keeps the nonce that the MCP server wants in the next proof. */
  nonce(url: string, nonce: string): void {
    this.#nonce = { origin: new URL(url).origin, nonce };
  }
}

async function newKey(): Promise<oauth.JWK> {
  const { privateKey } = await oauth.generateKeyPair("ES256", { extractable: true });
  return crypto.subtle.exportKey("jwk", privateKey) as Promise<oauth.JWK>;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
