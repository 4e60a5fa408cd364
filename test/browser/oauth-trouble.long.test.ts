// Failures while a person signs in in chromium, and the errors that the page gets.
import { bearerAuth } from "halyard/auth";
import { describe, expect, test } from "vitest";
import { notesServer } from "../auth/protected.ts";
import { hasBrowser } from "../support/browser.ts";
import { serveAltered } from "./altered.ts";
import { click, signIn, start, whoami } from "./signing-in.ts";
import { connectIn } from "./start.ts";

describe.skipIf(!hasBrowser)("oauth in a page", () => {
  test("says that the browser has blocked a popup without a click", async () => {
    const { server, profile, site, popup: options } = await start();
    // Whatever the debugger asks of a page counts as a click, so the page connects and reports by itself.
    const reported = profile.context.waitForEvent("console", (message) => message.type() === "info");
    await profile.open(`${site.origin}/#${JSON.stringify([server.url, options])}`);
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
      auth: bearerAuth({
        resource: url,
        authorizationServers: [issuer.issuer],
        requiredScopes: ["notes:read"],
      }),
    }));
    await page.reload();
    const { popup, connected } = await click(page, server, options);
    await signIn(popup);
    await connected;
    expect(await whoami(page)).toBe(`${issuer.issuer} alice`);
  });

  test("says which header an authorization server must send to pages", async () => {
    const { issuer, server, page, popup: options } = await start();
    issuer.behaviour.registersPages = false;
    await expect(connectIn(page, server, options)).rejects.toThrow(/\/reg\b.*Access-Control-Allow-Origin/);
  });

  test("says that the policy of the page forbids the authorization server", async () => {
    const { issuer, server, site, profile, popup: options } = await start();
    site.connectTo = [server.origin];
    const page = await profile.open(site.origin);
    await expect(connectIn(page, server, options)).rejects.toThrow(
      new RegExp(`Could not fetch ${issuer.issuer}/.*connect-src`),
    );
    expect(await profile.takeViolations(2)).toEqual([
      `connect-src ${issuer.issuer}/.well-known/oauth-authorization-server`,
      `connect-src ${issuer.issuer}/.well-known/openid-configuration`,
    ]);
  });
});
