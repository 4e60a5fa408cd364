// OAuth scopes: their syntax, and whether a caller has them.
import type { Principal } from "./model.ts";

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
