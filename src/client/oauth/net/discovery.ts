// Finds the metadata of an MCP server, and of its authorization server.
import type { AuthorizationServer } from "oauth4webapi";
import { isObject, isTexts } from "../../../base/wire/message.ts";
import { hiddenReason, type Net } from "./net.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError, shown } from "../settings/errors.ts";
import type { Challenge } from "../../settings/challenge.ts";

/** Marks what was found nowhere: the endpoints that a server of 2025-03-26 has by default. */
const isGuess = "is_guess";

const endpoints = ["authorization_endpoint", "token_endpoint", "registration_endpoint"] as const;

/** The authorization server of those that the server names: the one that the user has given, else the one of before, else the first. */
export async function announcedServer(
  server: string,
  { issuers, document }: FoundResource,
  net: Net,
  issuer = "announced",
  before?: string,
): Promise<AuthorizationServer> {
  const isGiven = issuer !== "announced";
  const usable = issuers.filter((one) => (isGiven ? isSameIssuer(one, issuer) : URL.canParse(one)));
  const chosen = usable.find((one) => one === (isGiven ? issuer : before)) ?? usable[0];
  if (chosen === undefined) {
    throw new OAuthError(
      "issuer",
      `${shownUrl(server)} names ${issuers.map(shown).join(", ")} as its authorization server, but this client belongs to ${shownUrl(issuer)}: pass the issuer at which it is registered`,
    );
  }
  if (document === undefined) return findByServerRoot(server, net);
  return findAuthorizationServer(chosen, net, isGiven ? issuer : chosen);
}

/** The authorization server that issued tokens before. A server of 2025-03-26 may be one itself, without metadata. */
export function formerServer(server: string, issuer: string, net: Net): Promise<AuthorizationServer> {
  const isServer = issuer === new URL(server).origin;
  return isServer ? findByServerRoot(server, net) : findAuthorizationServer(issuer, net);
}

/** The error of an attempt. If no metadata named the endpoints that failed, it says so. */
export function unguided(server: string, as: AuthorizationServer, cause: unknown): unknown {
  const isOfEndpoint = cause instanceof OAuthError && ["registration", "token"].includes(cause.problem);
  if (as[isGuess] !== true || !isOfEndpoint) return cause;
  return new OAuthError(
    "metadata",
    `${shownUrl(server)} requires a token, but does not say who issues it: serve /.well-known/oauth-protected-resource there. If it takes a fixed token, pass that as the option auth. The addresses that older servers have do not work: ${cause.message}`,
    { cause },
  );
}

/** `alias`: the same issuer with or without a slash at its end, as the user has named it. */
export async function findAuthorizationServer(
  issuer: string,
  net: Net,
  alias: string = issuer,
): Promise<AuthorizationServer> {
  if (isNowhere(issuer))
    throw new OAuthError(
      "metadata",
      `No authorization server can be at ${shown(issuer)}: if the server uses developmentIssuer(), pass a token of its issuer.token() as auth`,
    );
  await net.check(issuer);
  const urls = placesOf(issuer);
  const found = issuer.includes("?") ? undefined : await firstDocument(urls, net);
  if (found !== undefined) return readServer(found, [issuer, alias], net);
  throw new OAuthError(
    "metadata",
    `The authorization server ${shown(issuer)} must serve its metadata at one of ${urls.join(", ")}`,
  );
}

/** No name below `.invalid` can be looked up (RFC 6761); the development issuer has one. */
function isNowhere(issuer: string): boolean {
  return URL.canParse(issuer) && new URL(issuer).hostname.endsWith(".invalid");
}

/** For servers of 2025-03-26, which name no authorization server: they are one, or have one at their root. */
async function findByServerRoot(server: string, net: Net): Promise<AuthorizationServer> {
  const { origin } = new URL(server);
  const found = await firstDocument(placesOf(origin), net);
  // The metadata of both issuers is at the same address, and the server does not say which one it is.
  if (found !== undefined) return readServer(found, [origin, `${origin}/`], net);
  return {
    issuer: origin,
    [isGuess]: true,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
  };
}

/** Whether two issuers differ in nothing but a slash at the end. The metadata of both is at the same address. */
function isSameIssuer(one: unknown, other: unknown): boolean {
  return String(one).replace(/\/$/, "") === String(other).replace(/\/$/, "");
}

/** Where the metadata of an issuer may be, in the order of MCP. oauth4webapi covers only the first and the last. */
function placesOf(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const openid = "/.well-known/openid-configuration";
  const urls = [`${origin}/.well-known/oauth-authorization-server${path}`, origin + openid + path];
  return path === "" ? urls : [...urls, origin + path + openid];
}

async function readServer(
  { url, json }: FoundDocument,
  issuers: readonly string[],
  net: Net,
): Promise<AuthorizationServer> {
  const { issuer } = json;
  // oauth4webapi compares issuers as URLs, to which a slash at the end can be the same as none.
  if (typeof issuer !== "string" || !issuers.includes(issuer)) {
    const way = isSameIssuer(issuer, issuers[0]) ? `. Until then, pass \`issuer: ${shown(issuer)}\`` : "";
    throw new OAuthError(
      "issuer",
      `${shownUrl(url)} has "issuer": ${shown(issuer)}, but must have ${shown(issuers[0])}: make it equal there, or in "authorization_servers" of the MCP server${way}`,
    );
  }
  for (const name of endpoints) {
    const endpoint = json[name];
    // Some write null for what they do not have.
    if ((endpoint ?? undefined) === undefined && name !== "token_endpoint") continue;
    if (typeof endpoint !== "string" || endpoint === "")
      throw new OAuthError(
        "metadata",
        `${shownUrl(url)} has "${name}": ${shown(endpoint)}, but must have a URL`,
      );
    await net.check(endpoint);
  }
  // Whatever is not a list says nothing: it must not be searched like one.
  const usable = Object.entries(json).filter(
    ([name, value]) => value !== null && (!name.endsWith("s_supported") || isTexts(value)),
  );
  return Object.fromEntries(usable) as unknown as AuthorizationServer;
}

/** What tokens for a server are for, and who issues them. */
export interface FoundResource {
  /** The value of `resource`, byte for byte. */
  readonly resource: string;
  /** In the server's order; its origin if it has no metadata, as in 2025-03-26. */
  readonly issuers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  /** Where the metadata is. */
  readonly document: string | undefined;
}

export async function findResource(options: {
  readonly server: string;
  readonly challenge: Challenge;
  readonly net: Net;
  /** What the metadata must name, if not the server. */
  readonly resource?: string | undefined;
}): Promise<FoundResource> {
  const { server, challenge, net, resource } = options;
  const { origin, pathname, search } = new URL(server);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const urls = [root + (pathname === "/" ? "" : pathname) + search, root];
  const announced = challenge.resourceMetadata;
  // A relative address is not allowed, but it is clear what it means.
  if (announced !== undefined)
    urls.unshift(URL.canParse(announced, server) ? new URL(announced, server).href : announced);
  const document = await firstDocument(urls, net);
  const expected: [string, ...string[]] = resource === undefined ? namesOf(server) : [resource];
  if (document === undefined) {
    return { resource: expected[0], issuers: [origin], scopesSupported: undefined, document: undefined };
  }
  if (document.url === root && resource === undefined) expected.push(origin, `${origin}/`);
  return readResource(document, expected);
}

/** The names under which the metadata of a server may appear, the canonical one first. oauth4webapi would compare them as URLs. */
function namesOf(server: string): [string, ...string[]] {
  const { origin, pathname, search } = new URL(server);
  const path = pathname + search;
  return path === "/" ? [origin, `${origin}/`] : [origin + path, server];
}

function readResource({ url, json }: FoundDocument, expected: readonly string[]): FoundResource {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = json;
  if (typeof resource !== "string" || !expected.includes(resource)) {
    const named = shown(resource);
    const ways =
      typeof resource === "string"
        ? `, connect to ${named}, or pass \`resource: ${named}\` if you trust it`
        : "";
    throw new OAuthError(
      "resource",
      `${shownUrl(url)} has "resource": ${named}, but must have ${shown(expected[0])}. Change it there${ways}`,
    );
  }
  if (!isTexts(issuers) || !issuers.some((issuer) => URL.canParse(issuer))) {
    throw new OAuthError(
      "metadata",
      `${shownUrl(url)} must name the issuer in "authorization_servers": add a list of URLs`,
    );
  }
  return { resource, issuers, scopesSupported: isTexts(scopes) ? scopes : undefined, document: url };
}

export interface FoundDocument {
  readonly url: string;
  readonly json: { readonly [name: string]: unknown };
}

/** Resolves with the first document that is there. Only a 4xx says that one is not; in a browser, that may be unreadable. */
async function firstDocument(urls: readonly string[], net: Net): Promise<FoundDocument | undefined> {
  let unreadable: string | undefined;
  for (const url of new Set(urls)) {
    const { status, json } = await net.document(url);
    if (status === 0) unreadable ??= url;
    if (status < 200 || status > 299) continue;
    if (isObject(json)) return { url, json };
    throw new OAuthError("metadata", `${shownUrl(url)} must respond with a JSON object`);
  }
  if (unreadable === undefined) return undefined;
  throw new OAuthError("metadata", `Could not fetch ${shownUrl(unreadable)}: ${hiddenReason}`);
}
