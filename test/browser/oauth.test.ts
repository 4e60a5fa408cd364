// A person who signs in in chromium, by popup and by redirect, at a real authorization server of another origin.
import type { StateEvent } from "halyard/client";
import type { OAuthOptions } from "halyard/client/oauth";
import type { Page } from "playwright-core";
import { bearerAuth } from "halyard/auth";
import { describe, expect, test } from "vitest";
import { notesServer } from "../auth/protected.ts";
import { AuthorizationServer } from "../support/authorization-server.ts";
import { hasBrowser, openProfile, type Profile, serveSite, type Site } from "../support/browser.ts";
import { type ProtectedOptions, ProtectedServer } from "../support/protected-server.ts";
import { serveAltered } from "./altered.ts";
import { connectIn, pages } from "./start.ts";

interface Started {
  readonly issuer: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly site: Site;
  readonly profile: Profile;
  readonly page: Page;
  /** The options of a sign-in in a popup. */
  readonly popup: OAuthOptions;
}

/** A protected server, an authorization server with pages, and a page of a third origin that may use both. */
async function start(options: Partial<ProtectedOptions> = {}): Promise<Started> {
  const site = await serveSite({ pages, connectTo: [] });
  const issuer = await AuthorizationServer.startForTest({ pages: true, registersPages: true });
  const server = await ProtectedServer.startForTest({
    authorizationServers: [issuer.issuer],
    http: { cors: { origins: [site.origin] } },
    ...options,
  });
  site.connectTo = [server.origin, issuer.issuer];
  const profile = await openProfile();
  const page = await profile.open(site.origin);
  const popup = { open: "popup", redirectUri: `${site.origin}/callback` } as const;
  return { issuer, server, site, profile, page, popup };
}

/** Connects in the handler of a click; resolves with the popup that opens. */
async function click(
  page: Page,
  { url }: { readonly url: string },
  oauth: OAuthOptions,
): Promise<{ readonly popup: Page; readonly connected: Promise<string> }> {
  const connected = page.evaluate(([to, options]) => mcp.connectOnClick(to, options), [
    url,
    { oauth },
  ] as const);
  connected.catch(() => {});
  const opened = page.waitForEvent("popup");
  await page.getByRole("button", { name: "Connect" }).click();
  return { connected, popup: await opened };
}

/** Presses the buttons of the authorization server. */
async function signIn(page: Page, name = "alice"): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Allow" }).click();
}

const whoami = (page: Page): Promise<string> => page.evaluate(async () => (await mcp.call("whoami")).text);

describe.skipIf(!hasBrowser)("oauth in a page", () => {
  test("signs a person in in a popup, and closes it", async () => {
    const { issuer, server, page, popup: options } = await start();
    const { popup, connected } = await click(page, server, options);
    const closed = popup.waitForEvent("close");
    const { state } = (await page.evaluate(() => mcp.events.at(-1))) as StateEvent;
    expect(state).toMatchObject({
      name: "needs-auth",
      url: expect.stringContaining(`${issuer.issuer}/auth?`),
    });
    await signIn(popup);
    await connected;
    await closed;
    expect(await whoami(page)).toBe(`alice of ${issuer.issuer}`);
    expect(new URL(page.url()).search).toBe("");
  });

  test("signs a person in by leaving the page, and goes on when they come back", async () => {
    const { issuer, server, page, site } = await start();
    const oauth = { open: "redirect" } as const;
    const left = connectIn(page, server, { oauth }).catch(() => "left");
    await signIn(page);
    expect(await left).toBe("left");
    await page.waitForURL((url) => url.origin === site.origin);
    await connectIn(page, server, { oauth });
    expect(await whoami(page)).toBe(`alice of ${issuer.issuer}`);
    expect(page.url()).toBe(`${site.origin}/`);
    expect(issuer.asked.get("/token")).toBe(1);
  });

  test("uses the metadata document of a client where the authorization server reads those", async () => {
    const { issuer, server, page, site, popup: options } = await start();
    issuer.behaviour.registersPages = false;
    const clientMetadataUrl = "https://app.example.com/client.json";
    issuer.clientDocuments.set(clientMetadataUrl, {
      client_id: clientMetadataUrl,
      client_name: "Page",
      redirect_uris: [`${site.origin}/callback`],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    });
    const { popup, connected } = await click(page, server, { ...options, clientMetadataUrl });
    await signIn(popup);
    await connected;
    expect(await whoami(page)).toBe(`alice of ${issuer.issuer}`);
  });

  test("signs two people in in two tabs at once", async () => {
    const { issuer, server, page, profile, site, popup: options } = await start();
    const other = await profile.open(site.origin);
    const first = await click(page, server, options);
    await other.bringToFront();
    const second = await click(other, server, options);
    await signIn(second.popup, "bob");
    await second.connected;
    // The authorization server knows bob by now.
    await first.popup.reload();
    await first.popup.getByRole("button", { name: "Sign in" }).click();
    await first.popup.getByRole("button", { name: "Allow" }).click();
    await first.connected;
    expect(await whoami(other)).toBe(`bob of ${issuer.issuer}`);
    expect(await whoami(page)).toBe(`alice of ${issuer.issuer}`);
  });

  test("says that the browser has blocked a popup that nobody has clicked for", async () => {
    const { server, profile, site, popup: oauth } = await start();
    // Whatever the debugger asks of a page counts as a click, so the page connects and reports by itself.
    const reported = profile.context.waitForEvent("console", (message) => message.type() === "info");
    await profile.open(`${site.origin}/#${JSON.stringify([server.url, { oauth }])}`);
    expect((await reported).text()).toMatch(/blocked the popup: .*click/);
  });

  test("says that the popup was closed", async () => {
    const { server, page, popup: options } = await start();
    await page.clock.install();
    const { popup, connected } = await click(page, server, options);
    await popup.close();
    await page.bringToFront();
    const failed = expect(connected).rejects.toThrow(/closed before it was over/);
    await page.clock.fastForward(5000);
    await page.clock.fastForward(5000);
    await failed;
  });

  test("says that the person refused", async () => {
    const { server, page, popup: options } = await start();
    const { popup, connected } = await click(page, server, options);
    await popup.getByRole("button", { name: "Cancel" }).click();
    await expect(connected).rejects.toThrow(/access_denied|said no|refused/i);
  });

  test("takes no answer with another state: neither from a popup nor after a redirect", async () => {
    const { issuer, server, page, site, popup: options } = await start();
    const { popup, connected } = await click(page, server, options);
    await popup.goto(`${site.origin}/callback?code=stolen&state=another&iss=${issuer.issuer}`);
    await popup.getByText("Nobody waits for this sign-in").waitFor();
    await page.goto(`${site.origin}/?code=stolen&state=another&iss=${issuer.issuer}`);
    await expect(connected).rejects.toThrow();
    connectIn(page, server, { oauth: { open: "redirect" } }).catch(() => {});
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(issuer.asked.get("/token")).toBeUndefined();
  });

  test("finds its way where the server hides WWW-Authenticate", async () => {
    const { issuer, site, page, popup: options } = await start();
    const { server: notes } = notesServer();
    const server = await serveAltered(notes, site, { "access-control-expose-headers": undefined }, (url) => ({
      auth: bearerAuth({ resource: url, authorizationServers: [issuer.issuer] }),
    }));
    await page.reload();
    const { popup, connected } = await click(page, server, options);
    await signIn(popup);
    await connected;
    expect(await whoami(page)).toBe(`${issuer.issuer} alice`);
  });

  test("says which header an authorization server must send to pages", async () => {
    const { issuer, server, page, popup: oauth } = await start();
    issuer.behaviour.registersPages = false;
    await expect(connectIn(page, server, { oauth })).rejects.toThrow(/\/reg\b.*Access-Control-Allow-Origin/);
  });
});
