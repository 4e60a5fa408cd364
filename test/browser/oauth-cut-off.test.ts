// A popup whose authorization server cuts itself off from every other window: the page cannot see it any longer.
import { expect, test } from "vitest";
import { hasBrowser, openProfile, serveSite } from "../support/browser.ts";
import { ProtectedServer } from "../support/protected-server.ts";
import { ScriptedIssuer } from "../support/scripted-issuer.ts";
import { pages } from "./start.ts";

test.skipIf(!hasBrowser)(
  "oauth gets the answer of a popup that is cut off from the page (COOP)",
  async () => {
    const site = await serveSite({ pages, connectTo: [] });
    const issuer = await ScriptedIssuer.start();
    const server = await ProtectedServer.behind([issuer], { http: { cors: { origins: [site.origin] } } });
    site.connectTo = [server.origin, issuer.issuer];
    issuer.answers["/authorize"] = ({ params }) => {
      if (params["agreed"] === "yes") return undefined;
      const href = `/authorize?${new URLSearchParams({ ...params, agreed: "yes" })}`.replaceAll("&", "&amp;");
      const headers = { "content-type": "text/html", "cross-origin-opener-policy": "same-origin" };
      return { headers, body: `<!doctype html><a href="${href}">Agree</a>` };
    };
    const profile = await openProfile();
    const page = await profile.open(site.origin);
    await page.clock.install();
    // In a browser with windows, the person is in the popup; here every page believes that it has the focus.
    await page.evaluate(() => void (document.hasFocus = () => false));
    const oauth = { open: "popup", redirectUri: `${site.origin}/callback` } as const;
    const connected = page.evaluate(([url, options]) => mcp.connectOnClick(url, options), [
      server.url,
      { oauth },
    ] as const);
    const opened = profile.context.waitForEvent("page");
    await page.getByRole("button", { name: "Connect" }).click();
    const popup = await opened;
    const agree = popup.getByRole("link", { name: "Agree" });
    await agree.waitFor();
    for (let looks = 0; looks < 3; looks++) await page.clock.fastForward(5000);
    await agree.click();
    await connected;
    expect(await page.evaluate(async () => (await mcp.call("whoami")).text)).toBe(
      `alice of ${issuer.issuer}`,
    );
  },
);
