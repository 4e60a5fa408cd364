// The options of the ways to obtain tokens.
import type { CryptoKey, JWK } from "oauth4webapi";
import type { TokenStore } from "../store/token-store.ts";

/** Opens or shows the address where a person signs in. */
export type OpenOption =
  /** On Node: opens the browser of the system, and prints the address too. */
  | "browser"
  /**
   * In a browser: opens a popup. The page at `redirectUri` calls `finishSignIn`. A closed popup is noticed once your page has the focus
   * again; with some authorization servers it cannot be, and the sign-in ends after `signInTimeoutMs`.
   */
  | "popup"
  /** In a browser: leaves the page, and continues when the page at `redirectUri` loads. */
  | "redirect"
  /** Gets the address, to show it in your own way. In a browser, the page at `redirectUri` calls `finishSignIn`. */
  | ((url: string) => void | Promise<void>);

/** The private key of a client: a key of Web Crypto, a JWK, or a PEM text (PKCS #8), whose algorithm you name. */
export type ClientKey =
  | CryptoKey
  | JWK
  | { readonly pem: string; readonly alg: string; readonly kid?: string | undefined };

/** A text, or a function that returns the current one. */
export type TextSource = string | (() => string | Promise<string>);

/** What every way to obtain tokens can set. */
export interface SharedOAuthOptions {
  /** Scopes to ask for, besides those that the server asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** Where tokens are kept. @default {the memory of this process} */
  readonly store?: TokenStore | undefined;
  /** Whether tokens are bound to a key, so that a stolen token does not work (DPoP, RFC 9449). @default {false} */
  readonly dpop?: boolean | undefined;
  /**
   * The authorization server that knows this client. Secrets and assertions are sent to no other one, so it is required with
   * them; "announced" trusts the one that the server announces. A slash at its end makes no difference.
   */
  readonly issuer?: string | undefined;
  /** The identifier that the server's metadata must have, where it differs from the URL that you connect to. */
  readonly resource?: string | undefined;
  /** Fetches metadata and tokens. @default {node:http on Node, which refuses private addresses; otherwise the global fetch} */
  readonly fetch?: typeof fetch | undefined;
}

/** How a registered client proves who it is: with at most one of these. */
export interface ClientProof {
  readonly clientSecret?: string | undefined;
  readonly privateKey?: ClientKey | undefined;
}

/** The options of {@link oauth}. */
export interface OAuthOptions extends SharedOAuthOptions, ClientProof {
  /** The id of a client that you have registered. */
  readonly clientId?: string | undefined;
  /** Where you serve the metadata of this client: its id at authorization servers that support that. */
  readonly clientMetadataUrl?: string | undefined;
  /** The name under which the client registers itself. @default {"Halyard"} */
  readonly clientName?: string | undefined;
  /**
   * Where the authorization server sends the person back to. On Node, a loopback address; its port may be left out.
   * @default {"http://127.0.0.1/callback" on Node with a free port; the address of the page in a browser}
   */
  readonly redirectUri?: string | undefined;
  /** How the address is opened where a person signs in. @default {on Node it is printed on standard error; nothing opens} */
  readonly open?: OpenOption | undefined;
  /**
   * Milliseconds that a person may take to sign in. After it, the sign-in fails with `OAuthError`, and the address that the
   * person comes back to is closed. @default {300000}
   */
  readonly signInTimeoutMs?: number | undefined;
}

/** The options of {@link clientCredentials}. */
export interface ClientCredentialsOptions extends SharedOAuthOptions, ClientProof {
  readonly clientId: string;
}

/** The identity provider of an organisation, and how this client is known there. */
export interface IdentityProvider extends ClientProof {
  readonly issuer: string;
  readonly clientId: string;
  /** The ID token of the person who signed in there. */
  readonly idToken: TextSource;
}

/** The options of {@link enterpriseManaged}. */
export interface EnterpriseManagedOptions extends SharedOAuthOptions, ClientProof {
  /** The id of this client at the authorization server of the MCP server. */
  readonly clientId: string;
  readonly identityProvider: IdentityProvider;
}

/** The options of {@link workloadIdentity}. */
export interface WorkloadIdentityOptions extends SharedOAuthOptions {
  /** The JWT that the platform has given to this workload. */
  readonly assertion: TextSource;
  readonly clientId?: string | undefined;
}
