// Scopes: the words of OAuth for what a caller may do.
import type { Principal } from "./model.ts";

/** RFC 6749: visible ASCII without the quotation mark and the backslash, so that it fits into a header as it is. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** What is wrong with a list of scopes that an author wrote; undefined if nothing is. */
export function scopesProblem(scopes: unknown): string | undefined {
  const isList =
    Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string" && scopeToken.test(scope));
  if (!isList) return 'must be a list of scopes such as ["notes:write"]: visible ASCII, no blanks or quotes';
  // Whether a client may stay signed in is between it and the authorization server.
  if (scopes.includes("offline_access"))
    return "must not have offline_access: clients ask the authorization server for it";
  return undefined;
}

/** What a caller may use: what its principal was granted; everything, if it is the user itself; nothing that names scopes otherwise. */
export type Grant = Pick<Principal, "scopes"> | "everything" | undefined;

/** Whether the caller has every scope that is needed. */
export function isGranted(needed: readonly string[] | undefined, grant: Grant): boolean {
  if (needed === undefined || grant === "everything") return true;
  return needed.every((scope) => hasScope(grant, scope));
}

/** Whether a principal was granted the scope. A text is no list: it would grant every part of itself. */
export function hasScope(principal: Pick<Principal, "scopes"> | undefined, scope: string): boolean {
  const { scopes } = principal ?? {};
  return Array.isArray(scopes) && scopes.includes(scope);
}
