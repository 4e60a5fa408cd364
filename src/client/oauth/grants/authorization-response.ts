// Judges the parameters with which a person comes back from the authorization server.
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  type Client,
  validateAuthResponse,
} from "oauth4webapi";
import { clip } from "../../../errors.ts";
import { OAuthError } from "../settings/errors.ts";

/** Returns the parameters if they answer the request with this `state` and hold a code; otherwise throws. */
export function checkResponse(
  as: AuthorizationServer,
  client: Client,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  // Before anything else is read: an answer of another server says nothing that may be shown.
  const iss = parameters.get("iss");
  if (iss === null ? as.authorization_response_iss_parameter_supported : iss !== as.issuer) {
    const from = iss === null ? "has no iss, which its metadata promises" : `has iss "${printable(iss)}"`;
    throw new OAuthError(
      "response",
      `The answer to the sign-in at "${as.issuer}" ${from}. It may come from another authorization server: sign in again, and make sure that the server sends its issuer as it is in its metadata`,
    );
  }
  try {
    const valid = validateAuthResponse(as, client, parameters, state);
    if (valid.get("code")) return valid;
  } catch (cause) {
    if (cause instanceof AuthorizationResponseError) {
      const { error, error_description: description = "" } = cause;
      throw new OAuthError("denied", printable(`${as.issuer} refused the sign-in: ${error} ${description}`), {
        cause,
      });
    }
    throw new OAuthError(
      "response",
      `The answer to the sign-in at ${as.issuer} is wrong: ${(cause as Error).message}`,
      { cause },
    );
  }
  throw new OAuthError("response", `The answer to the sign-in at ${as.issuer} has no code`);
}

/** A text of somebody else, for a terminal: short, without control characters. */
function printable(text: string): string {
  return clip(text.replace(/\p{C}+/gu, " ").trim());
}
