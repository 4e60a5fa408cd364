// The options of a resource server, and the mistakes that are found when it is made.
import type { JSONWebKeySet } from "jose";
import { ConfigurationError } from "../errors.ts";
import { checkOptions, type Known } from "../options.ts";
import { scopesProblem } from "../protocol/scopes.ts";
import type { TokenClaims } from "./claims.ts";
import type { IntrospectionOptions } from "./introspection.ts";
import { urlProblem } from "./urls.ts";

/** How an endpoint is protected. Tokens are JWT whose keys the metadata of their issuer names, unless it says otherwise. */
export interface BearerAuthOptions {
  /** The URL of the endpoint exactly as users type it into their client, path included. */
  readonly resource: string;
  /** The issuers whose tokens count, each exactly as it calls itself. */
  readonly authorizationServers: readonly string[];
  /** The keys of the one authorization server, or where they are. @default {what its metadata says} */
  readonly jwks?: string | JSONWebKeySet;
  /** Asks the one authorization server about each token, for tokens that are no JWT. */
  readonly introspection?: IntrospectionOptions;
  /** Verifies tokens in a way of your own: what the token says, or undefined. Issuer, audience and times are checked after. */
  readonly verify?: (token: string) => TokenClaims | undefined | Promise<TokenClaims | undefined>;
  /** What tokens must be issued for. @default {the resource} */
  readonly audience?: string | readonly string[];
  /** What everybody must have been granted. @default {[]} */
  readonly requiredScopes?: readonly string[];
  /** What clients should ask for at first, as the metadata says it. @default {requiredScopes} */
  readonly scopesSupported?: readonly string[];
  /** Scopes that stand above others: `{ "notes:admin": ["notes:read", "notes:write"] }`. */
  readonly scopeHierarchy?: Readonly<Record<string, readonly string[]>>;
  /** The signatures that are taken, all asymmetric. @default {RS, PS and ES of each size, EdDSA} */
  readonly algorithms?: readonly string[];
  /** Takes only tokens that are marked as access tokens, with the type `at+jwt` of RFC 9068. @default {false} */
  readonly requireTokenType?: boolean;
  /** By how much clocks may differ. @default {5} */
  readonly clockToleranceSeconds?: number;
  /** The name of the resource for people. */
  readonly resourceName?: string;
  /** Where people can read about it. */
  readonly resourceDocumentation?: string;
  /** Repeats the metadata of the first authorization server at this origin, where clients of 2025-03-26 look for it. @default {false} */
  readonly passServerMetadata?: boolean;
}

export const asymmetricAlgorithms: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

const knownIntrospection: Known<IntrospectionOptions> = {
  clientId: true,
  clientSecret: true,
  method: true,
  endpoint: true,
  cacheSeconds: true,
};

const knownOptions: Known<BearerAuthOptions> = {
  resource: true,
  authorizationServers: true,
  jwks: true,
  introspection: knownIntrospection,
  verify: true,
  audience: true,
  requiredScopes: true,
  scopesSupported: true,
  scopeHierarchy: true,
  algorithms: true,
  requireTokenType: true,
  clockToleranceSeconds: true,
  resourceName: true,
  resourceDocumentation: true,
  passServerMetadata: true,
};

/** Throws for options that cannot work, or would not be safe. */
export function checkBearerAuth(options: BearerAuthOptions): void {
  checkOptions({ subject: "bearerAuth" }, options, knownOptions);
  checkUrls(options);
  checkSource(options);
  const { requiredScopes = [], scopesSupported = [], scopeHierarchy = {} } = options;
  const hierarchy = [...Object.keys(scopeHierarchy), ...Object.values(scopeHierarchy).flat()];
  const lists = { requiredScopes, scopesSupported, scopeHierarchy: hierarchy };
  for (const [field, scopes] of Object.entries(lists)) {
    const problem = scopesProblem(scopes);
    if (problem !== undefined) fail(field, problem);
  }
  const { clockToleranceSeconds = 0 } = options;
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 300)) {
    fail("clockToleranceSeconds", "must be between 0 and 300");
  }
}

function checkUrls({
  resource,
  authorizationServers,
  audience,
  resourceDocumentation,
}: BearerAuthOptions): void {
  const problem = urlProblem(resource);
  if (problem !== undefined) {
    fail("resource", `${problem}: give the URL that users type, such as https://mcp.example.com/mcp`);
  }
  if (!Array.isArray(authorizationServers) || authorizationServers.length === 0) {
    fail("authorizationServers", "is empty: name the issuer of the tokens, such as https://auth.example.com");
  }
  for (const issuer of authorizationServers) {
    const wrong = urlProblem(issuer) ?? (issuer.includes("?") ? "must not have a query" : undefined);
    if (wrong !== undefined) fail("authorizationServers", `has an issuer that ${wrong}`);
  }
  const audiences = audience === undefined ? [resource] : [audience].flat();
  if (audiences.length === 0 || audiences.some((each) => typeof each !== "string" || each === "")) {
    fail("audience", "is empty: leave it out, or name what tokens are issued for");
  }
  if (resourceDocumentation !== undefined && !URL.canParse(resourceDocumentation)) {
    fail("resourceDocumentation", "must be an absolute URL");
  }
}

function checkSource(options: BearerAuthOptions): void {
  const { jwks, introspection, verify, authorizationServers, algorithms = asymmetricAlgorithms } = options;
  const given = Object.entries({ jwks, introspection, verify }).filter(([, value]) => value !== undefined);
  const [[first] = [], [second] = []] = given;
  if (second !== undefined) fail(second, `does not go with ${first}: tokens are verified in one way`);
  const isForOne = first === "jwks" || first === "introspection";
  if (isForOne && authorizationServers.length > 1) {
    fail(first, "is for one authorization server: with several, leave it out or use verify");
  }
  for (const [field, url] of [
    ["jwks", typeof jwks === "object" ? undefined : jwks],
    ["introspection.endpoint", introspection?.endpoint],
  ] as const) {
    const problem = url === undefined ? undefined : urlProblem(url);
    if (problem !== undefined) fail(field, problem);
  }
  if (introspection !== undefined && !(introspection.clientId && introspection.clientSecret)) {
    fail("introspection", "needs the clientId and clientSecret of this server");
  }
  const unsafe = algorithms.find((algorithm) => !asymmetricAlgorithms.includes(algorithm));
  if (unsafe !== undefined || algorithms.length === 0) {
    const remedy = `choose from ${asymmetricAlgorithms.join(", ")}; for a shared secret use verify`;
    fail("algorithms", unsafe === undefined ? `is empty: ${remedy}` : `has ${unsafe}: ${remedy}`);
  }
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "bearerAuth", field }, problem);
}
