// The options of the ways to obtain tokens: their types, kinds and defaults, and the checks that throw for what cannot work.
import type { TokenStore } from "./token-store.ts";
import { ConfigurationError } from "../../../base/errors.ts";
import {
  anything,
  either,
  filledText,
  flag,
  func,
  isUrl,
  type Kind,
  type Known,
  milliseconds,
  needed,
  oneOf,
  options as optionsOf,
  preset,
  texts,
  url,
  withMethods,
} from "../../../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../../../base/options.ts";
import { type ClientKey, keyProblem } from "./keys.ts";

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

/** The options of {@link oauth}, with defaults where there are some. */
export interface SignInSettings
  extends
    Omit<OAuthOptions, "clientName" | "signInTimeoutMs">,
    Filled<Pick<OAuthOptions, "clientName" | "signInTimeoutMs">> {}

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

/** The address of a document is not the issuer that the document names. */
const issuerUrl: Kind<string> = {
  ...url,
  is: (value) => isUrl(value) && !String(value).includes("/.well-known/"),
  remedy: (value) => (isUrl(value) ? "leave out /.well-known/ and what follows" : undefined),
};

const shared: Known<SharedOAuthOptions> = {
  scopes: texts,
  store: withMethods("a TokenStore, such as fileStore(path)", "get", "replace", "exclusive"),
  dpop: flag,
  issuer: either(issuerUrl, oneOf("announced")),
  resource: url,
  fetch: func,
};
const secret: Kind<string> = { ...filledText, isSecret: true };
const jwt: Kind<string> = {
  ...secret,
  is: (value) => filledText.is(value) && !String(value).includes("/"),
  mustBe: "a JWT",
  remedy: (value) => (filledText.is(value) ? 'to read a file, pass () => readFile(path, "utf8")' : undefined),
};
const source = either(jwt, { ...func, mustBe: "a function that returns one" });
const proof: Known<ClientProof> = { clientSecret: secret, privateKey: anything };
const identityProvider: Known<IdentityProvider> = {
  ...proof,
  issuer: needed(issuerUrl),
  clientId: needed(filledText),
  idToken: needed(source),
};

interface Ways {
  readonly oauth: OAuthOptions;
  readonly clientCredentials: ClientCredentialsOptions;
  readonly enterpriseManaged: EnterpriseManagedOptions;
  readonly workloadIdentity: WorkloadIdentityOptions;
}

const knownSignIn: Known<OAuthOptions, SignInSettings> = {
  ...shared,
  ...proof,
  clientId: filledText,
  clientMetadataUrl: {
    is: (value) => isUrl(value) && /^https:\/\/[^/]+\/./.test(value),
    mustBe: "an https URL with a path",
    isSecret: true,
  },
  clientName: preset(filledText, "Halyard"),
  redirectUri: url,
  open: either(oneOf("browser", "popup", "redirect"), func),
  signInTimeoutMs: preset(milliseconds, 300_000),
};

/** The options of each way. */
const known: { readonly [Way in keyof Ways]: Known<Ways[Way]> } = {
  oauth: knownSignIn,
  clientCredentials: { ...shared, ...proof, clientId: needed(filledText) },
  enterpriseManaged: {
    ...shared,
    ...proof,
    clientId: needed(filledText),
    identityProvider: needed(optionsOf(identityProvider)),
  },
  workloadIdentity: { ...shared, assertion: needed(source), clientId: filledText },
};

const otherWay = "use clientCredentials(), enterpriseManaged() or workloadIdentity()";
const otherOptions: Readonly<Record<string, string>> = {
  token: "pass the token itself as auth of connect()",
  grantType: otherWay,
  grant_type: otherWay,
};

function otherOption(name: string): string | undefined {
  return Object.hasOwn(otherOptions, name) ? `is not an option: ${otherOptions[name]}` : undefined;
}

type Given = OAuthOptions &
  Partial<Omit<EnterpriseManagedOptions, "clientId"> & Omit<WorkloadIdentityOptions, "clientId">>;

/** Throws for the first option that is unknown or cannot work. */
export function checkOAuthOptions(subject: keyof Ways, options: Given): void {
  checkOptions({ subject, problem: otherOption }, options, known[subject]);
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
  };
  checkKeys(options, fail);
  const { clientSecret, privateKey, assertion, clientId, clientMetadataUrl, issuer } = options;
  if (subject === "clientCredentials" && clientSecret === undefined && privateKey === undefined)
    fail("clientSecret", "is required, or privateKey");
  if (clientSecret !== undefined && privateKey !== undefined)
    fail("privateKey", "cannot be used together with clientSecret");
  if (clientId === undefined && clientSecret !== undefined) fail("clientId", "is required with clientSecret");
  if ((clientId ?? clientMetadataUrl) === undefined && privateKey !== undefined)
    fail("clientId", "is required with privateKey, or clientMetadataUrl");
  if (issuer === undefined && (clientSecret ?? assertion) !== undefined) {
    fail(
      "issuer",
      `is required with ${clientSecret === undefined ? "assertion" : "clientSecret"}, which is sent to no other authorization server; "announced" trusts the one that the server announces`,
    );
  }
}

/** The options of {@link oauth}, which have been checked, with their defaults. */
export function toSignInSettings(options: OAuthOptions): SignInSettings {
  return withDefaults(options, knownSignIn);
}

function checkKeys(options: Given, fail: (field: string, problem: string) => never): void {
  const provider = options.identityProvider;
  const keys = { privateKey: options.privateKey, "identityProvider.privateKey": provider?.privateKey };
  for (const [field, key] of Object.entries(keys)) {
    const problem = key === undefined ? undefined : keyProblem(key);
    if (problem !== undefined) fail(field, problem);
  }
}
