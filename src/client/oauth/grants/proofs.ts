// Proves with each request that the client holds the key that its tokens are bound to (DPoP, RFC 9449).
import {
  allowInsecureRequests,
  customFetch,
  DPoP,
  type DPoPHandle,
  generateKeyPair,
  type JWK,
  modifyAssertion,
  protectedResourceRequest,
} from "oauth4webapi";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

export class Proofs {
  /** Adds proofs to token requests. It remembers the nonces of the authorization server. */
  readonly handle: DPoPHandle;
  /** The private key, as it is kept with the tokens. */
  readonly key: JWK;
  /** The nonces of MCP servers, by origin. An authorization server at the same origin has others. */
  readonly #nonces: Map<string, string>;

  private constructor(handle: DPoPHandle, key: JWK, nonces: Map<string, string>) {
    this.handle = handle;
    this.key = key;
    this.#nonces = nonces;
  }

  /** With a key that was kept, or with a new one. */
  static async create(kept?: JWK): Promise<Proofs> {
    const key = kept ?? (await newKey());
    const { kty, crv, x, y } = key;
    const [privateKey, publicKey] = await Promise.all([
      crypto.subtle.importKey("jwk", key as object, algorithm, false, ["sign"]),
      crypto.subtle.importKey("jwk", { kty, crv, x, y } as object, algorithm, true, ["verify"]),
    ]);
    const nonces = new Map<string, string>();
    const handle = DPoP(
      {},
      { privateKey, publicKey },
      {
        [modifyAssertion]: (_header, payload) => {
          if (payload["ath"] !== undefined)
            payload["nonce"] = nonces.get(new URL(String(payload["htu"])).origin);
        },
      },
    );
    return new Proofs(handle, key, nonces);
  }

  /** Makes the `DPoP` header of a request to an MCP server. */
  async header(url: string, method: string, accessToken: string): Promise<string> {
    let header = "";
    // oauth4webapi makes proofs only for requests that it sends itself.
    const takeHeader = async (
      _url: string,
      { headers }: { headers: Record<string, string> },
    ): Promise<Response> => {
      header = headers["dpop"] as string;
      return new Response(null);
    };
    await protectedResourceRequest(accessToken, method, new URL(url), undefined, undefined, {
      DPoP: this.handle,
      [customFetch]: takeHeader,
      [allowInsecureRequests]: true,
    });
    return header;
  }

  /** Keeps the nonce that the server wants in the next proof. */
  nonce(url: string, nonce: string): void {
    this.#nonces.set(new URL(url).origin, nonce);
  }
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const { kty, crv, x, y, d } = (await crypto.subtle.exportKey("jwk", privateKey)) as JWK;
  return { kty, crv, x, y, d } as JWK;
}
