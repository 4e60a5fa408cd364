// The grant of an organisation: its identity provider turns an ID token into a grant for one authorization server (ID-JAG).
import { findAuthorizationServer } from "../discovery/server-metadata.ts";
import { shown } from "../net/shown.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import type { IdentityProvider } from "../settings/options.ts";
import { authenticationOf } from "./client-authentication.ts";
import type { Grant, Party } from "./grant.ts";
import { machineGrant, textOf } from "./machine.ts";
import { requestGrant } from "./token-request.ts";
import { requestByAssertion } from "./workload.ts";

const tokenType = "urn:ietf:params:oauth:token-type:";

export function enterpriseGrant(provider: IdentityProvider): Grant {
  return machineGrant(async (party) => requestByAssertion(party, await exchange(provider, party)));
}

/** Exchanges the ID token of the person for a grant of access to the resource (RFC 8693). */
async function exchange(provider: IdentityProvider, party: Party): Promise<string> {
  const idToken = await textOf("identityProvider.idToken", provider.idToken);
  const as = await findAuthorizationServer(provider.issuer, party.net);
  const client = { client_id: provider.clientId };
  const authentication = await authenticationOf(as, client, provider);
  const response = await requestGrant(
    { ...party, as, client, authentication, dpop: undefined },
    "urn:ietf:params:oauth:grant-type:token-exchange",
    {
      requested_token_type: `${tokenType}id-jag`,
      audience: party.as.issuer,
      subject_token: idToken,
      subject_token_type: `${tokenType}id_token`,
    },
    ["n_a", "bearer"],
  );
  if (response["issued_token_type"] === `${tokenType}id-jag`) return response.access_token;
  throw new OAuthError(
    "token",
    `${shown(as.token_endpoint)} issued no ID-JAG for ${shown(party.as.issuer)}: see that ${shownUrl(provider.issuer)} supports enterprise-managed authorization for this client`,
  );
}
