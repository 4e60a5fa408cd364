// The client in chromium, across origins, in a page with a strict policy.
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { httpServer } from "../support/http-server.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { start } from "./start.ts";

describe.skipIf(!hasBrowser)("connect in a page of another origin", () => {
  describe.each([newestModern, newestLegacy])("%s", (revision) => {
    test("lists the tools, calls one and hears its progress", async () => {
      const { server } = httpServer();
      const { http, page } = await start(server);
      const options = { revision };
      expect(
        await page.evaluate(([url, given]) => mcp.connect(url, given), [http.url, options] as const),
      ).toBe(revision);
      expect(await page.evaluate(() => mcp.tools())).toContain("report");
      expect(await page.evaluate(() => mcp.call("report"))).toEqual({
        text: "reported",
        progress: [
          { progress: 1, total: 2 },
          { progress: 2, total: 2 },
        ],
      });
      await page.evaluate(() => mcp.close());
    });
  });
});
