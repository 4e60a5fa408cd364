// An authorization server as far as a resource server sees it, which can be made to misbehave, and tokens that can be forged.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export interface Key {
  readonly privateKey: Parameters<SignJWT["sign"]>[0];
  readonly kid: string;
  readonly jwk: Readonly<Record<string, unknown>>;
}

export async function makeKey(): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { privateKey, kid, jwk: { ...jwk, kid, alg: "ES256", use: "sig" } };
}

/** What a token is issued for. */
export const resource = "https://mcp.example/mcp";

export class Issuer {
  readonly issuer: string;
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>();
  keys: readonly Key[];
  /** Answers instead, where it is set. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What introspection says of any token. */
  introspection: Readonly<Record<string, unknown>> = { active: false };

  private constructor(issuer: string, key: Key) {
    this.issuer = issuer;
    this.keys = [key];
  }

  /** Answers until the test ends. */
  static async start(): Promise<Issuer> {
    const http = createServer((request, response) => issuer.#answer(request, response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const issuer = new Issuer(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, await makeKey());
    return issuer;
  }

  /** A token that is good in every way, with changes; undefined leaves a claim out. */
  token(
    claims: Readonly<Record<string, unknown>> = {},
    { key, ...header }: Partial<JWTHeaderParameters> & { key?: Key } = {},
  ): Promise<string> {
    const signer = key ?? (this.keys[0] as Key);
    const now = Math.floor(Date.now() / 1000);
    const whole = { iss: this.issuer, sub: "alice", aud: resource, scope: "read", iat: now, exp: now + 300 };
    return new SignJWT({ ...whole, ...claims })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: signer.kid, ...header })
      .sign(signer.privateKey);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.set(path, (this.asked.get(path) ?? 0) + 1);
    if (this.misbehave !== undefined) return this.misbehave(request, response);
    const documents: Record<string, object> = {
      "/.well-known/oauth-authorization-server": {
        issuer: this.issuer,
        jwks_uri: `${this.issuer}/jwks`,
        introspection_endpoint: `${this.issuer}/introspect`,
      },
      "/jwks": { keys: this.keys.map(({ jwk }) => jwk) },
      "/introspect": this.introspection,
    };
    const found = documents[path];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  }
}
