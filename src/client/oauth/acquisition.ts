// Obtains tokens for one MCP server: finds its authorization server, refreshes what there is, or has the grant obtain new ones.
import {
  type AuthorizationServer,
  type Client,
  type JWK,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { announcedServer, formerServer, unguided } from "./discovery/announced-server.ts";
import type { Challenge } from "../settings/challenge.ts";
import { type FoundResource, findResource } from "./discovery/resource-metadata.ts";
import { authenticationOf } from "./grants/client-authentication.ts";
import type { Grant, Party, Waiting } from "./grants/grant.ts";
import { Proofs } from "./grants/proofs.ts";
import { requestTokens, TokenRefusal } from "./grants/token-request.ts";
import { createNet } from "./net/create-net.ts";
import type { Net } from "./net/net.ts";
import { type Identity, Registrations } from "./registration.ts";
import { shownUrl } from "../settings/shown.ts";
import { scopesToAsk } from "./scopes.ts";
import { OAuthError } from "./settings/errors.ts";
import type { SharedOAuthOptions } from "./settings/options.ts";
import type { TokenStore } from "./settings/store.ts";
import { Keeping } from "./tokens/keeping.ts";
import type { Tokens } from "./tokens/tokens.ts";

/** What the parts of one OAuth share. */
export interface OAuthSettings {
  readonly grant: Grant;
  readonly identity: Identity;
  readonly shared: SharedOAuthOptions;
  readonly store: TokenStore;
  /** Addresses that the user has given. */
  readonly trusted: readonly string[];
}

/** Why tokens are needed. */
export interface Need {
  readonly challenge: Challenge;
  /** The tokens that the server refused. */
  readonly refused: Tokens | undefined;
  /** Whether a refresh would not help: a scope is missing, or refreshed tokens are refused too. */
  readonly isNewGrant: boolean;
  readonly revision: string | undefined;
  readonly waiting: Waiting;
}

/** Tokens, and how they were come by. */
export interface Obtained {
  readonly tokens: Tokens;
  readonly proofs: Proofs | undefined;
  readonly by: "store" | "refresh" | "grant";
}

/** Tokens are refreshed this long before they expire, or a tenth of their life, if that is less. */
const marginMs = 30_000;

/** Longer scopes fit into no address. */
const maxScope = 8192;

export class Acquisition {
  readonly #settings: OAuthSettings;
  readonly #server: string;
  readonly #registrations: Registrations;
  readonly #keeping: Keeping;
  /** The last ones: they know the nonces that the servers want. */
  #proofs: Proofs | undefined;

  constructor(settings: OAuthSettings, server: string) {
    const { identity, store } = settings;
    this.#settings = settings;
    this.#server = server;
    this.#registrations = new Registrations(identity, store);
    this.#keeping = new Keeping(store, server, identity.clientId ?? identity.clientMetadataUrl);
  }

  /** The tokens in the store. */
  async kept(): Promise<Obtained | undefined> {
    const tokens = await this.#keeping.read();
    return tokens && this.#stored(tokens);
  }

  /** Takes the tokens out of the store. */
  forget(): Promise<void> {
    return this.#keeping.forget();
  }

  /** Ends a sign-in for which the page was left; undefined if there was none. */
  async returned(): Promise<Obtained | undefined> {
    const came = this.#settings.grant.returned?.(this.#server);
    if (came === undefined) return undefined;
    const net = this.#net();
    const as = await formerServer(this.#server, came.issuer, net);
    const proofs = await this.#newProofs();
    const party = await this.#party(as, came.client, net, came.resource, came.scopes, proofs);
    const response = await came.obtain(party);
    await this.#registrations.keep(as, came.client, came.redirectUri);
    return this.#keep(response, party, "grant");
  }

  /** Refreshes tokens, unless somebody has done so meanwhile. If the same tokens come back without a refresh token, it was dead. */
  refresh(tokens: Tokens): Promise<Obtained> {
    return this.#keeping.exclusive(() => this.#exchange(tokens, this.#net()), tokens);
  }

  /** Obtains tokens in place of those that the server refused, unless somebody has done so meanwhile. */
  obtain(need: Need): Promise<Obtained> {
    return this.#keeping.exclusive(() => this.#obtain(need), undefined, need.waiting.signal);
  }

  async #obtain(need: Need): Promise<Obtained> {
    const kept = await this.#keeping.read();
    if (kept && isBetter(kept, need)) return this.#stored(kept);
    const net = this.#net(need.revision, need.waiting.signal);
    const { challenge, waiting } = need;
    const { resource, issuer } = this.#settings.shared;
    const found = await findResource({ server: this.#server, challenge, net, resource });
    const as = await announcedServer(this.#server, found, { issuer, before: kept?.issuer }, net);
    const isSame = kept?.issuer === as.issuer && kept.resource === found.resource;
    const before = isSame ? kept : undefined;
    if (before?.refreshToken !== undefined && !need.isNewGrant) {
      const exchange = (): Promise<Obtained> => this.#exchange(before, net, as);
      const refreshed = await this.#keeping.exclusive(exchange, before, waiting.signal);
      const isOther = refreshed.tokens.accessToken !== before.accessToken;
      if (isOther || refreshed.by === "refresh") return refreshed;
    }
    return this.#grant(need, found, as, net, before);
  }

  /** Asks for new tokens with a refresh token, unless others are kept by now. Nobody else may refresh the same tokens meanwhile. */
  async #exchange(old: Tokens, net: Net, found?: AuthorizationServer): Promise<Obtained> {
    const kept = (await this.#keeping.read(old)) ?? old;
    if (kept.accessToken !== old.accessToken || kept.refreshToken === undefined) return this.#stored(kept);
    const as = found ?? (await formerServer(this.#server, kept.issuer, net));
    const client = await this.#registrations.known(as, kept.client);
    if (client?.client_id !== kept.clientId) return this.#stored(await this.#keeping.bury(kept));
    const { proofs } = await this.#stored(kept);
    const party = await this.#party(as, client, net, kept.resource, kept.scopes, proofs);
    const { refreshToken } = kept;
    try {
      // With the scopes of the old tokens.
      const response = await requestTokens({ ...party, scopes: [] }, (who, additionalParameters, options) =>
        refreshTokenGrantRequest(...who, refreshToken, { ...options, additionalParameters }),
      );
      return await this.#keep({ refresh_token: refreshToken, ...response }, party, "refresh", kept);
    } catch (error) {
      // Somebody who waits for nobody may have been faster.
      const current = await this.#keeping.read(old);
      if (current && current.accessToken !== kept.accessToken) return this.#stored(current);
      const code = error instanceof TokenRefusal ? error.error : undefined;
      const isForgotten = code === "invalid_client" && (await this.#registrations.forget(as, kept.clientId));
      if (isForgotten || code === "invalid_grant") return this.#stored(await this.#keeping.bury(kept));
      throw error;
    }
  }

  async #grant(
    need: Need,
    found: FoundResource,
    as: AuthorizationServer,
    net: Net,
    before?: Tokens,
  ): Promise<Obtained> {
    const { grant, shared } = this.#settings;
    const scopes = scopesToAsk({
      challenge: need.challenge,
      ofResource: found.scopesSupported,
      ofServer: as.scopes_supported,
      before: before?.scopes,
      wanted: shared.scopes,
      byPerson: grant.byPerson,
    });
    if (scopes.join(" ").length > maxScope) {
      throw new OAuthError(
        "metadata",
        `${shownUrl(this.#server)} asks for scopes of more than ${maxScope} characters, with those of before: let it ask for fewer, and sign out to begin anew`,
      );
    }
    const attempt = await grant.begin(await this.#registrations.redirectUri(as.issuer));
    try {
      const client = await this.#registrations.take(as, net, attempt.redirectUri, need.waiting.signal);
      const proofs = await this.#newProofs();
      const party = await this.#party(as, client, net, found.resource, scopes, proofs);
      const response = await attempt.obtain(party, need.waiting);
      await this.#registrations.keep(as, client, attempt.redirectUri);
      return await this.#keep(response, party, "grant");
    } catch (error) {
      throw unguided(this.#server, as, error);
    } finally {
      attempt.end();
    }
  }

  async #keep(
    response: TokenEndpointResponse,
    party: Party,
    by: "refresh" | "grant",
    old?: Tokens,
  ): Promise<Obtained> {
    const tokens = tokensOf(response, party);
    const kept = await this.#keeping.replace(tokens, old);
    return kept.accessToken === tokens.accessToken ? { tokens, proofs: party.dpop, by } : this.#stored(kept);
  }

  async #party(
    as: AuthorizationServer,
    client: Client,
    net: Net,
    resource: string,
    scopes: readonly string[],
    proofs: Proofs | undefined,
  ): Promise<Party> {
    const authentication = await authenticationOf(as, client, this.#settings.identity);
    return { server: this.#server, as, client, authentication, resource, scopes, net, dpop: proofs };
  }

  async #newProofs(): Promise<Proofs | undefined> {
    return this.#settings.shared.dpop ? this.#proofsOf(this.#proofs?.key) : undefined;
  }

  async #proofsOf(key: JWK | undefined): Promise<Proofs> {
    if (this.#proofs === undefined || this.#proofs.key["x"] !== key?.["x"])
      this.#proofs = await Proofs.create(key);
    return this.#proofs;
  }

  async #stored(tokens: Tokens): Promise<Obtained> {
    const { dpopKey: key } = tokens;
    return { tokens, proofs: key && (await this.#proofsOf(key)), by: "store" };
  }

  #net(revision?: string, signal?: AbortSignal): Net {
    const { shared, trusted } = this.#settings;
    return createNet({ server: this.#server, trusted, fetch: shared.fetch, revision, signal });
  }
}

/** Whether tokens that are kept can take the place of those that the server refused. */
function isBetter(kept: Tokens, { challenge, refused, isNewGrant }: Need): boolean {
  if (kept.accessToken === refused?.accessToken) return false;
  return !isNewGrant || (challenge.scope ?? []).every((scope) => kept.scopes.includes(scope));
}

function tokensOf(response: TokenEndpointResponse, party: Party): Tokens {
  const { expires_in: seconds } = response;
  const lifeMs = seconds === undefined ? undefined : seconds * 1000;
  return {
    issuer: party.as.issuer,
    clientId: party.client.client_id,
    client: party.client,
    resource: party.resource,
    accessToken: response.access_token,
    scheme: party.dpop ? "DPoP" : "Bearer",
    refreshToken: response.refresh_token,
    renewAt: lifeMs === undefined ? undefined : Date.now() + lifeMs - Math.min(marginMs, lifeMs / 10),
    scopes: party.scopes,
    dpopKey: party.dpop?.key,
  };
}
