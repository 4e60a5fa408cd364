// A fake authorization server, as far as a resource server sees one: tests make it misbehave, and sign tokens with its keys.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { makeKey, signToken, type SigningKey, type TokenHeader } from "./signing-keys.ts";

/** Answers with `listener` until the test ends; resolves with its origin. */
export async function standIn(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

/** What a token is issued for. */
export const resource = "https://mcp.example/mcp";

export class Issuer {
  readonly issuer: string;
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>();
  keys: readonly SigningKey[];
  /** Answers instead, where it is set. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What introspection says of any token. */
  introspection: Readonly<Record<string, unknown>> = { active: false };

  private constructor(issuer: string, key: SigningKey) {
    this.issuer = issuer;
    this.keys = [key];
  }

  /** Answers until the test ends. */
  static async start(): Promise<Issuer> {
    const origin = await standIn((request, response) => issuer.#answer(request, response));
    const issuer = new Issuer(origin, await makeKey());
    return issuer;
  }

  /** A token that is good in every way, with changes; undefined leaves a claim out. */
  token(claims: Readonly<Record<string, unknown>> = {}, header: TokenHeader = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const whole = { iss: this.issuer, sub: "alice", aud: resource, scope: "read", iat: now, exp: now + 300 };
    return signToken(this.keys[0] as SigningKey, { ...whole, ...claims }, header);
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
      "/jwks": { keys: this.keys.map(({ publicJwk }) => publicJwk) },
      "/introspect": this.introspection,
    };
    const found = documents[path];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  }
}
