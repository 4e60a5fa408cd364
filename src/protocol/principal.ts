// Compares, identifies and checks principals, and OAuth scopes: their syntax, and whether a caller has them.
import { mismatch } from "../base/kinds.ts";
import { isTexts } from "../base/wire/message.ts";
import type { Principal } from "./model.ts";

/** Whether both are the same caller; undefined, an anonymous caller, equals only undefined. */
export function isSamePrincipal(one: Principal | undefined, other: Principal | undefined): boolean {
  return one?.issuer === other?.issuer && one?.subject === other?.subject;
}

/** A unique key for a caller. It begins with a length so that no other issuer and subject give the same key. */
export function principalKey({ issuer, subject }: Principal): string {
  return `${issuer.length} ${issuer}${subject}`;
}

/** The issuer and subject alone, which are safe to store, log and observe. */
export function identityOf(principal: Principal): Principal;
export function identityOf(principal: Principal | undefined): Principal | undefined;
export function identityOf(principal: Principal | undefined): Principal | undefined {
  return principal && { issuer: principal.issuer, subject: principal.subject };
}

/**
 * Throws if `given`, a value from an author's code, is not a principal. `source` names its origin, `other` the other values that
 * are allowed.
 */
export function assertPrincipal(
  given: unknown,
  source: string,
  other?: string,
): asserts given is Principal | undefined {
  if (given === undefined) return;
  const { issuer, subject, scope, scopes, expiresAt } = Object(given) as Record<string, unknown>;
  const isText = (value: unknown): boolean => typeof value === "string";
  const problem =
    !isText(issuer) || !isText(subject)
      ? "issuer and subject must be strings"
      : scopes !== undefined && !isTexts(scopes)
        ? 'scopes must be a list of strings: split "a b" at the space'
        : scope !== undefined && scopes === undefined
          ? "it has scope: did you mean scopes, which is a list?"
          : expiryProblem(expiresAt);
  if (!problem) return;
  const others = other === undefined ? "undefined" : `undefined, ${other}`;
  throw new TypeError(
    `${source} must be ${others} or a principal { issuer, subject, scopes?, expiresAt? }: ${problem}`,
  );
}

/** Milliseconds since 1970 of any current token are above this number, and seconds stay below it for 3,000 years. */
const leastMs = 100_000_000_000;

/** A time in seconds would mean 1970: every stream of the caller would be closed at once. */
function expiryProblem(expiresAt: unknown): string | undefined {
  if (expiresAt === undefined) return undefined;
  if (typeof expiresAt !== "number" || Number.isNaN(expiresAt))
    return `expiresAt ${mismatch("a number of milliseconds since 1970", expiresAt)}`;
  if (expiresAt <= 0 || expiresAt >= leastMs) return undefined;
  return `expiresAt is ${expiresAt}, which looks like seconds: it is in milliseconds since 1970, so multiply by 1000`;
}

/** Whether a wall-clock time, such as the expiry of a token, has passed. */
export function isPast(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt;
}

/** RFC 6749: visible ASCII without quotation mark and backslash, so it needs no escaping in a header. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** What is wrong with an author's list of scopes, or undefined. */
export function scopesProblem(scopes: unknown): string | undefined {
  const isList =
    Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string" && scopeToken.test(scope));
  if (!isList)
    return 'must be a list such as ["notes:write"]: visible ASCII without spaces, quotes or backslashes';
  // A client requests refresh tokens from the authorization server; the resource server is not involved.
  if (scopes.includes("offline_access"))
    return "must not have offline_access: clients request it from the authorization server";
  return undefined;
}

/**
 * The permissions of a caller: its principal's scopes, `everything` for the local user, or undefined for a caller without scopes.
 */
export type Grant = Pick<Principal, "scopes"> | "everything" | undefined;

/** Whether the caller has every needed scope. */
export function isGranted(needed: readonly string[] | undefined, grant: Grant): boolean {
  if (needed === undefined || grant === "everything") return true;
  return needed.every((scope) => hasScope(grant, scope));
}

/** Whether a principal has the scope. Ignores `scopes` that are a string, since `includes` would match any part of it. */
export function hasScope(principal: Pick<Principal, "scopes"> | undefined, scope: string): boolean {
  const { scopes } = principal ?? {};
  return Array.isArray(scopes) && scopes.includes(scope);
}
