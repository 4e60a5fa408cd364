// The options of `bearerAuth`: what each is, its kind and its default; and the checks of options that depend on each other.
import type { JSONWebKeySet } from "jose";
import { ConfigurationError } from "../base/errors.ts";
import {
  either,
  filledText,
  flag,
  func,
  isPlain,
  type Kind,
  type Known,
  listOf,
  numberFrom,
  options as optionsOf,
  preset,
  text,
  texts,
} from "../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../base/options.ts";
import { scopesProblem } from "../protocol/principal.ts";
import type { TokenClaims } from "./claims.ts";
import { type IntrospectionOptions, knownIntrospection } from "./introspection.ts";
import { urlProblem } from "./authorization-server.ts";

/** Options of `bearerAuth`. By default, tokens are JWTs, and the metadata of their issuer names the keys. */
export interface BearerAuthOptions {
  /** The URL of the endpoint exactly as users enter it in their client, path included. */
  readonly resource: string;
  /** The issuers whose tokens are accepted, exactly as in their metadata. */
  readonly authorizationServers: readonly string[];
  /** The keys of the one authorization server, or their URL. @default {the URL in its metadata} */
  readonly jwks?: string | JSONWebKeySet | undefined;
  /** Verifies tokens by introspection at the one authorization server, for tokens that are not JWTs. */
  readonly introspection?: IntrospectionOptions | undefined;
  /**
   * Verifies tokens with your own code: return the claims `{ sub, aud, scope, exp }`, or undefined. Issuer, audience and times are checked
   * afterwards, so `aud` is required; `iss` is not if there is one authorization server.
   */
  readonly verify?:
    | ((token: string) => TokenClaims | undefined | Promise<TokenClaims | undefined>)
    | undefined;
  /** The audiences to accept. @default {the resource} */
  readonly audience?: string | readonly string[] | undefined;
  /** The scopes that every request needs. @default {[]} */
  readonly requiredScopes?: readonly string[] | undefined;
  /** The scopes that clients should request first, for the metadata. @default {requiredScopes} */
  readonly scopesSupported?: readonly string[] | undefined;
  /** Scopes that include others: `{ "notes:admin": ["notes:read", "notes:write"] }`. */
  readonly scopeHierarchy?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The accepted signature algorithms, all asymmetric. @default {RS, PS and ES of each size, EdDSA} */
  readonly algorithms?: readonly string[] | undefined;
  /** Accepts only tokens of the type `at+jwt` (RFC 9068). @default {false} */
  readonly requireTokenType?: boolean | undefined;
  /** Seconds by which clocks may differ. Past it, a token that has expired or is not valid yet gets 401. @default {5} */
  readonly clockToleranceSeconds?: number | undefined;
  /** The display name of the resource. */
  readonly resourceName?: string | undefined;
  /** The URL of its documentation. */
  readonly resourceDocumentation?: string | undefined;
  /** Serves the metadata of the first authorization server at this origin, where clients of 2025-03-26 look for it. @default {false} */
  readonly passServerMetadata?: boolean | undefined;
}

/** The options, completed with their defaults. */
export interface BearerAuthSettings
  extends Omit<BearerAuthOptions, Defaulted>, Filled<Pick<BearerAuthOptions, Defaulted>> {}

type Defaulted =
  | "requiredScopes"
  | "scopeHierarchy"
  | "algorithms"
  | "requireTokenType"
  | "clockToleranceSeconds"
  | "passServerMetadata";

const asymmetricAlgorithms: readonly string[] = [
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

const hierarchy: Kind<Readonly<Record<string, readonly string[]>>> = {
  is: (value) => isPlain(value) && Object.values(value).every(texts.is),
  mustBe: "an object of lists of scopes",
};
const tolerance = numberFrom(0, 300, "a number of seconds from 0 to 300");

export const knownBearerOptions: Known<BearerAuthOptions, BearerAuthSettings> = {
  resource: text,
  authorizationServers: texts,
  jwks: {
    is: (value) => text.is(value) || Array.isArray((Object(value) as { keys?: unknown }).keys),
    mustBe: "a URL, or an object with a list of keys",
    remedy: keysRemedy,
  },
  introspection: optionsOf(knownIntrospection),
  verify: func,
  audience: either(filledText, listOf(filledText, "a list of them")),
  requiredScopes: preset(texts, []),
  scopesSupported: texts,
  scopeHierarchy: preset(hierarchy, {}),
  algorithms: preset(texts, asymmetricAlgorithms),
  requireTokenType: preset(flag, false),
  clockToleranceSeconds: preset(tolerance, 5),
  resourceName: text,
  resourceDocumentation: {
    is: (value) => typeof value === "string" && URL.canParse(value),
    mustBe: "an absolute URL",
  },
  passServerMetadata: preset(flag, false),
};

function keysRemedy(value: unknown): string | undefined {
  if (typeof value === "function") return "pass the URL itself";
  if (Array.isArray(value) || isJwk(value)) return "put it into { keys: [ … ] }";
  const tag = Object.prototype.toString.call(value);
  return tag.includes("Key") ? "pass { keys: [await exportJWK(key)] } of jose" : undefined;
}

function isJwk(value: unknown): value is object {
  return text.is((Object(value) as { kty?: unknown }).kty);
}

const bearerExample =
  '{ resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] }';
const introspecting = "pass introspection: { clientId, clientSecret }";
const instead: Readonly<Record<string, string>> = {
  issuer: "did you mean authorizationServers, which is a list of issuers?",
  issuers: "did you mean authorizationServers?",
  secret: "for tokens that are signed with a shared secret, pass verify",
  clientId: introspecting,
  clientSecret: introspecting,
};

function misnamedProblem(field: string): string | undefined {
  return Object.hasOwn(instead, field) ? `is not an option: ${instead[field]}` : undefined;
}

/** Fills in the defaults. Throws for options that are invalid or unsafe. */
export function readBearerAuth(options: BearerAuthOptions): BearerAuthSettings {
  checkOptions(
    { subject: "bearerAuth", such: bearerExample, problem: misnamedProblem },
    options,
    knownBearerOptions,
  );
  checkUrls(options);
  const settings = withDefaults(options, knownBearerOptions);
  checkSource(settings);
  const { requiredScopes, scopesSupported = [], scopeHierarchy } = settings;
  const included = [...Object.keys(scopeHierarchy), ...Object.values(scopeHierarchy).flat()];
  const lists = { requiredScopes, scopesSupported, scopeHierarchy: included };
  for (const [field, scopes] of Object.entries(lists)) {
    const problem = scopesProblem(scopes);
    if (problem !== undefined) fail(field, problem);
  }
  return settings;
}

/** The address of a metadata document is not the issuer that the document names. */
function documentProblem(issuer: string): string | undefined {
  const [base] = issuer.split("/.well-known/", 1);
  return base === issuer ? undefined : `is the address of its metadata: pass ${base}`;
}

function checkUrls({ resource, authorizationServers = [], audience }: BearerAuthOptions): void {
  const problem = urlProblem(resource);
  if (problem !== undefined) {
    fail("resource", `${problem}: use the URL that users enter, such as https://mcp.example.com/mcp`);
  }
  if (authorizationServers.length === 0) {
    fail("authorizationServers", "is empty: name the issuer of the tokens, such as https://auth.example.com");
  }
  for (const issuer of authorizationServers) {
    const wrong =
      urlProblem(issuer) ?? (issuer.includes("?") ? "must not have a query" : documentProblem(issuer));
    if (wrong !== undefined) fail("authorizationServers", `has an issuer that ${wrong}`);
  }
  if (audience?.length === 0) {
    fail("audience", "is empty: leave it out, or name what tokens are issued for");
  }
}

function checkSource(settings: BearerAuthSettings): void {
  const { jwks, introspection, verify, authorizationServers, algorithms } = settings;
  const given = Object.entries({ jwks, introspection, verify }).filter(([, value]) => value !== undefined);
  const [[first] = [], [second] = []] = given;
  if (second !== undefined) fail(second, `cannot be combined with ${first}: choose one of them`);
  const isForOne = first === "jwks" || first === "introspection";
  if (isForOne && authorizationServers.length > 1) {
    fail(first, "works with one authorization server only: leave it out, or use verify");
  }
  if (typeof jwks === "object") checkKeys(jwks.keys);
  for (const [field, url] of [
    ["jwks", typeof jwks === "object" ? undefined : jwks],
    ["introspection.endpoint", introspection?.endpoint],
  ] as const) {
    if (url?.includes("-----BEGIN")) fail(field, pemProblem);
    const problem = url === undefined ? undefined : urlProblem(url);
    if (problem !== undefined) fail(field, problem);
  }
  const unsafe = algorithms.find((algorithm) => !asymmetricAlgorithms.includes(algorithm));
  if (unsafe !== undefined || algorithms.length === 0) {
    const remedy = `choose from ${asymmetricAlgorithms.join(", ")}; for a shared secret use verify`;
    fail("algorithms", unsafe === undefined ? `is empty: ${remedy}` : `has ${unsafe}: ${remedy}`);
  }
}

const pemProblem = 'is a PEM text: pass { keys: [await exportJWK(await importSPKI(pem, "ES256"))] } of jose';

function checkKeys(keys: readonly unknown[]): void {
  if (keys.length === 0) fail("jwks.keys", "is empty: pass the public keys of the issuer");
  for (const [index, key] of keys.entries()) {
    const field = `jwks.keys[${index}]`;
    if (!isJwk(key)) fail(field, "is not a JWK: pass await exportJWK(key) of jose");
    if ("d" in key) fail(field, "is a private key: pass the public half");
  }
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "bearerAuth", field }, problem);
}
