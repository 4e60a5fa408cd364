// From what a token says to who is calling: every token is checked here, whoever has verified it.
import type { Principal } from "../protocol/model.ts";
import type { JsonObject } from "../wire/message.ts";

/** What a token says, in the words of JWT (RFC 7519, 9068) and of introspection (RFC 7662). */
export interface TokenClaims {
  /** @default {the authorization server, where there is only one} */
  readonly iss?: string | undefined;
  /** @default {the client, which acts for itself} */
  readonly sub?: string | undefined;
  readonly aud?: string | readonly string[] | undefined;
  /** In seconds since 1970. */
  readonly exp?: number | undefined;
  /** In seconds since 1970. */
  readonly nbf?: number | undefined;
  /** Separated by blanks, or a list. */
  readonly scope?: string | readonly string[] | undefined;
  readonly client_id?: string | undefined;
  readonly [claim: string]: unknown;
}

/** What is asked of a token. */
export interface ClaimRules {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly clockToleranceSeconds: number;
  /** By scope: every other scope that it includes. */
  readonly included: ReadonlyMap<string, readonly string[]>;
}

/** Who is calling, or what is wrong with the token: nothing that it says is repeated. */
export function toPrincipal(claims: TokenClaims, rules: ClaimRules): Principal | string {
  const issuer = claims.iss ?? (rules.issuers.length === 1 ? rules.issuers[0] : undefined);
  const clientId = [claims.client_id, claims["azp"]].find((id) => typeof id === "string");
  // A client that acts for itself is its own subject; introspection often leaves that out.
  const subject = claims.sub ?? clientId;
  const problem = claimsProblem(claims, { issuer, subject }, rules);
  if (problem !== undefined) return problem;
  return {
    issuer: issuer as string,
    subject: subject as string,
    scopes: withIncluded(readScopes(claims), rules.included),
    clientId: clientId as string | undefined,
    expiresAt: claims.exp && (claims.exp + rules.clockToleranceSeconds) * 1000,
    claims: claims as JsonObject,
  };
}

function claimsProblem(
  { aud, exp, nbf, cnf, token_use: use }: TokenClaims,
  { issuer, subject }: { readonly issuer: unknown; readonly subject: unknown },
  { issuers, audiences, clockToleranceSeconds }: ClaimRules,
): string | undefined {
  const now = Date.now() / 1000;
  const named = typeof aud === "string" ? [aud] : Array.isArray(aud) ? aud : [];
  if (typeof issuer !== "string" || !issuers.includes(issuer)) return "The token is of another issuer";
  if (!named.some((name) => audiences.includes(name))) return "The token is not for this resource";
  if (typeof use === "string" && !use.startsWith("access")) return "The token is no access token";
  if (typeof subject !== "string" || subject === "") return "The token does not say whose it is";
  if (exp !== undefined && !Number.isFinite(exp)) return "The token has no valid expiry";
  if (exp !== undefined && exp + clockToleranceSeconds <= now) return "The token has expired";
  if (nbf !== undefined && !(nbf - clockToleranceSeconds <= now)) return "The token is not valid yet";
  // Bound to a key that a bearer need not have: taking it without proof would undo that.
  if (cnf !== undefined) return "The token is bound to a key, and cannot be used as a bearer token";
  return undefined;
}

/** Under the name of the standard, or the one that some authorization servers use instead. */
function readScopes({ scope, scp }: TokenClaims): string[] {
  const given = scope ?? scp;
  if (Array.isArray(given)) return given.filter((each) => typeof each === "string");
  return typeof given === "string" ? given.split(" ").filter((each) => each !== "") : [];
}

/** A scope may stand above others; whoever has it has them too. */
function withIncluded(scopes: readonly string[], included: ClaimRules["included"]): string[] {
  const all = new Set(scopes);
  // A set hands out what is added while it is gone through, so that this reaches every level.
  for (const scope of all) for (const lower of included.get(scope) ?? []) all.add(lower);
  return [...all];
}
