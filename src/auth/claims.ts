// Turns the claims of a verified token into a principal, and checks issuer, audience and times of every token.
import { clip } from "../base/errors.ts";
import { mismatch } from "../base/kinds.ts";
import type { Principal } from "../protocol/model.ts";
import type { JsonObject } from "../base/wire/message.ts";

/** The claims of a token, with the names of JWT (RFC 7519, 9068) and of introspection (RFC 7662). */
export interface TokenClaims {
  /** @default {the authorization server, if there is only one} */
  readonly iss?: string | undefined;
  /** @default {the client, which acts for itself} */
  readonly sub?: string | undefined;
  readonly aud?: string | readonly string[] | undefined;
  /** In seconds since 1970. */
  readonly exp?: number | undefined;
  /** In seconds since 1970. */
  readonly nbf?: number | undefined;
  /** Separated by spaces, or an array. */
  readonly scope?: string | readonly string[] | undefined;
  readonly client_id?: string | undefined;
  readonly [claim: string]: unknown;
}

/** The requirements for a token. */
export interface ClaimRules {
  readonly issuers: readonly string[];
  /** The first one is named in errors. */
  readonly audiences: readonly string[];
  readonly clockToleranceSeconds: number;
  /** By scope: every other scope that it includes. */
  readonly included: ReadonlyMap<string, readonly string[]>;
}

/** Seconds since 1970 of any current token are below this number, and milliseconds are above it. */
const mostSeconds = 1_000_000_000_000;

/** The problem of claims that the author's own code returned, without their values, which must not be logged. */
export function claimMistake({ sub, exp }: TokenClaims): string | undefined {
  const refused = "so the token was refused";
  if (sub !== undefined && typeof sub !== "string")
    return `sub, which ${mismatch("a text", sub, true)}, ${refused}`;
  if (exp === undefined) return undefined;
  if (typeof exp !== "number")
    return `exp, which ${mismatch("a number of seconds since 1970", exp, true)}, ${refused}`;
  if (!Number.isFinite(exp) || exp < mostSeconds) return undefined;
  return `exp, which looks like milliseconds, ${refused}: it is in seconds, so divide it by 1000`;
}

/** Returns the principal, or the problem of the token, without repeating its claims. */
export function toPrincipal(claims: TokenClaims, rules: ClaimRules): Principal | string {
  const issuer = claims.iss ?? (rules.issuers.length === 1 ? rules.issuers[0] : undefined);
  const clientId = [claims.client_id, claims["azp"]].find((id) => typeof id === "string");
  // Introspection often omits the subject of a client that acts for itself.
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
  if (typeof issuer !== "string" || !issuers.includes(issuer)) return otherIssuer(issuers);
  if (!named.some((name) => audiences.includes(name)))
    return `The token is not for this resource: its audience must be ${choices(audiences)}`;
  if (typeof use === "string" && !use.startsWith("access")) return "The token is not an access token";
  if (typeof subject !== "string" || subject === "") return "The token has no subject";
  if (exp !== undefined && !(Number.isFinite(exp) && exp < mostSeconds))
    return "The token has no valid expiry";
  if (exp !== undefined && exp + clockToleranceSeconds <= now) return "The token has expired";
  if (nbf !== undefined && !(Number.isFinite(nbf) && nbf - clockToleranceSeconds <= now))
    return "The token is not valid yet";
  // The token is valid only with proof of a key, which this server does not check.
  if (cnf !== undefined) return "The token is bound to a key and cannot be used as a bearer token";
  return undefined;
}

/** The problem of a token whose issuer is none of these. */
export function otherIssuer(issuers: readonly string[]): string {
  return `The token is from another issuer: this server accepts tokens of ${choices(issuers)}`;
}

/** Values that a sentence offers; further ones are left out. */
const maxChoices = 3;

function choices(values: readonly string[]): string {
  return values.slice(0, maxChoices).map(clip).join(" or ");
}

/** Reads `scope`, or `scp`, which some authorization servers use instead. */
function readScopes({ scope, scp }: TokenClaims): string[] {
  const given = scope ?? scp;
  if (Array.isArray(given)) return given.filter((each) => typeof each === "string");
  return typeof given === "string" ? given.split(" ").filter((each) => each !== "") : [];
}

/** Adds the scopes that others include, at every level. */
function withIncluded(scopes: readonly string[], included: ClaimRules["included"]): string[] {
  const all = new Set(scopes);
  // Iterating a `Set` also visits the items that the loop adds.
  for (const scope of all) for (const lower of included.get(scope) ?? []) all.add(lower);
  return [...all];
}

/**
 * Returns the claims of the token, or its problem. Throws {@link Unavailable} if it cannot be verified now. Limits count it for
 * `caller`, the address of the client, because the principal is not known yet.
 */
export type Verify = (token: string, caller: string) => Promise<TokenClaims | string>;

/** Thrown when the authorization server cannot be reached. */
export class Unavailable extends Error {}
