// An issuer for tests and development: it signs tokens with keys of its own, and serves this machine only.
import { exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from "jose";
import { clip, ConfigurationError } from "../base/errors.ts";
import { filledText, type Known, numberFrom, plainObject, preset, text, texts } from "../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../base/options.ts";
import { randomId } from "../base/wire/crypto.ts";
import { scopesProblem } from "../protocol/principal.ts";
import { isLoopback, isLoopbackAddress } from "../base/addresses.ts";
import type { JsonObject } from "../base/wire/message.ts";
import type { Auth, EndpointPlace, RequestHead } from "./authenticate.ts";
import { protectWith } from "./bearer.ts";
import { type BearerAuthOptions, knownBearerOptions } from "./options.ts";
import { urlProblem } from "./authorization-server.ts";

/** Options of {@link developmentIssuer}; all are optional, and mean the same as for `bearerAuth`. */
export interface DevelopmentIssuerOptions extends Pick<
  BearerAuthOptions,
  "audience" | "requiredScopes" | "scopesSupported" | "scopeHierarchy"
> {
  /** The URL of the endpoint, on this machine. @default {"http://localhost:3000/mcp"} */
  readonly resource?: string | undefined;
}

/** The contents of a token of a {@link DevelopmentIssuer}; all are optional. */
export interface DevelopmentTokenOptions {
  /** @default {"developer"} */
  readonly subject?: string | undefined;
  /** @default {requiredScopes of the issuer} */
  readonly scopes?: readonly string[] | undefined;
  /** Seconds until it expires, at most 86,400; below 0 for a token that has expired. @default {3600} */
  readonly expiresInSeconds?: number | undefined;
  /**
   * The audience of the token. A token with another audience than the issuer's is refused. @default {audience or resource of the
   * issuer}
   */
  readonly audience?: string | undefined;
  /** @default {"development"} */
  readonly clientId?: string | undefined;
  /** Further claims, which handlers find in `ctx.principal.claims`. */
  readonly claims?: JsonObject | undefined;
}

/** Signs tokens for tests and development, and protects an endpoint that accepts only those. */
export interface DevelopmentIssuer {
  /** Pass it to `serveHttp`, `nodeHandler` or `fetchHandler`. */
  readonly auth: Auth;
  /** Signs a token, which is good until it expires or the process ends. */
  token(options?: DevelopmentTokenOptions): Promise<string>;
}

/** No name below `.invalid` can be looked up, so no server can answer for this issuer. */
const issuer = "https://development-issuer.invalid";
const name = "developmentIssuer()";
const algorithm = "ES256";
/** Seconds of a development token. Past it, `token()` throws a `ConfigurationError`. */
const longestSeconds = 86_400;

const { audience, requiredScopes, scopesSupported, scopeHierarchy } = knownBearerOptions;
const knownOptions: Known<DevelopmentIssuerOptions, { readonly resource: string }> = {
  resource: preset(text, "http://localhost:3000/mcp"),
  audience,
  requiredScopes,
  scopesSupported,
  scopeHierarchy,
};
type TokenSettings = Filled<Pick<DevelopmentTokenOptions, "subject" | "expiresInSeconds" | "clientId">>;

const lifetime = numberFrom(-longestSeconds, longestSeconds, `a number of seconds up to ${longestSeconds}`);

const knownToken: Known<DevelopmentTokenOptions, TokenSettings> = {
  subject: preset(filledText, "developer"),
  scopes: texts,
  expiresInSeconds: preset(lifetime, 3600),
  audience: filledText,
  clientId: preset(filledText, "development"),
  claims: plainObject,
};

/**
 * Protects an endpoint like `bearerAuth`, with tokens that you sign yourself: for tests, and for development without an
 * authorization server. It generates its keys when it starts and keeps them in memory. It throws if other machines may reach the
 * endpoint, or if `NODE_ENV` is `production`.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { developmentIssuer } from "halyard/auth";
 * import { serveHttp } from "halyard/node";
 *
 * const server = new McpServer({ name: "notes", version: "1.0.0" });
 * server.tool("write_note", { scopes: ["notes:write"] }, (_, ctx) => `Noted for ${ctx.principal?.subject}`);
 *
 * const issuer = developmentIssuer();
 * const { close } = await serveHttp(server, { port: 0, auth: issuer.auth });
 * console.log(await issuer.token({ subject: "alice", scopes: ["notes:write"] }));
 * await close();
 * ```
 */
export function developmentIssuer(options: DevelopmentIssuerOptions = {}): DevelopmentIssuer {
  checkOptions({ subject: "developmentIssuer" }, options, knownOptions);
  const { resource } = withDefaults(options, knownOptions);
  checkResource(resource);
  const kid = randomId(9);
  const pair = generateKeyPair(algorithm);
  const keys = pair.then(async ({ publicKey }): Promise<JSONWebKeySet> => ({
    keys: [{ ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" }],
  }));
  const { authenticate, ...auth } = protectWith(
    { ...options, resource, authorizationServers: [issuer] },
    keys,
  );
  return {
    auth: {
      ...auth,
      checkPlace,
      authenticate(request) {
        const message = strangerProblem(request);
        if (message !== undefined) return { status: 403, message, problem: message };
        return authenticate(request);
      },
    },
    async token(given = {}) {
      checkToken(given);
      const { privateKey } = await pair;
      const claims = claimsOf(given, { ...options, resource });
      return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: "at+jwt", kid }).sign(privateKey);
    },
  };
}

function claimsOf(given: DevelopmentTokenOptions, options: DevelopmentIssuerOptions): JsonObject {
  const { subject: sub, expiresInSeconds, clientId } = withDefaults(given, knownToken);
  const [first] = [options.audience ?? options.resource ?? []].flat();
  const { scopes = options.requiredScopes ?? [], audience: aud = first } = given;
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub, aud, client_id: clientId, scope: scopes.join(" "), jti: randomId(9) };
  return { ...given.claims, ...claims, iat: now, exp: now + expiresInSeconds };
}

function checkToken(given: DevelopmentTokenOptions): void {
  const subject = "token() of developmentIssuer";
  checkOptions({ subject }, given, knownToken);
  const problem = given.scopes && scopesProblem(given.scopes);
  if (problem !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject, field: "scopes" }, problem);
}

const inProduction = "in production, pass bearerAuth({ … }) with your authorization server";

/** Throws if other machines may reach the endpoint. */
function checkPlace({ addresses, allowedHosts, trustProxy }: EndpointPlace): void {
  const failAt = (field: string, value: string): never => {
    const remedy =
      "keep to 127.0.0.1 and localhost, or pass bearerAuth({ … }) with your authorization server";
    const problem = `${value}, but ${name} is for this machine only: ${remedy}`;
    throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field }, problem);
  };
  const address = addresses.find((each) => !isLoopbackAddress(each));
  if (address !== undefined) failAt("host", `is ${address}`);
  const bare = (host: string): string => host.replace(/:\d+$/, "").replace(/^\[(.+)\]$/, "$1");
  const host = allowedHosts.find((each) => !isLoopbackAddress(bare(each)));
  if (host !== undefined) failAt("allowedHosts", `has ${clip(host)}`);
  if (Number(trustProxy) > 0) failAt("trustProxy", `is ${trustProxy}`);
}

/** Throws for a public URL, and in production. */
function checkResource(resource: string): void {
  const isHere = urlProblem(resource) === undefined && isLoopback(new URL(resource));
  if (!isHere) {
    const shown = JSON.stringify(clip(resource));
    fail(
      "resource",
      `must be a URL of this machine, such as "http://localhost:3000/mcp", not ${shown}: ${inProduction}`,
    );
  }
  if (nodeEnvironment() === "production") fail("NODE_ENV", `is "production": ${inProduction}`);
}

/** Undefined in runtimes without environment variables, or without permission to read this one. */
function nodeEnvironment(): string | undefined {
  try {
    return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[
      "NODE_ENV"
    ];
  } catch {
    return undefined;
  }
}

/** Headers that only a proxy adds. The proxy may be on this machine although its client is not. */
const proxyHeaders = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
  "via",
];

/**
 * Why a request is refused that did not come from this machine. Its `Host` header proves nothing, because any client can send it.
 */
function strangerProblem(request: RequestHead): string | undefined {
  const { address } = request;
  const proxied = proxyHeaders.find((each) => request.header(each) !== undefined);
  if (proxied !== undefined)
    return `${name} is for this machine only, but the request passed a proxy, which added ${proxied}: ${inProduction}`;
  if (address === undefined || isLoopbackAddress(address.replace(/^::ffff:/i, ""))) return undefined;
  return `${name} is for this machine only, but the request comes from ${clip(address)}: ${inProduction}`;
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "developmentIssuer", field }, problem);
}
