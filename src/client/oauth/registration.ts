// How a client is known at an authorization server: as it was registered by hand, by its metadata document, or by registering itself.
import * as oauth from "oauth4webapi";
import { Secrets } from "../redaction/secrets.ts";
import { readReply } from "./grants/reply.ts";
import type { Net } from "./net/net.ts";
import { shownUrl } from "../settings/shown.ts";
import { OAuthError, shown } from "./settings/errors.ts";
import { isLoopback } from "../../base/addresses.ts";
import type { ClientProof, OAuthOptions } from "./settings/options.ts";
import type { TokenStore } from "./settings/token-store.ts";
import { issuerOf, registrationOf } from "./stored.ts";

/** What the user says about this client. */
export type Identity = Pick<OAuthOptions, "clientId" | "clientMetadataUrl" | "clientName" | "issuer"> &
  ClientProof;

/** The clients of one identity at all authorization servers. What was registered at one is never used at another. */
export class Registrations {
  readonly #identity: Identity;
  readonly #store: TokenStore;

  constructor(identity: Identity, store: TokenStore) {
    this.#identity = identity;
    this.#store = store;
  }

  /** The redirect URI with which the client has registered itself at an authorization server. */
  async redirectUri(issuer: string): Promise<string | undefined> {
    return (await registrationOf(this.#store, issuer).read())?.redirectUri;
  }

  /** The client that the user has named, or the one that tokens were issued to, unless its secret has expired. */
  async known(as: oauth.AuthorizationServer, issuedTo: oauth.Client): Promise<oauth.Client | undefined> {
    return (await this.#configured(as)) ?? (isOver(issuedTo) ? undefined : issuedTo);
  }

  /**
   * The client as an authorization server knows it; registers it if need be. A registration is kept only after a sign-in has succeeded with
   * it, and removed before the next one: if the client is no longer known, the person sees an error page, and this process learns nothing.
   */
  async take(
    as: oauth.AuthorizationServer,
    net: Net,
    redirectUri: string | undefined,
    signal: AbortSignal,
  ): Promise<oauth.Client> {
    const configured = await this.#configured(as);
    if (configured) return configured;
    if (redirectUri === undefined) return { client_id: "" };
    const stored = registrationOf(this.#store, as.issuer);
    const before = await stored.read();
    if (before?.redirectUri !== redirectUri || isOver(before.client))
      return register(as, net, redirectUri, this.#metadata(as, redirectUri), signal);
    await stored.swap(before, undefined);
    return before.client;
  }

  /** Keeps a client after a sign-in has succeeded with it, for the next time. */
  async keep(
    as: oauth.AuthorizationServer,
    client: oauth.Client,
    redirectUri: string | undefined,
  ): Promise<void> {
    if (redirectUri === undefined || (await this.#configured(as))) return;
    const stored = registrationOf(this.#store, as.issuer);
    await stored.swap(await stored.read(), { issuer: as.issuer, client, redirectUri });
  }

  /** Forgets a client that the authorization server no longer knows. Resolves with false if the user has named it. */
  async forget(as: oauth.AuthorizationServer, clientId: string): Promise<boolean> {
    if (await this.#configured(as)) return false;
    const stored = registrationOf(this.#store, as.issuer);
    const kept = await stored.read();
    if (kept?.client.client_id === clientId) await stored.swap(kept, undefined);
    return true;
  }

  async #configured(as: oauth.AuthorizationServer): Promise<oauth.Client | undefined> {
    const { clientId, clientMetadataUrl } = this.#identity;
    if (clientId !== undefined) {
      await this.#bind(clientId, as.issuer);
      return { client_id: clientId };
    }
    const isSupported = as["client_id_metadata_document_supported"] === true;
    return isSupported && clientMetadataUrl !== undefined ? { client_id: clientMetadataUrl } : undefined;
  }

  /** Throws if a client that was registered by hand was used at another authorization server before: it is not known here. */
  async #bind(clientId: string, issuer: string): Promise<void> {
    if (issuer === this.#identity.issuer) return;
    const stored = issuerOf(this.#store, clientId);
    await stored.swap(undefined, issuer);
    const bound = await stored.read();
    if (bound === issuer) return;
    throw new OAuthError(
      "issuer",
      `The client ${clientId} belongs to ${shown(bound)}, but the server now names ${shown(issuer)}: if that is right, register the client there and pass its clientId and issuer`,
    );
  }

  #metadata(as: oauth.AuthorizationServer, redirectUri: string): Partial<oauth.Client> {
    const methods = as.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const method = ["none", "client_secret_basic", "client_secret_post"].find((one) => methods.includes(one));
    return {
      client_name: this.#identity.clientName,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: method ?? "none",
      application_type: isLoopback(new URL(redirectUri)) ? "native" : "web",
    };
  }
}

/** Whether the secret of a client has expired. */
function isOver({ client_secret_expires_at: until }: oauth.Client): boolean {
  return typeof until === "number" && until > 0 && until * 1000 < Date.now();
}

async function register(
  as: oauth.AuthorizationServer,
  net: Net,
  redirectUri: string,
  metadata: Partial<oauth.Client>,
  signal: AbortSignal,
): Promise<oauth.Client> {
  if (as.registration_endpoint === undefined) {
    throw new OAuthError(
      "registration",
      `${shown(as.issuer)} does not let clients register themselves: register this one there, and pass clientId and issuer`,
    );
  }
  const secrets = new Secrets();
  const options = await net.endpoint(as.registration_endpoint, secrets, signal);
  const { response, body, problem } = await readReply(
    await oauth.dynamicClientRegistrationRequest(as, metadata, options),
    secrets,
  );
  if (response.ok && body?.["client_id"] && typeof body["client_id"] === "string")
    return clientOf({ ...metadata, ...body });
  const example = redirectUri.startsWith("http://127.") ? ', such as "http://localhost/callback"' : "";
  throw new OAuthError(
    "registration",
    `${shownUrl(as.registration_endpoint)} did not register this client with the redirect URI ${redirectUri}: ${problem}. Pass another redirectUri${example}, or register it yourself and pass its clientId and issuer`,
  );
}

/** Many respond with 200, or forget to say when a secret expires, or that a client is registered as it wished. */
async function clientOf(registered: Readonly<Record<string, unknown>>): Promise<oauth.Client> {
  const { client_id, client_secret: secret, token_endpoint_auth_method } = registered;
  const until = registered["client_secret_expires_at"];
  const used = {
    client_id,
    client_secret: typeof secret === "string" && secret !== "" ? secret : undefined,
    client_secret_expires_at: Number.isFinite(until) ? Math.max(until as number, 0) : 0,
    token_endpoint_auth_method,
  };
  return oauth.processDynamicClientRegistrationResponse(new Response(JSON.stringify(used), { status: 201 }));
}
