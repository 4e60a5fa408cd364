// A person before chromium who signs in at a real authorization server, for a page of another origin.
import type { OAuthOptions } from "halyard/client/oauth";
import type { Page } from "playwright-core";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { openProfile, type Profile, serveSite, type Site } from "../support/browser.ts";
import { type ProtectedOptions, ProtectedServer } from "../support/protected-server.ts";
import { pages } from "./start.ts";
import type { SubjectOptions } from "./subject.ts";

export interface Started {
  readonly issuer: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly site: Site;
  readonly profile: Profile;
  readonly page: Page;
  /** The options of a sign-in in a popup. */
  readonly popup: { readonly oauth: OAuthOptions };
}

/** A protected server, an authorization server with pages, and a page of a third origin that may use both. */
export async function start(options: Partial<ProtectedOptions> = {}): Promise<Started> {
  const site = await serveSite({ pages, connectTo: [] });
  const issuer = await AuthorizationServer.startForTest({ pages: true, registersPages: true });
  const server = await ProtectedServer.startForTest({
    authorizationServers: [issuer.issuer],
    requiredScopes: ["notes:read"],
    http: { cors: { origins: [site.origin] } },
    ...options,
  });
  site.connectTo = [server.origin, issuer.issuer];
  const profile = await openProfile();
  const page = await profile.open(site.origin);
  const popup = { oauth: { open: "popup", redirectUri: `${site.origin}/callback` } } as const;
  return { issuer, server, site, profile, page, popup };
}

/** Connects in the handler of a click; resolves with the popup that opens. */
export async function click(
  page: Page,
  { url }: { readonly url: string },
  options: SubjectOptions,
): Promise<{ readonly popup: Page; readonly connected: Promise<string> }> {
  const connected = page.evaluate(([to, given]) => mcp.connectOnClick(to, given), [url, options] as const);
  connected.catch(() => {});
  const opened = page.waitForEvent("popup");
  await page.getByRole("button", { name: "Connect" }).click();
  return { connected, popup: await opened };
}

/** Presses the buttons of the authorization server. */
export async function signIn(page: Page, name = "alice"): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Allow" }).click();
}

/** The subject that the server sees. */
export const whoami = (page: Page): Promise<string> =>
  page.evaluate(async () => (await mcp.call("whoami")).text);
