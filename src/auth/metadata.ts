// RFC 9728: what a client reads to find out where to get a token for this resource.
import type { BearerAuthOptions } from "./options.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/** The text of the document; the resource exactly as it was configured, for clients compare it. */
export function resourceMetadata(options: BearerAuthOptions): string {
  const { scopesSupported = options.requiredScopes ?? [] } = options;
  return JSON.stringify({
    resource: options.resource,
    authorization_servers: options.authorizationServers,
    scopes_supported: scopesSupported.length > 0 ? scopesSupported : undefined,
    bearer_methods_supported: ["header"],
    resource_name: options.resourceName,
    resource_documentation: options.resourceDocumentation,
  });
}

/** Where the document is: at the root, and below it at the path of the resource. */
export function metadataPaths(resource: string): string[] {
  const { pathname } = new URL(resource);
  return pathname === "/" ? [wellKnown] : [wellKnown, wellKnown + pathname];
}

/**
 * The URL of the document. It follows from the resource, which is configured: no header of a request, forged or set by a
 * proxy, has a say in where clients are sent.
 */
export function metadataUrl(resource: string): string {
  const { origin } = new URL(resource);
  return origin + (metadataPaths(resource).at(-1) ?? wellKnown);
}
