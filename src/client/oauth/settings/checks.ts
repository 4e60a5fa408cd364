// Checks the options of the ways to obtain tokens. What cannot work throws, and names the option.
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
  texts,
  url,
  withMethods,
} from "../../../base/kinds.ts";
import { checkOptions } from "../../../base/options.ts";
import { keyProblem } from "./keys.ts";
import type {
  ClientCredentialsOptions,
  ClientProof,
  EnterpriseManagedOptions,
  IdentityProvider,
  OAuthOptions,
  SharedOAuthOptions,
  WorkloadIdentityOptions,
} from "./options.ts";

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

/** The options of each way. */
const known: { readonly [Way in keyof Ways]: Known<Ways[Way]> } = {
  oauth: {
    ...shared,
    ...proof,
    clientId: filledText,
    clientMetadataUrl: {
      is: (value) => isUrl(value) && /^https:\/\/[^/]+\/./.test(value),
      mustBe: "an https URL with a path",
      isSecret: true,
    },
    clientName: filledText,
    redirectUri: url,
    open: either(oneOf("browser", "popup", "redirect"), func),
    signInTimeoutMs: milliseconds,
  },
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

function checkKeys(options: Given, fail: (field: string, problem: string) => never): void {
  const provider = options.identityProvider;
  const keys = { privateKey: options.privateKey, "identityProvider.privateKey": provider?.privateKey };
  for (const [field, key] of Object.entries(keys)) {
    const problem = key === undefined ? undefined : keyProblem(key);
    if (problem !== undefined) fail(field, problem);
  }
}
