// The policy that the pages of these tests have: it forbids what no part of the client may need.
import { describe, expect, test } from "vitest";
import { hasBrowser, openProfile, serveSite } from "../support/browser.ts";

const pages = { "/": new URL("fixtures/outlaw.ts", import.meta.url) };

describe.skipIf(!hasBrowser)("the policy of a page", () => {
  test("forbids to run texts as code, inline scripts, and connections to origins that it does not name", async () => {
    const site = await serveSite({ pages, connectTo: [] });
    const profile = await openProfile();
    const page = await profile.open(site.origin);
    await page.getByText("done").waitFor();
    expect((await profile.takeViolations(4)).toSorted()).toEqual([
      "connect-src http://127.0.0.1:9/",
      "script-src eval",
      "script-src-elem inline",
      "worker-src blob",
    ]);
  });
});
