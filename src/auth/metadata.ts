// The metadata of a protected resource (RFC 9728), which tells clients where to get a token.
import type { BearerAuthSettings } from "./options.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/** The text of the document. It repeats `resource` exactly as configured, because clients compare it. */
export function resourceMetadata(settings: BearerAuthSettings): string {
  const { scopesSupported = settings.requiredScopes } = settings;
  return JSON.stringify({
    resource: settings.resource,
    authorization_servers: settings.authorizationServers,
    scopes_supported: scopesSupported.length > 0 ? scopesSupported : undefined,
    bearer_methods_supported: ["header"],
    resource_name: settings.resourceName,
    resource_documentation: settings.resourceDocumentation,
  });
}

/** The paths of the document: the well-known one, and the same followed by the path of the resource. */
export function metadataPaths(resource: string): string[] {
  const { pathname } = new URL(resource);
  return pathname === "/" ? [wellKnown] : [wellKnown, wellKnown + pathname];
}

/**
 * The URL of the document. It depends on the configured `resource` alone, so no request header can send clients elsewhere.
 */
export function metadataUrl(resource: string): string {
  const { origin } = new URL(resource);
  return origin + (metadataPaths(resource).at(-1) ?? wellKnown);
}
