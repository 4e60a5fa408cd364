// Finds the metadata of a protected resource (RFC 9728): which authorization servers issue tokens for an MCP server.
import { isTexts } from "../../../base/wire/message.ts";
import type { Net } from "../net/net.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError, shown } from "../settings/errors.ts";
import type { Challenge } from "../../settings/challenge.ts";
import { firstDocument, type FoundDocument } from "./first-document.ts";

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
  return read(document, expected);
}

/** The names under which the metadata of a server may appear, the canonical one first. oauth4webapi would compare them as URLs. */
function namesOf(server: string): [string, ...string[]] {
  const { origin, pathname, search } = new URL(server);
  const path = pathname + search;
  return path === "/" ? [origin, `${origin}/`] : [origin + path, server];
}

function read({ url, json }: FoundDocument, expected: readonly string[]): FoundResource {
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
