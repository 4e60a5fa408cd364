// The values for `auth` of `connect` that obtain tokens: for a person, or for a machine.
import type { AuthRefusal, AuthReply, AuthRequest, ClientAuth, HeaderFields } from "../settings/auth.ts";
import type { TokenGrant } from "./grants/grant.ts";
import { clientCredentialsGrant, enterpriseGrant, workloadGrant } from "./grants/machine.ts";
import { personGrant } from "./grants/person.ts";
import type { Identity } from "./registration.ts";
import {
  checkOAuthOptions,
  type ClientCredentialsOptions,
  type EnterpriseManagedOptions,
  type OAuthOptions,
  type SharedOAuthOptions,
  toSignInSettings,
  type WorkloadIdentityOptions,
} from "./settings/options.ts";
import { memoryStore } from "./settings/token-store.ts";
import { TokenHolder } from "./token-holder.ts";
import type { OAuthSettings } from "./token-source.ts";

/** Obtains tokens for clients, keeps them, and refreshes them. One serves any number of clients and servers. */
export class OAuth implements ClientAuth {
  readonly #settings: OAuthSettings;
  readonly #holders = new Map<string, TokenHolder>();

  /** @internal */
  constructor(settings: OAuthSettings) {
    this.#settings = settings;
  }

  headers({ server, url, method }: AuthRequest): HeaderFields | Promise<HeaderFields> {
    return this.#holderFor(server).headers(url, method);
  }

  refused(refusal: AuthRefusal): Promise<boolean> {
    return this.#holderFor(refusal.server).refused(refusal);
  }

  replied(reply: AuthReply): void {
    this.#holderFor(reply.server).replied(reply);
  }

  /** Forgets the tokens for a server, here and in the store. */
  signOut(server: string | URL): Promise<void> {
    if (!URL.canParse(String(server)))
      throw new TypeError("signOut: server must be the URL that you passed to connect()");
    return this.#holderFor(new URL(server).href).forget();
  }

  #holderFor(server: string): TokenHolder {
    let holder = this.#holders.get(server);
    if (holder === undefined) this.#holders.set(server, (holder = new TokenHolder(this.#settings, server)));
    return holder;
  }
}

/**
 * A person signs in, once; the tokens are then refreshed by themselves.
 *
 * On Node the address to visit is printed, or opened in the browser with `open: "browser"`; in a browser say `open: "popup"` or
 * `open: "redirect"`.
 *
 * @example
 * ```ts
 * import { fileStore, oauth } from "halyard/client/oauth";
 *
 * const auth = oauth({ open: "browser", store: fileStore("tokens.json") });
 * // await connect("https://mcp.example.com/mcp", { auth })
 * ```
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  checkOAuthOptions("oauth", options);
  const settings = toSignInSettings(options);
  return create(settings, personGrant(settings));
}

/**
 * A service signs in as itself, with a secret or a private key.
 *
 * @example
 * ```ts
 * import { clientCredentials } from "halyard/client/oauth";
 *
 * const auth = clientCredentials({
 *   issuer: "https://auth.example.com",
 *   clientId: "nightly-report",
 *   clientSecret: "kept in the environment",
 * });
 * // await connect("https://mcp.example.com/mcp", { auth })
 * ```
 */
export function clientCredentials(options: ClientCredentialsOptions): OAuth {
  checkOAuthOptions("clientCredentials", options);
  return create(options, clientCredentialsGrant());
}

/**
 * An organisation decides which servers its people may use: the identity token of a person who has signed in at its identity provider is
 * exchanged for access, without another sign-in.
 *
 * @example
 * ```ts
 * import { enterpriseManaged } from "halyard/client/oauth";
 *
 * const auth = enterpriseManaged({
 *   issuer: "https://auth.example.com",
 *   clientId: "assistant",
 *   clientSecret: "kept in the environment",
 *   identityProvider: {
 *     issuer: "https://login.company.example",
 *     clientId: "assistant-at-company",
 *     idToken: async () => "the ID token of the person",
 *   },
 * });
 * ```
 */
export function enterpriseManaged(options: EnterpriseManagedOptions): OAuth {
  checkOAuthOptions("enterpriseManaged", options);
  const { identityProvider } = options;
  return create(options, enterpriseGrant(identityProvider), [identityProvider.issuer]);
}

/**
 * A workload shows the token that its platform has given to it, such as that of a Kubernetes service account.
 *
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { workloadIdentity } from "halyard/client/oauth";
 *
 * const auth = workloadIdentity({
 *   issuer: "https://auth.example.com",
 *   assertion: () => readFile("/var/run/secrets/tokens/mcp", "utf8"),
 * });
 * ```
 */
export function workloadIdentity(options: WorkloadIdentityOptions): OAuth {
  checkOAuthOptions("workloadIdentity", options);
  return create(options, workloadGrant(options.assertion));
}

function create(
  options: SharedOAuthOptions & Identity,
  grant: TokenGrant,
  trusted: readonly string[] = [],
): OAuth {
  const { issuer, store = memoryStore() } = options;
  const given = issuer === undefined || issuer === "announced" ? [] : [issuer];
  return new OAuth({ grant, options, store, trusted: [...given, ...trusted] });
}
