// The seam between what obtains tokens and what uses them.
import type { AuthorizationServer, Client, ClientAuth, TokenEndpointResponse } from "oauth4webapi";
import type { Net } from "../net/net.ts";
import type { Proofs } from "./proofs.ts";

/** The parties of a grant: an authorization server, this client as it is known there, and the resource that tokens are for. */
export interface Party {
  /** The URL of the MCP server. */
  readonly server: string;
  readonly as: AuthorizationServer;
  readonly client: Client;
  /** How the client proves who it is at the token endpoint. */
  readonly authentication: ClientAuth;
  /** The value of `resource`, byte for byte. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly net: Net;
  /** Aborted when the tokens are no longer needed; undefined if they must not be lost. */
  readonly signal?: AbortSignal | undefined;
  readonly dpop: Proofs | undefined;
}

/** The requests that wait for tokens. */
export interface GrantWait {
  /** Aborted when no request waits any longer. A person may still finish a sign-in that has begun; it keeps no process alive. */
  readonly signal: AbortSignal;
  /** Says which address a person has to visit. */
  prompt(url: string): void;
}

/** One attempt to obtain tokens. */
export interface Attempt {
  /** Where the authorization server sends a person back to; undefined for a machine. */
  readonly redirectUri?: string | undefined;
  obtain(party: Party, waiting: GrantWait): Promise<TokenEndpointResponse>;
  /** Gives back what the attempt holds, such as a port; rejects what is still awaited. */
  end(): void;
}

/** A sign-in for which the page was left: what is needed to continue it. */
export interface Returned {
  readonly issuer: string;
  readonly client: Client;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  obtain(party: Party): Promise<TokenEndpointResponse>;
}

/** A way to obtain tokens. */
export interface TokenGrant {
  /** Whether a person takes part: then there may be refresh tokens, and `offline_access` is asked for where it is supported. */
  readonly byPerson: boolean;
  /** Begins an attempt. `registered`: the redirect URI with which the client is registered, if it can be used again. */
  begin(registered: string | undefined): Promise<Attempt>;
  /** The sign-in that this page has come back from, once. */
  returned?(server: string): Returned | undefined;
}
