// Verifies JSON Web Tokens with the keys of their issuer, which it fetches when needed and caches.
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from "jose";
import { boundedFetch, type Discovery, retryMs } from "./authorization-server.ts";
import { otherIssuer, type TokenClaims, Unavailable, type Verify } from "./claims.ts";

/** The accepted token types: many authorization servers do not use the one of RFC 9068. */
const lenientTypes = new Set([undefined, "jwt", "at+jwt", "application/at+jwt"]);
const strictTypes = new Set(["at+jwt", "application/at+jwt"]);

export interface JwtOptions {
  readonly authorizationServers: readonly Discovery[];
  /** The keys or their URL. Without it, the metadata of the issuer names the URL. */
  readonly jwks: string | JSONWebKeySet | Promise<JSONWebKeySet> | undefined;
  readonly algorithms: readonly string[];
  readonly requireTokenType: boolean;
  readonly clockToleranceSeconds: number;
}

/** Verifies the signature and the type of a token; `toPrincipal` checks its claims. */
export function jwtVerifier(options: JwtOptions): Verify {
  const { algorithms, clockToleranceSeconds, requireTokenType } = options;
  const keys = new Map(
    options.authorizationServers.map((server) => [server.issuer, keysOf(server, options.jwks)]),
  );
  const types = requireTokenType ? strictTypes : lenientTypes;
  const limits = {
    algorithms: [...algorithms],
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ["exp"],
  };
  return async (token) => {
    const claims = claimsOf(token);
    if (claims === undefined) return "The token is not a signed JSON Web Token (JWT)";
    // A Map finds nothing for an issuer that is not a text.
    const issuerKeys = keys.get(claims.iss as string);
    if (issuerKeys === undefined) return otherIssuer([...keys.keys()]);
    try {
      const { payload, protectedHeader } = await verifySigned(token, issuerKeys, limits);
      const type = protectedHeader.typ?.toLowerCase();
      return types.has(type) ? (payload as TokenClaims) : "The token is not an access token";
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      return problemOf(error);
    }
  };
}

/** Keys tried for a token. Only a token that names no key is tried with several. Past it, the server responds with 401. */
const maxTries = 4;

/** Like `jwtVerify`, but tries several keys: a token need not name its key, and there are several while keys are rotated. */
async function verifySigned(
  token: string,
  keys: JWTVerifyGetKey,
  limits: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, limits);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tries = 0;
    for await (const key of error) {
      const found = await jwtVerify(token, key, limits).catch((problem: unknown) => {
        // An unusable key, such as a short one, counts as one that does not match. Other errors are those of the token.
        const isOfKey =
          problem instanceof errors.JWSSignatureVerificationFailed || !(problem instanceof errors.JOSEError);
        if (!isOfKey) throw problem;
      });
      if (found !== undefined) return found;
      if (++tries === maxTries) break;
    }
    throw error;
  }
}

/** The unverified claims, whose issuer only selects the keys to try. */
function claimsOf(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/** Replaces errors of the library, whose messages contain claims of the token. */
function problemOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "The token has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === "nbf" ? "The token is not valid yet" : "The token has no valid expiry";
  }
  return "The signature of the token is not valid";
}

function keysOf(server: Discovery, jwks: JwtOptions["jwks"]): JWTVerifyGetKey {
  if (jwks instanceof Promise) return async (header, token) => createLocalJWKSet(await jwks)(header, token);
  if (typeof jwks === "object") return createLocalJWKSet(jwks);
  let remote: JWTVerifyGetKey | undefined;
  let source: string | undefined;
  let retryAt = 0;
  // Only the fetch has this delay: after a failed fetch for an unknown key id, tokens with cached keys still work.
  const fetchKeys: typeof boundedFetch = async (url, init) => {
    if (performance.now() < retryAt) throw new Unavailable("Fetching the keys failed a moment ago");
    return boundedFetch(url, init);
  };
  const open = async (): Promise<JWTVerifyGetKey> => {
    const url = new URL(jwks ?? (await server.endpoint("jwks_uri")));
    source = url.href;
    return (remote ??= createRemoteJWKSet(url, { [customFetch]: fetchKeys }));
  };
  return async (header, token) => {
    try {
      const find = remote ?? (await open());
      return await find(header, token);
    } catch (error) {
      if (error instanceof Unavailable || !isUnavailable(error)) throw error;
      retryAt = performance.now() + retryMs;
      const reason = error instanceof Error ? error.message : String(error);
      throw new Unavailable(
        source === undefined ? reason : `Could not fetch the keys at ${source}: ${reason}`,
      );
    }
  };
}

/** Whether fetching the keys failed; if no key matches, the token is invalid instead. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"].includes(error.code);
}
