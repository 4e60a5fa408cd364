// Judges the parameters with which a person comes back from the authorization server. oauth4webapi would take 2 KB for it, and say less.
import { shown } from "../net/shown.ts";
import { OAuthError, type OAuthProblem } from "../settings/errors.ts";
import type { Party } from "./grant.ts";
import { remedyOf } from "./remedies.ts";

/** Returns the code if the parameters answer the request with this `state`; otherwise throws. */
export function codeOf(party: Party, parameters: URLSearchParams, state: string): string {
  const { as } = party;
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
      iss === undefined
        ? "has no iss: add it there, or drop authorization_response_iss_parameter_supported from the metadata"
        : `has iss ${shown(iss)}: it must equal the issuer`,
    );
  if (found !== state) fail("response", "has another state");
  if (error) {
    const said = shown(error) + (description ? ` (${shown(description)})` : "");
    fail("denied", `is a refusal: ${said}${remedyOf(error, description, party)}`);
  }
  return code || fail("response", "has no code");
}
