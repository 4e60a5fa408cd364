// What to do about an `error` of an authorization server, in the response to a person or to a request for a token.
import { shown } from "../net/shown.ts";
import type { Party } from "./grant.ts";

const remedies: { readonly [error: string]: string } = {
  invalid_client:
    "check clientId, its secret or key, and token_endpoint_auth_methods_supported in the metadata",
  invalid_grant:
    "the code, token or assertion has expired, was used before, or is for another client or audience",
  invalid_scope: "ask for other scopes, or allow these for the client",
  unauthorized_client: "allow this grant for the client",
  unsupported_grant_type: "enable this grant at the authorization server",
  invalid_dpop_proof: "check the clock of this machine, or drop the option dpop",
  use_dpop_nonce: "it wants another nonce each time",
};

/** Says what to do, after a colon; says nothing if that is not known. */
export function remedyOf(error: string, description: unknown, { resource, scopes }: Party): string {
  const isUnknownParameter = error === "invalid_request" && /\bresource\b/i.test(String(description));
  if (error === "invalid_target" || isUnknownParameter)
    return `: MCP requires the parameter resource; let the authorization server accept ${shown(resource)}`;
  if (scopes.length === 0 && error === "access_denied")
    return ": unless a person declined, the authorization server wants a scope, and the MCP server names none: pass scopes";
  return Object.hasOwn(remedies, error) ? `: ${remedies[error]}` : "";
}
