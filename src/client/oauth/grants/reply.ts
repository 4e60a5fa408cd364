// What an endpoint of an authorization server replied, how errors say it, and what to do about it.
import { isObject } from "../../../base/wire/message.ts";
import { Secrets } from "../../redaction/secrets.ts";
import { shown } from "../settings/errors.ts";
import type { Party } from "./grant.ts";

export interface TokenReply {
  readonly response: Response;
  /** The JSON, without what is null; undefined if it is not an object. */
  readonly body: { readonly [name: string]: unknown } | undefined;
  /** The `error` of its body. */
  readonly error: string | undefined;
  /** What is wrong, if something is. */
  readonly problem: string;
}

/**
 * Reads a reply before oauth4webapi does, which takes an `error` only from a 4xx that is JSON and has no `WWW-Authenticate`. `secrets`: what
 * the request contained, because some servers show in an error what they received.
 */
export async function readReply(response: Response, secrets: Secrets = new Secrets()): Promise<TokenReply> {
  const text = await response.text();
  const body = parse(text);
  const { ok, status } = response;
  const isRefusal = !ok || body?.["error"] !== undefined;
  const { error, error_description: description } = (isRefusal ? await secrets.clean(body) : body) ?? {};
  const inBrackets = (said: unknown): string => (said && typeof said === "string" ? ` (${shown(said)})` : "");
  if (typeof error === "string")
    return { response, body, error, problem: shown(error) + inBrackets(description) };
  const isPage = /^\s*</.test(text);
  // What is not a refusal may contain tokens.
  const what = isPage
    ? " and an HTML page"
    : ok
      ? body
        ? ""
        : " and a body that is not JSON"
      : inBrackets(await secrets.clean(text));
  return { response, body, error: undefined, problem: `HTTP status ${status}${what}` };
}

/** Leaves out ID tokens: they are not used, so they need not be verified. */
function parse(text: string): TokenReply["body"] {
  try {
    const body: unknown = JSON.parse(text, (name, value: unknown) =>
      value === null || name === "id_token" ? undefined : value,
    );
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

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

/** What to do about an `error`, after a colon; empty if that is not known. */
export function remedyOf(error: string, description: unknown, { resource, scopes }: Party): string {
  const isUnknownParameter = error === "invalid_request" && /\bresource\b/i.test(String(description));
  if (error === "invalid_target" || isUnknownParameter)
    return `: MCP requires the parameter resource; let the authorization server accept ${shown(resource)}`;
  if (scopes.length === 0 && error === "access_denied")
    return ": unless a person declined, the authorization server wants a scope, and the MCP server names none: pass scopes";
  return Object.hasOwn(remedies, error) ? `: ${remedies[error]}` : "";
}
