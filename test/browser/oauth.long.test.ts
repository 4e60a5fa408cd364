// A person who signs in in chromium, by popup and by redirect, at a real authorization server of another origin.
import type { StateEvent } from "halyard/client";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { readDocument } from "../support/documents.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { click, signIn, start, whoami } from "./signing-in.ts";
import { connectIn } from "./start.ts";

/** Without its first line, which is a comment. */
const tabStoreCode = readDocument("test/browser/fixtures/tab-store.ts").replace(/^.*\n/, "");

describe.skipIf(!hasBrowser)("oauth in a page", () => {
  test.each([newestModern, newestLegacy])(
    "signs a person in in a popup, and closes it: %s",
    async (revision) => {
      const { issuer, server, page, popup: options } = await start();
      const { popup, connected } = await click(page, server, { ...options, revision });
      const closed = popup.waitForEvent("close");
      const { state } = (await page.evaluate(() => mcp.events.at(-1))) as StateEvent;
      expect(state).toMatchObject({
        name: "needs-auth",
        url: expect.stringContaining(`${issuer.issuer}/auth?`),
      });
      await signIn(popup);
      expect(await connected).toBe(revision);
      await closed;
      expect(await whoami(page)).toBe(`alice of ${issuer.issuer}`);
      expect(new URL(page.url()).search).toBe("");
    },
  );

  test("signs a person in by leaving the page, and continues when they come back", async () => {
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
    const { popup, connected } = await click(page, server, {
      oauth: { ...options.oauth, clientMetadataUrl },
    });
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

  test("keeps tokens in a store of all tabs: one person signs in once, and a page that is loaded again needs no person", async () => {
    expect(readDocument("docs/guides/token-stores.md")).toContain(tabStoreCode);
    const { issuer, server, page, profile, site, popup } = await start();
    const options = { ...popup, sharesTokens: true };
    const other = await profile.open(site.origin);
    const { popup: window, connected } = await click(page, server, options);
    const waiting = connectIn(other, server, options);
    await signIn(window);
    await Promise.all([connected, waiting]);
    await page.reload();
    await connectIn(page, server, options);
    for (const tab of [page, other]) expect(await whoami(tab)).toBe(`alice of ${issuer.issuer}`);
    expect(issuer.asked.get("/token")).toBe(1);
    expect(profile.context.pages()).toEqual([page, other]);
  });

  test("refreshes tokens without the person, once for all calls", async () => {
    const { issuer, server, page, popup: options } = await start();
    await page.clock.install();
    const { popup, connected } = await click(page, server, options);
    await signIn(popup);
    await connected;
    await page.clock.fastForward(1000 * (issuer.behaviour.tokenSeconds + 1));
    const calls = await page.evaluate(() => Promise.all([1, 2, 3].map(() => mcp.call("whoami"))));
    expect(calls.map(({ text }) => text)).toEqual(Array(3).fill(`alice of ${issuer.issuer}`));
    expect(issuer.asked.get("/token")).toBe(2);
  });

  test("is refused in the page that a person has come back to, and can be tried again", async () => {
    const { server, page, site } = await start();
    const options = { oauth: { open: "redirect" } } as const;
    connectIn(page, server, options).catch(() => {});
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL((url) => url.origin === site.origin);
    await expect(connectIn(page, server, options)).rejects.toThrow(/The person said no/);
    expect(page.url()).toBe(`${site.origin}/`);
    connectIn(page, server, options).catch(() => {});
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });
});
