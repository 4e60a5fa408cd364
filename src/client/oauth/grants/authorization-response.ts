// Judges the parameters with which a person comes back from the authorization server.
import { shown } from "../net/shown.ts";
import { OAuthError, type OAuthProblem } from "../settings/errors.ts";
import type { Party } from "./grant.ts";

/** Returns the code if the parameters answer the request with this `state`; otherwise throws. */
export function codeOf({ as }: Party, parameters: URLSearchParams, state: string): string {
  const fail = (problem: OAuthProblem, why: string): never => {
    throw new OAuthError(problem, `The answer to the sign-in at ${shown(as.issuer)} ${why}`);
  };
  const [iss, found, error, description, code] = ["iss", "state", "error", "error_description", "code"].map(
    (name) => {
      const [value, ...others] = parameters.getAll(name);
      return others.length > 0 ? fail("response", `has ${name} twice`) : value;
    },
  );
  // Before the rest: nothing of what another server says may be shown.
  if (iss === undefined ? as.authorization_response_iss_parameter_supported : iss !== as.issuer)
    fail(
      "response",
      `has ${iss === undefined ? "no iss, which is announced" : `iss ${shown(iss)}`}: they must be equal`,
    );
  if (found !== state) fail("response", "has another state");
  if (error) fail("denied", `is a refusal: ${shown(error)}${description ? ` (${shown(description)})` : ""}`);
  return code || fail("response", "has no code");
}
