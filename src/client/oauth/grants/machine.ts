// The grants in which no person takes part: of a service, of a workload, and of an organisation for its people.
import {
  clientCredentialsGrantRequest,
  genericTokenEndpointRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { shownUrl } from "../../settings/shown.ts";
import { findAuthorizationServer } from "../net/discovery.ts";
import { OAuthError, shown } from "../settings/errors.ts";
import type { IdentityProvider, TextSource } from "../settings/options.ts";
import { authenticationOf } from "./client-authentication.ts";
import type { Party, TokenGrant } from "./grant.ts";
import { requestTokens } from "./token-request.ts";

const tokenType = "urn:ietf:params:oauth:token-type:";

/** The grant of a service that acts for itself: its authentication is all that it shows. */
export function clientCredentialsGrant(): TokenGrant {
  return machineGrant((party) =>
    requestTokens(party, (who, parameters, options) =>
      clientCredentialsGrantRequest(...who, parameters, options),
    ),
  );
}

/** The grant of a workload, which shows the JWT that its platform has given to it (RFC 7523). */
export function workloadGrant(assertion: TextSource): TokenGrant {
  return machineGrant(async (party) => requestByAssertion(party, await textOf("assertion", assertion)));
}

/** The grant of an organisation: its identity provider turns an ID token into a grant for one authorization server (ID-JAG). */
export function enterpriseGrant(provider: IdentityProvider): TokenGrant {
  return machineGrant(async (party) => requestByAssertion(party, await exchange(provider, party)));
}

function machineGrant(obtain: (party: Party) => Promise<TokenEndpointResponse>): TokenGrant {
  const begin: TokenGrant["begin"] = async () => ({
    obtain: (party, { signal }) => obtain({ ...party, signal }),
    end() {},
  });
  return { byPerson: false, begin };
}

/** Exchanges a JWT for tokens. */
function requestByAssertion(party: Party, assertion: string): Promise<TokenEndpointResponse> {
  const type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  return requestTokens(party, (who, parameters, options) =>
    genericTokenEndpointRequest(...who, type, { ...parameters, assertion }, options),
  );
}

/** Exchanges the ID token of the person for a grant of access to the resource (RFC 8693). */
async function exchange(provider: IdentityProvider, party: Party): Promise<string> {
  const idToken = await textOf("identityProvider.idToken", provider.idToken);
  const as = await findAuthorizationServer(provider.issuer, party.net);
  const client = { client_id: provider.clientId };
  const authentication = await authenticationOf(as, client, provider);
  const type = "urn:ietf:params:oauth:grant-type:token-exchange";
  const asked = {
    requested_token_type: `${tokenType}id-jag`,
    audience: party.as.issuer,
    subject_token: idToken,
    subject_token_type: `${tokenType}id_token`,
  };
  const response = await requestTokens(
    { ...party, as, client, authentication, dpop: undefined },
    (who, parameters, options) =>
      genericTokenEndpointRequest(...who, type, { ...parameters, ...asked }, options),
    ["n_a", "bearer"],
  );
  if (response["issued_token_type"] === `${tokenType}id-jag`) return response.access_token;
  throw new OAuthError(
    "token",
    `${shown(as.token_endpoint)} issued no ID-JAG for ${shown(party.as.issuer)}: see that ${shownUrl(provider.issuer)} supports enterprise-managed authorization for this client`,
  );
}

/** The current text of an option. Rejects if there is none. */
async function textOf(option: string, source: TextSource): Promise<string> {
  const text = typeof source === "function" ? await source() : source;
  // Files that hold a token end with a line break.
  if (typeof text === "string" && text.trim() !== "") return text.trim();
  throw new OAuthError("token", `The function ${option} returned no text`);
}
