// The tokens that a client holds for one server.

import type { JWK } from "oauth4webapi";

/** What an authorization server has issued to one client for one resource. */
export interface Tokens {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly refreshToken?: string | undefined;
  /** In milliseconds since 1970; undefined if the authorization server did not say. */
  readonly expiresAt?: number | undefined;
  /** Every scope that was asked for so far. */
  readonly scopes: readonly string[];
  /** The private key that the tokens are bound to. */
  readonly dpopKey?: JWK | undefined;
}
