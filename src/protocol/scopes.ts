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

/** Those of the scopes that the caller lacks. */
export function missingScopes(needed: readonly string[], principal: Principal | undefined): string[] {
  return needed.filter((scope) => !principal?.scopes?.includes(scope));
}
