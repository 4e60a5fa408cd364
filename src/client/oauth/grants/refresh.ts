// Refreshes tokens, and tells a refresh token that is dead from one that may work later.
import type { TokenEndpointResponse } from "oauth4webapi";
import type { Party } from "./grant.ts";
import { requestGrant, TokenRefusal } from "./token-request.ts";

/** Asks for new tokens, with the scopes of the old ones. */
export function refreshTokens(party: Party, refreshToken: string): Promise<TokenEndpointResponse> {
  return requestGrant({ ...party, scopes: [] }, "refresh_token", { refresh_token: refreshToken });
}

/** Whether a refresh token will never work again. After any other failure, keep it. */
export function isDead(error: unknown): boolean {
  return error instanceof TokenRefusal && error.error === "invalid_grant";
}

/** Whether the authorization server does not know the client, or no longer. */
export function isUnknownClient(error: unknown): boolean {
  return error instanceof TokenRefusal && error.error === "invalid_client";
}
