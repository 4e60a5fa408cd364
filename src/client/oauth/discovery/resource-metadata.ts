// Finds the metadata of a protected resource (RFC 9728): which authorization servers issue tokens for an MCP server.
import type { Net } from "../net/net.ts";
import { shown } from "../net/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import type { Challenge } from "./challenge.ts";
import { firstDocument, type Found, isTexts } from "./first-document.ts";

/** What tokens for a server are for, and who issues them. */
export interface FoundResource {
  /** The value of `resource`, byte for byte. */
  readonly resource: string;
  /** In the server's order; empty if the server has no metadata. */
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
  const { server, challenge, net } = options;
  const { origin, pathname, search } = new URL(server);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const announced = challenge.resourceMetadata;
  const document = await firstDocument(
    [
      // A relative address is not allowed, but it is clear what it means.
      ...(announced === undefined
        ? []
        : [URL.canParse(announced, server) ? new URL(announced, server).href : announced]),
      root + (pathname === "/" ? "" : pathname) + search,
      root,
    ],
    net,
  );
  if (document === undefined) {
    return {
      resource: options.resource ?? namesOf(server)[0],
      issuers: [],
      scopesSupported: undefined,
      document: undefined,
    };
  }
  const expected = options.resource === undefined ? namesOf(server) : [options.resource];
  if (document.url === root && options.resource === undefined) expected.push(origin, `${origin}/`);
  return read(document, expected);
}

/** The names under which a server may appear, the canonical one first. */
function namesOf(server: string): [string, ...string[]] {
  const url = new URL(server);
  url.hash = "";
  if (url.pathname === "/" && url.search === "") return [url.origin, url.href];
  return [url.href, server];
}

function read({ url, json }: Found, expected: readonly string[]): FoundResource {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = json;
  if (typeof resource !== "string" || !expected.includes(resource)) {
    throw new OAuthError(
      "resource",
      `The metadata of ${shown(expected[0])} is for another resource: ${url} has "resource": ${shown(resource)}. Change it there, or pass it as \`resource\` if you trust it`,
    );
  }
  if (!isTexts(issuers) || issuers.length === 0) {
    throw new OAuthError(
      "metadata",
      `${url} names no authorization server: add "authorization_servers": ["https://…"] there`,
    );
  }
  return { resource, issuers, scopesSupported: isTexts(scopes) ? scopes : undefined, document: url };
}
