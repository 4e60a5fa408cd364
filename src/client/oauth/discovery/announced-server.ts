// Which authorization server is asked for tokens: one that the MCP server names, or has named before.
import type { AuthorizationServer } from "oauth4webapi";
import type { Net } from "../net/net.ts";
import { shown } from "../net/shown.ts";
import { shownUrl } from "../../settings/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import type { FoundResource } from "./resource-metadata.ts";
import { findAuthorizationServer, findByServerRoot, isGuess, isSameIssuer } from "./server-metadata.ts";

/** The authorization server of those that the server names: the one that the user has given, else the one of before, else the first. */
export async function announcedServer(
  server: string,
  { issuers, document }: FoundResource,
  {
    issuer = "announced",
    before,
  }: { readonly issuer?: string | undefined; readonly before?: string | undefined },
  net: Net,
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

/** The error of an attempt: if nobody has announced the endpoints that failed, it says so. */
export function unguided(server: string, as: AuthorizationServer, cause: unknown): unknown {
  const isOfEndpoint = cause instanceof OAuthError && ["registration", "token"].includes(cause.problem);
  if (as[isGuess] !== true || !isOfEndpoint) return cause;
  return new OAuthError(
    "metadata",
    `${shownUrl(server)} requires a token, but does not say who issues it: serve /.well-known/oauth-protected-resource there. If it takes a fixed token, pass that as the option auth. The addresses that older servers have do not work: ${cause.message}`,
    { cause },
  );
}
