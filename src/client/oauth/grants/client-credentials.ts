// The grant of a service that acts for itself: its authentication is all that it shows.
import type { Grant } from "./grant.ts";
import { machineGrant } from "./machine.ts";
import { requestGrant } from "./token-request.ts";

export function clientCredentialsGrant(): Grant {
  return machineGrant((party) => requestGrant(party, "client_credentials", {}));
}
