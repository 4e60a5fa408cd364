// An MCP server on loopback whose tokens are bound to a key: it verifies the proof of each request (RFC 9449), and may demand nonces.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { type Auth, bearerAuth } from "halyard/auth";
import { nodeHandler } from "halyard/node";
import { calculateJwkThumbprint, decodeJwt, EmbeddedJWK, type JWK, type JWTPayload, jwtVerify } from "jose";
import { onTestFinished } from "vitest";
import type { AuthorizationServer } from "../../../support/authorization-server.ts";

type RequestHead = Parameters<Auth["authenticate"]>[0];

/** What a proof says, and the thumbprint of its key. */
type Proof = JWTPayload & { readonly jkt: string };

export class DpopServer {
  url = "";
  /** Every proof so far. */
  readonly proofs: Proof[] = [];
  /** What was wrong with those that were refused. */
  readonly problems: string[] = [];
  /** The nonces so far: a proof must contain one of the last two, if there are any. */
  readonly nonces: string[] = [];
  /** Makes a nonce for each response. */
  nextNonce: (() => string) | undefined;
  /** While set, every request with a token is refused for this error. */
  refusal: string | undefined;
  /** The tokens so far. */
  readonly #tokens = new Set<string>();
  /** Those that are good no longer. */
  #revoked: ReadonlySet<string> = new Set();

  /** Takes tokens of that authorization server until the test ends. */
  static async start(issuer: AuthorizationServer): Promise<DpopServer> {
    const found = new DpopServer();
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    found.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    const authorizationServers = [issuer.issuer];
    const door = bearerAuth({
      resource: found.url,
      authorizationServers,
      verify: async (token) => {
        const { payload } = await jwtVerify(token, issuer.key.publicJwk, { typ: "at+jwt" });
        // A bearer token must not be bound to a key: here, the proof was verified before.
        return { ...payload, cnf: undefined };
      },
    });
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    server.tool("whoami", {}, (_, ctx) => `${ctx.principal?.subject} of ${ctx.principal?.issuer}`);
    const authenticate: Auth["authenticate"] = (request) => found.#authenticate(request, door);
    const handler = nodeHandler(server, { graceMs: 50, auth: { ...door, authenticate } });
    http.on("request", (request, response) => {
      const nonce = found.nextNonce?.();
      if (nonce !== undefined) {
        found.nonces.push(nonce);
        response.setHeader("dpop-nonce", nonce);
      }
      handler(request, response);
    });
    onTestFinished(async () => {
      http.close();
      await handler.close();
      http.closeAllConnections();
    });
    return found;
  }

  /** Takes no token any longer that was shown so far. */
  revokeTokens(): void {
    this.#revoked = new Set(this.#tokens);
  }

  async #authenticate(request: RequestHead, door: Auth): Promise<Awaited<ReturnType<Auth["authenticate"]>>> {
    const [, token] = /^DPoP (.+)$/.exec(request.header("authorization") ?? "") ?? [];
    const header = (name: string): string | undefined =>
      name === "authorization" ? token && `Bearer ${token}` : request.header(name);
    if (token === undefined) return door.authenticate({ ...request, header });
    this.#tokens.add(token);
    if (this.#revoked.has(token)) return refuse("invalid_token");
    if (this.refusal !== undefined) return refuse(this.refusal, ["never good enough"]);
    try {
      const proof = await verify(request, token, this.url);
      if (this.proofs.some(({ jti }) => jti === proof.jti)) throw new Error("The proof was used before");
      this.proofs.push(proof);
      const nonces = this.nonces.slice(-2);
      if (nonces.length > 0 && !nonces.includes(String(proof["nonce"])))
        return refuse("use_dpop_nonce", nonces);
    } catch (error) {
      this.problems.push(String(error));
      return refuse("invalid_dpop_proof");
    }
    return door.authenticate({ ...request, header });
  }
}

function refuse(
  error: string,
  nonces: readonly string[] = [],
): {
  status: 401;
  message: string;
  headers: Record<string, string>;
} {
  const nonce = nonces.at(-1);
  const headers = {
    "www-authenticate": `DPoP error="${error}"`,
    ...(nonce !== undefined && { "dpop-nonce": nonce }),
  };
  return { status: 401, message: error, headers };
}

/** Throws unless the proof is for this request, and by the key that the token is bound to. */
async function verify(request: RequestHead, token: string, url: string): Promise<Proof> {
  const proof = request.header("dpop") ?? "";
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: "dpop+jwt",
    maxTokenAge: 60,
  });
  const jkt = await calculateJwkThumbprint(protectedHeader.jwk as JWK);
  const expected = {
    htm: request.method,
    htu: url,
    ath: createHash("sha256").update(token).digest("base64url"),
    isPublic: true,
    jkt: (decodeJwt(token)["cnf"] as { jkt: string } | undefined)?.jkt,
  };
  const { htm, htu, ath } = payload;
  const shown = { htm, htu, ath, isPublic: !("d" in (protectedHeader.jwk ?? {})), jkt };
  if (JSON.stringify(shown) !== JSON.stringify(expected))
    throw new Error(`${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`);
  return { ...payload, jkt };
}
