// What `connect` is given to obtain tokens: for a person, or for a machine.
import type { AuthRefusal, AuthReply, AuthRequest, ClientAuth, HeaderFields } from "../settings/auth.ts";
import { Access } from "./access.ts";
import type { OAuthSettings } from "./acquisition.ts";
import { clientCredentialsGrant } from "./grants/client-credentials.ts";
import { enterpriseGrant } from "./grants/enterprise.ts";
import type { Grant } from "./grants/grant.ts";
import { personGrant } from "./grants/person.ts";
import { workloadGrant } from "./grants/workload.ts";
import type { Identity } from "./registration.ts";
import { checkOAuthOptions } from "./settings/checks.ts";
import type {
  ClientCredentialsOptions,
  EnterpriseManagedOptions,
  OAuthOptions,
  SharedOAuthOptions,
  WorkloadIdentityOptions,
} from "./settings/options.ts";
import { memoryStore } from "./tokens/memory-store.ts";

/** Obtains tokens for clients, keeps them, and refreshes them. One serves any number of clients and servers. */
export class OAuth implements ClientAuth {
  readonly #settings: OAuthSettings;
  readonly #accesses = new Map<string, Access>();

  /** @internal */
  constructor(settings: OAuthSettings) {
    this.#settings = settings;
  }

  headers({ server, url, method }: AuthRequest): HeaderFields | Promise<HeaderFields> {
    return this.#accessTo(server).headers(url, method);
  }

  refused(refusal: AuthRefusal): Promise<boolean> {
    return this.#accessTo(refusal.server).refused(refusal);
  }

  replied(reply: AuthReply): void {
    this.#accessTo(reply.server).replied(reply);
  }

  /** Forgets the tokens for a server, here and in the store. */
  signOut(server: string | URL): Promise<void> {
    if (!URL.canParse(String(server)))
      throw new TypeError("signOut: server must be the URL that you passed to connect()");
    return this.#accessTo(new URL(server).href).forget();
  }

  #accessTo(server: string): Access {
    let access = this.#accesses.get(server);
    if (access === undefined) this.#accesses.set(server, (access = new Access(this.#settings, server)));
    return access;
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
  return create(options, options, personGrant(options));
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
  return create(options, options, clientCredentialsGrant());
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
  return create(options, options, enterpriseGrant(identityProvider), [identityProvider.issuer]);
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
  return create(options, options, workloadGrant(options.assertion));
}

function create(
  shared: SharedOAuthOptions,
  identity: Identity,
  grant: Grant,
  trusted: readonly string[] = [],
): OAuth {
  const { issuer, store = memoryStore() } = shared;
  const given = issuer === undefined || issuer === "announced" ? [] : [issuer];
  return new OAuth({ grant, identity, shared, store, trusted: [...given, ...trusted] });
}
