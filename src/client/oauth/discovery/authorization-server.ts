// Finds the authorization server of an MCP server, and its metadata (RFC 8414, or OpenID Connect Discovery).
import type { AuthorizationServer } from "oauth4webapi";
import { isTexts } from "../../../base/wire/message.ts";
import type { Net } from "../net/net.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError, shown } from "../settings/errors.ts";
import { firstDocument, type FoundDocument } from "./first-document.ts";
import type { FoundResource } from "./resource-metadata.ts";

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
  if (found !== undefined) return read(found, [issuer, alias], net);
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
  if (found !== undefined) return read(found, [origin, `${origin}/`], net);
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

async function read(
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
