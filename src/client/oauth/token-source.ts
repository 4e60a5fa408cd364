// Obtains tokens for one MCP server: finds its authorization server, refreshes what is stored, or has the grant obtain new ones.
import * as oauth from "oauth4webapi";
import type { Challenge } from "../settings/challenge.ts";
import { shownUrl } from "../settings/shown.ts";
import {
  announcedServer,
  findResource,
  formerServer,
  type FoundResource,
  unguided,
} from "./net/discovery.ts";
import { authenticationOf } from "./grants/client-authentication.ts";
import type { GrantWait, Party, TokenGrant } from "./grants/grant.ts";
import { Proofs } from "./grants/proofs.ts";
import { requestTokens, TokenRefusal } from "./grants/token-request.ts";
import { Net } from "./net/net.ts";
import { type Identity, Registrations } from "./registration.ts";
import { scopesToAsk } from "./scopes.ts";
import { OAuthError } from "./settings/errors.ts";
import type { SharedOAuthOptions } from "./settings/options.ts";
import { authorizationOf, StoredTokens, type Tokens } from "./stored.ts";
import type { TokenStore } from "./settings/token-store.ts";

/** What the parts of one OAuth share. */
export interface OAuthSettings {
  readonly grant: TokenGrant;
  readonly options: SharedOAuthOptions & Identity;
  readonly store: TokenStore;
  /** Addresses that the user has given. */
  readonly trusted: readonly string[];
}

/** Why tokens are needed. */
export interface Need {
  readonly challenge: Challenge;
  /** The value of `Authorization` that the server refused. */
  readonly refused: string | undefined;
  /** Whether a refresh would not help: a scope is missing, or refreshed tokens are refused too. */
  readonly isNewGrant: boolean;
  readonly revision: string | undefined;
  readonly waiting: GrantWait;
}

export interface Obtained {
  readonly tokens: Tokens;
  readonly proofs: Proofs | undefined;
  /** What to try if the server refuses these tokens before it has accepted them. */
  readonly ifRefused: "refresh" | "grant" | "nothing";
}

/** What the server and its authorization server say about themselves. */
interface Metadata {
  /** Where the server said its metadata is. */
  readonly announced: string | undefined;
  readonly found: FoundResource;
  readonly as: oauth.AuthorizationServer;
  /** Until when it may be used again, by `performance.now()`. */
  readonly until: number;
}

/** Tokens are refreshed this long before they expire, or a tenth of their life, if that is less. */
const marginMs = 30_000;

/** Longer scopes fit into no address. */
const maxScope = 8192;

export class TokenSource {
  readonly #settings: OAuthSettings;
  readonly #server: string;
  readonly #registrations: Registrations;
  readonly #stored: StoredTokens;
  /** The last ones: they know the nonces that the servers want. */
  #proofs: Proofs | undefined;
  #metadata: Metadata | undefined;

  constructor(settings: OAuthSettings, server: string) {
    const { options, store } = settings;
    this.#settings = settings;
    this.#server = server;
    this.#registrations = new Registrations(options, store);
    this.#stored = new StoredTokens(store, server, options.clientId ?? options.clientMetadataUrl);
  }

  /** The tokens in the store. */
  async stored(): Promise<Obtained | undefined> {
    const tokens = await this.#stored.read();
    return tokens && this.#obtained(tokens, "refresh");
  }

  /** Takes the tokens out of the store. */
  forget(): Promise<void> {
    return this.#stored.forget();
  }

  /** Has metadata fetched again, because the server refuses the tokens that it led to. */
  forgetMetadata(): void {
    this.#metadata = undefined;
  }

  /** Ends a sign-in for which the page was left; undefined if there was none. */
  async returned(): Promise<Obtained | undefined> {
    const came = this.#settings.grant.returned?.(this.#server);
    if (came === undefined) return undefined;
    const net = this.#net();
    const as = await formerServer(this.#server, came.issuer, net);
    const { client, resource, scopes } = came;
    const dpop = await this.#newProofs();
    const party = await this.#party({ as, client, net, resource, scopes, dpop });
    const response = await came.obtain(party);
    await this.#registrations.keep(as, client, came.redirectUri);
    return this.#keep(response, party, "nothing");
  }

  /** Refreshes tokens, unless another process has done so meanwhile. Resolves with undefined if there is no refresh token that works. */
  refresh(tokens: Tokens): Promise<Obtained | undefined> {
    return this.#stored.exclusive(() => this.#refresh(tokens, this.#net()), tokens);
  }

  /** Obtains tokens in place of those that the server refused, unless another process has done so meanwhile. */
  async obtain(need: Need): Promise<Obtained> {
    const { refused, challenge, isNewGrant, waiting } = need;
    const wanted = isNewGrant ? (challenge.scope ?? []) : [];
    const obtain = (): Promise<Obtained | undefined> =>
      this.#unlessNewer({ refused, wanted }, (before) => this.#obtain(need, before));
    return (await this.#stored.exclusive(obtain, undefined, waiting.signal)) as Obtained;
  }

  /**
   * Runs `work` with the stored tokens, unless those are newer than the refused ones and have the wanted scopes: then it resolves with them.
   * If `work` fails, it looks again, because a store of your own may let a process write that does not wait for the lock.
   */
  async #unlessNewer(
    { refused, wanted = [], of }: { refused: string | undefined; wanted?: readonly string[]; of?: Tokens },
    work: (before: Tokens | undefined) => Promise<Obtained | undefined>,
  ): Promise<Obtained | undefined> {
    let before: Tokens | undefined;
    const newer = async (): Promise<Obtained | undefined> => {
      before = await this.#stored.read(of);
      const isNewer = before && authorizationOf(before) !== refused;
      if (!before || !isNewer || !wanted.every((scope) => before?.scopes.includes(scope))) return undefined;
      return this.#obtained(before, "refresh");
    };
    const found = await newer();
    if (found) return found;
    try {
      return (await work(before)) ?? (await newer());
    } catch (error) {
      this.forgetMetadata();
      const later = await newer();
      if (later) return later;
      throw error;
    }
  }

  async #obtain(need: Need, stored: Tokens | undefined): Promise<Obtained> {
    const { waiting } = need;
    const net = this.#net(need.revision, waiting.signal);
    const metadata = await this.#discover(need, net, stored?.issuer);
    const { found, as } = metadata;
    const isSame = stored?.issuer === as.issuer && stored.resource === found.resource;
    const before = isSame ? stored : undefined;
    if (before && !need.isNewGrant) {
      const refresh = (): Promise<Obtained | undefined> => this.#refresh(before, net, as);
      const refreshed = await this.#stored.exclusive(refresh, before, waiting.signal);
      if (refreshed) return refreshed;
    }
    return this.#grant(need, metadata, net, before);
  }

  /** Uses the metadata of before as long as it is fresh, unless the server names another place for it or refreshed tokens are refused. */
  async #discover({ challenge, isNewGrant }: Need, net: Net, before: string | undefined): Promise<Metadata> {
    const announced = challenge.resourceMetadata;
    const known = this.#fresh(before);
    if (known && !isNewGrant && known.announced === announced) return known;
    const { resource, issuer } = this.#settings.options;
    const found = await findResource({ server: this.#server, challenge, net, resource });
    const as = await announcedServer(this.#server, found, net, issuer, before);
    return (this.#metadata = { announced, found, as, until: net.freshUntil ?? 0 });
  }

  /** The metadata that is known, if it is fresh and of the issuer of the tokens that there are. */
  #fresh(issuer: string | undefined): Metadata | undefined {
    const known = this.#metadata;
    if (!known || performance.now() >= known.until) return undefined;
    return issuer === undefined || issuer === known.as.issuer ? known : undefined;
  }

  async #refresh(old: Tokens, net: Net, found?: oauth.AuthorizationServer): Promise<Obtained | undefined> {
    return this.#unlessNewer({ refused: authorizationOf(old), of: old }, async (stored = old) => {
      const { refreshToken, issuer, resource, scopes } = stored;
      if (refreshToken === undefined) return undefined;
      const as = found ?? this.#fresh(issuer)?.as ?? (await formerServer(this.#server, issuer, net));
      const client = await this.#registrations.known(as, stored.client);
      if (client?.client_id === stored.clientId) {
        const { proofs: dpop } = await this.#obtained(stored, "refresh");
        const party = await this.#party({ as, client, net, resource, scopes, dpop });
        const response = await this.#useRefreshToken(party, refreshToken);
        if (response) return this.#keep({ refresh_token: refreshToken, ...response }, party, "grant", stored);
      }
      await this.#stored.replace({ ...stored, refreshToken: undefined }, stored);
      return undefined;
    });
  }

  /** Resolves with undefined if the authorization server no longer knows the refresh token, or the client. */
  async #useRefreshToken(
    party: Party,
    refreshToken: string,
  ): Promise<oauth.TokenEndpointResponse | undefined> {
    try {
      // Without a scope, the new tokens have those of the old ones.
      return await requestTokens({ ...party, scopes: [] }, (who, additionalParameters, options) =>
        oauth.refreshTokenGrantRequest(...who, refreshToken, { ...options, additionalParameters }),
      );
    } catch (error) {
      const code = error instanceof TokenRefusal ? error.error : undefined;
      const { as, client } = party;
      const isForgotten =
        code === "invalid_client" && (await this.#registrations.forget(as, client.client_id));
      if (isForgotten || code === "invalid_grant") return undefined;
      throw error;
    }
  }

  async #grant(need: Need, { found, as }: Metadata, net: Net, before?: Tokens): Promise<Obtained> {
    const { grant, options } = this.#settings;
    const scopes = scopesToAsk({
      challenge: need.challenge,
      ofResource: found.scopesSupported,
      ofServer: as.scopes_supported,
      before: before?.scopes,
      wanted: options.scopes,
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
      const dpop = await this.#newProofs();
      const party = await this.#party({ as, client, net, resource: found.resource, scopes, dpop });
      const response = await attempt.obtain(party, need.waiting);
      await this.#registrations.keep(as, client, attempt.redirectUri);
      return await this.#keep(response, party, "nothing");
    } catch (error) {
      throw unguided(this.#server, as, error);
    } finally {
      attempt.end();
    }
  }

  async #keep(
    response: oauth.TokenEndpointResponse,
    party: Party,
    ifRefused: Obtained["ifRefused"],
    old?: Tokens,
  ): Promise<Obtained> {
    return this.#obtained(await this.#stored.replace(toTokens(response, party), old), ifRefused);
  }

  async #obtained(tokens: Tokens, ifRefused: Obtained["ifRefused"]): Promise<Obtained> {
    const { dpopKey: key } = tokens;
    return { tokens, proofs: key && (await this.#proofsOf(key)), ifRefused };
  }

  async #party(known: Omit<Party, "server" | "authentication">): Promise<Party> {
    const authentication = await authenticationOf(known.as, known.client, this.#settings.options);
    return { ...known, server: this.#server, authentication };
  }

  async #newProofs(): Promise<Proofs | undefined> {
    return this.#settings.options.dpop ? this.#proofsOf(this.#proofs?.key) : undefined;
  }

  async #proofsOf(key: oauth.JWK | undefined): Promise<Proofs> {
    if (this.#proofs === undefined || this.#proofs.key["x"] !== key?.["x"])
      this.#proofs = await Proofs.create(key);
    return this.#proofs;
  }

  #net(revision?: string, signal?: AbortSignal): Net {
    const { options, trusted } = this.#settings;
    return new Net({ server: this.#server, trusted, fetch: options.fetch, revision, signal });
  }
}

function toTokens(response: oauth.TokenEndpointResponse, party: Party): Tokens {
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
