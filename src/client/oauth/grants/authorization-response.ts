// Judges the parameters with which a person comes back from the authorization server.
import { AuthorizationResponseError, validateAuthResponse } from "oauth4webapi";
import { shown } from "../net/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import type { Party } from "./grant.ts";

/** Returns the code if the parameters answer the request with this `state`; otherwise throws. */
export function codeOf({ as, client }: Party, parameters: URLSearchParams, state: string): string {
  const whose = `The answer to the sign-in at ${shown(as.issuer)}`;
  // Before anything else is read: nothing may be shown of what another server says.
  const iss = parameters.get("iss");
  if (iss === null ? as.authorization_response_iss_parameter_supported : iss !== as.issuer) {
    const found = iss === null ? "has no iss, though its metadata announces it" : `has iss ${shown(iss)}`;
    throw new OAuthError(
      "response",
      `${whose} ${found}: another server may have sent it. Make iss equal to the issuer at the authorization server`,
    );
  }
  try {
    const code = validateAuthResponse(as, client, parameters, state).get("code");
    if (code) return code;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError))
      throw new OAuthError("response", `${whose} is not valid: ${(error as Error).message}`);
    const { error: name, error_description: description } = error;
    const why = description === undefined ? "" : ` (${shown(description)})`;
    throw new OAuthError("denied", `${shown(as.issuer)} refused the sign-in with ${shown(name)}${why}`);
  }
  throw new OAuthError("response", `${whose} has no code`);
}
