// Checks the options of the ways to obtain tokens. What cannot work throws, and names the option.
import { isTimerMs } from "../../../async/timers.ts";
import { ConfigurationError } from "../../../errors.ts";
import { checkOptions, type Known } from "../../../options.ts";
import { isTexts } from "../../../wire/message.ts";
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

const shared: Known<SharedOAuthOptions> = {
  scopes: true,
  store: true,
  dpop: true,
  issuer: true,
  resource: true,
  fetch: true,
};
const proof: Known<ClientProof> = { clientSecret: true, privateKey: true };
const identityProvider: Known<IdentityProvider> = { ...proof, issuer: true, clientId: true, idToken: true };

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
    clientId: true,
    clientMetadataUrl: true,
    clientName: true,
    redirectUri: true,
    open: true,
    signInTimeoutMs: true,
  },
  clientCredentials: { ...shared, ...proof, clientId: true },
  enterpriseManaged: { ...shared, ...proof, clientId: true, identityProvider },
  workloadIdentity: { ...shared, assertion: true, clientId: true },
};

type Given = OAuthOptions & Partial<EnterpriseManagedOptions & WorkloadIdentityOptions>;

type Rule = readonly [holds: (value: unknown) => boolean, must: string];

const text: Rule = [isText, "must be a text that is not empty"];
const url: Rule = [isUrl, "must be the text of a URL"];

/** What each option must be, as far as a mistake would not be noticed at once. */
const rules: { readonly [Name in keyof Given]: Rule } = {
  issuer: [(value) => value === "announced" || isUrl(value), 'must be the text of a URL, or "announced"'],
  resource: url,
  clientMetadataUrl: [
    (value) => isUrl(value) && /^https:\/\/[^/]+\/./.test(String(value)),
    "must be an https URL with a path",
  ],
  scopes: [isTexts, "must be a list of texts"],
  store: [
    (value) => isFunction((Object(value) as { exclusive?: unknown }).exclusive),
    "must be a TokenStore, such as fileStore(path)",
  ],
  dpop: [(value) => typeof value === "boolean", "must be true or false"],
  fetch: [isFunction, "must be a function"],
  clientId: text,
  clientSecret: text,
  clientName: text,
  redirectUri: url,
  signInTimeoutMs: [
    (value) => typeof value === "number" && isTimerMs(value),
    "must be a positive number of milliseconds",
  ],
  assertion: [isTextSource, "must be a text, or a function that returns one"],
  identityProvider: [isProvider, "must have issuer (a URL), clientId and idToken"],
};

/** Throws for the first option that is unknown or cannot work. */
export function checkOAuthOptions(subject: keyof Ways, options: Given): void {
  checkOptions({ subject }, options, known[subject]);
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
  };
  for (const [name, [holds, must]] of Object.entries(rules)) {
    const value = options[name as keyof Given];
    if (value !== undefined && !holds(value)) fail(name, must);
  }
  for (const name of required[subject]) if (options[name] === undefined) fail(name, "is required");
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

const required: { readonly [Way in keyof Ways]: readonly (keyof Given)[] } = {
  oauth: [],
  clientCredentials: ["clientId"],
  enterpriseManaged: ["clientId", "identityProvider"],
  workloadIdentity: ["assertion"],
};

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isTextSource(value: unknown): boolean {
  return isText(value) || isFunction(value);
}

function isProvider(value: unknown): boolean {
  const { issuer, clientId, idToken } = Object(value) as Partial<IdentityProvider>;
  return isUrl(issuer) && isText(clientId) && isTextSource(idToken);
}

function isUrl(value: unknown): boolean {
  // "localhost:3000" can be parsed too.
  return typeof value === "string" && value.includes("://") && URL.canParse(value);
}
