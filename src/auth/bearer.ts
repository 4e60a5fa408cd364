// An OAuth resource server: verifies bearer tokens, refuses others, and serves the metadata that clients need.
import type { JSONWebKeySet } from "jose";
import { addressKey } from "../base/addresses.ts";
import type { Principal } from "../protocol/model.ts";
import { isGranted } from "../protocol/principal.ts";
import {
  claimMistake,
  type ClaimRules,
  type TokenClaims,
  toPrincipal,
  Unavailable,
  type Verify,
} from "./claims.ts";
import { Discovery } from "./authorization-server.ts";
import {
  type Auth,
  type Authenticated,
  type AuthRefusal,
  challenge,
  described,
  refuseScopes,
} from "./authenticate.ts";
import { introspector } from "./introspection.ts";
import { jwtVerifier } from "./jwt.ts";
import { metadataPaths, metadataUrl, resourceMetadata } from "./metadata.ts";
import { type BearerAuthOptions, type BearerAuthSettings, readBearerAuth } from "./options.ts";

/**
 * Protects an endpoint with OAuth: it accepts only bearer tokens that the given authorization servers issued for this resource.
 * Clients find everything else in the metadata document that the endpoint serves.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { bearerAuth } from "halyard/auth";
 * import { serveHttp } from "halyard/node";
 *
 * const server = new McpServer({ name: "notes", version: "1.0.0" });
 * server.tool("write_note", { scopes: ["notes:write"] }, (_, ctx) => `Noted for ${ctx.principal?.subject}`);
 *
 * const auth = bearerAuth({
 *   resource: "https://mcp.example.com/mcp",
 *   authorizationServers: ["https://auth.example.com"],
 * });
 * const { close } = await serveHttp(server, { port: 0, auth });
 * await close();
 * ```
 */
export function bearerAuth(options: BearerAuthOptions): Auth {
  return protectWith(options);
}

/** Like `bearerAuth`, with keys that are still being generated. */
export function protectWith(options: BearerAuthOptions, keys?: Promise<JSONWebKeySet>): Auth {
  const settings = readBearerAuth(options);
  const { resource, requiredScopes } = settings;
  const servers = settings.authorizationServers.map((issuer) => new Discovery(issuer));
  const rules = rulesOf(settings);
  const verify = verifierOf(settings, servers, keys);
  const parameters = [`resource_metadata="${metadataUrl(resource)}"`];
  const wanted = requiredScopes.length === 0 ? [] : [`scope="${requiredScopes.join(" ")}"`];
  const noToken = refuseToken(401, tokenIsMissing, [...parameters, ...wanted]);
  const malformed = refuseError(400, "invalid_request", headerIsMalformed, parameters);
  const lacking = (needed: readonly string[], principal: Principal | undefined): AuthRefusal =>
    refuseScopes([...new Set([...requiredScopes, ...needed])], principal, parameters);

  const authenticate = async (header: string, caller: string): Promise<Authenticated> => {
    const token = bearerToken.exec(header)?.[1];
    if (token === undefined || token.length > maxTokenLength) return malformed;
    const principal = await identify(() => verify(token, caller), rules, settings.verify !== undefined);
    if ("invalid" in principal) {
      const { invalid, problem } = principal;
      const refusal = refuseError(401, "invalid_token", invalid, [...parameters, ...wanted]);
      return problem === undefined ? refusal : { ...refusal, problem };
    }
    if ("status" in principal) return principal;
    return isGranted(requiredScopes, principal) ? principal : lacking([], principal);
  };
  return {
    resource,
    authenticate(request) {
      const header = request.header("authorization");
      if (header === undefined || !isBearer.test(header)) return noToken;
      return authenticate(header, addressKey(request.address ?? ""));
    },
    refuseScopes: lacking,
    documents: documentsOf(settings, servers),
  };
}

const isBearer = /^bearer(?: |$)/i;
const bearerToken = /^bearer +([\w.~+/-]+=*) *$/i;
/** Characters of a token. Past it, the server responds with 400. */
const maxTokenLength = 16 * 1024;
const tokenIsMissing = "A bearer token is required: send it as Authorization: Bearer <token>";
const headerIsMalformed = `The Authorization header must be Bearer, a space and one token of at most ${maxTokenLength} characters`;

/** The problem of a token, and a detail for the operator. */
interface InvalidToken {
  readonly invalid: string;
  readonly problem?: string;
}

/** Returns the principal of the token, its problem, or a 503 if the token cannot be verified now. */
async function identify(
  verify: () => ReturnType<Verify>,
  rules: ClaimRules,
  isOwnCode: boolean,
): Promise<Principal | InvalidToken | AuthRefusal> {
  try {
    const claims = await verify();
    if (claims === saidYes)
      return { invalid: notValid, problem: `verify() returned true, ${wantedOf(rules)}` };
    if (typeof claims === "string") return { invalid: claims };
    const principal = toPrincipal(claims, rules);
    if (typeof principal !== "string") return principal;
    const mistake =
      claims.aud === undefined ? `claims without aud, ${wantedOf(rules)}` : claimMistake(claims);
    const isKnown = isOwnCode && mistake !== undefined;
    return { invalid: principal, ...(isKnown && { problem: `verify() returned ${mistake}` }) };
  } catch (error) {
    if (isOwnCode && isRejection(error)) return { invalid: notValid };
    // The message of an error in the author's `verify` may contain the token.
    const problem =
      error instanceof Unavailable
        ? error.message
        : `verify() threw a ${nameOf(error)}: return undefined for a token that is not valid`;
    // Not 401, for which a client would discard its token.
    const message = "Cannot verify tokens right now";
    return { status: 503, message, headers: { "retry-after": "5" }, problem: `${message}: ${problem}` };
  }
}

/** The end of the warning about claims from `verify` that lack an expected member: which claims to return. */
function wantedOf({ audiences }: ClaimRules): string {
  const claims = `{ sub, aud: ${JSON.stringify(audiences[0])}, scope, exp }`;
  return `so the token was refused: return claims such as ${claims}, with aud only if the token is for this server and exp in seconds`;
}

/** The errors of libraries for an invalid token, by `code`, `errorCode` or `name`. */
const rejections: ReadonlySet<unknown> = new Set([
  // jose
  "ERR_JWT_EXPIRED",
  "ERR_JWT_CLAIM_VALIDATION_FAILED",
  "ERR_JWT_INVALID",
  "ERR_JWS_INVALID",
  "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
  "ERR_JWKS_NO_MATCHING_KEY",
  "ERR_JOSE_ALG_NOT_ALLOWED",
  // jsonwebtoken
  "TokenExpiredError",
  "JsonWebTokenError",
  "NotBeforeError",
  // the official SDK
  "invalid_token",
]);

function isRejection(error: unknown): boolean {
  const { code, errorCode, name } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return rejections.has(code) || rejections.has(errorCode) || rejections.has(name);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}

const notValid = "The token is not valid";
const saidYes = "true";

/** Accepts only an object from the author's `verify`: a string could contain the token. */
function asClaims(answer: unknown): TokenClaims | string {
  if (answer === true) return saidYes;
  return typeof answer === "object" && answer !== null ? (answer as TokenClaims) : notValid;
}

function verifierOf(
  settings: BearerAuthSettings,
  authorizationServers: readonly Discovery[],
  keys: Promise<JSONWebKeySet> | undefined,
): Verify {
  const { introspection, verify, algorithms, requireTokenType, clockToleranceSeconds } = settings;
  const [first] = authorizationServers;
  if (verify !== undefined) return async (token) => asClaims(await verify(token));
  if (introspection !== undefined && first !== undefined) return introspector(first, introspection);
  const jwks = keys ?? settings.jwks;
  return jwtVerifier({ authorizationServers, jwks, algorithms, requireTokenType, clockToleranceSeconds });
}

function rulesOf(settings: BearerAuthSettings): ClaimRules {
  const { resource, audience, authorizationServers, scopeHierarchy, clockToleranceSeconds } = settings;
  return {
    issuers: [...authorizationServers],
    // URL libraries add a slash to a bare host, so some clients request a token for that form.
    audiences: audience === undefined ? [...new Set([resource, new URL(resource).href])] : [audience].flat(),
    clockToleranceSeconds,
    included: new Map(Object.entries(scopeHierarchy)),
  };
}

function documentsOf(settings: BearerAuthSettings, servers: readonly Discovery[]): Auth["documents"] {
  const text = resourceMetadata(settings);
  const documents = new Map<string, () => string | Promise<string>>(
    metadataPaths(settings.resource).map((path) => [path, () => text]),
  );
  const [first] = servers;
  if (settings.passServerMetadata && first !== undefined) {
    documents.set("/.well-known/oauth-authorization-server", async () =>
      JSON.stringify(await first.metadata()),
    );
  }
  return documents;
}

function refuseError(
  status: 400 | 401,
  error: string,
  message: string,
  parameters: readonly string[],
): AuthRefusal {
  return refuseToken(status, message, [`error="${error}"`, described(message), ...parameters]);
}

function refuseToken(status: 400 | 401, message: string, parameters: readonly string[]): AuthRefusal {
  return { status, message, headers: challenge(parameters) };
}
