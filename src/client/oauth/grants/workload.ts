// The grant of a workload, which shows the JWT that its platform has given to it (RFC 7523).
import type { TokenEndpointResponse } from "oauth4webapi";
import type { TextSource } from "../settings/options.ts";
import type { Grant, Party } from "./grant.ts";
import { machineGrant, textOf } from "./machine.ts";
import { requestGrant } from "./token-request.ts";

export function workloadGrant(assertion: TextSource): Grant {
  return machineGrant(async (party) => requestByAssertion(party, await textOf("assertion", assertion)));
}

/** Exchanges a JWT for tokens. */
export function requestByAssertion(party: Party, assertion: string): Promise<TokenEndpointResponse> {
  return requestGrant(party, "urn:ietf:params:oauth:grant-type:jwt-bearer", { assertion });
}
