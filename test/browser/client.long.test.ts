// The client in chromium, across origins, in a page with a strict policy.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { askingServer } from "../support/asking-server.ts";
import { httpServer } from "../support/http-server.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { until } from "../support/turns.ts";
import { connectIn, start } from "./start.ts";

describe.skipIf(!hasBrowser).each([newestModern, newestLegacy])(
  "a client in a page speaks %s",
  (revision) => {
    test("it lists the tools, calls one and hears its progress", async () => {
      const { server } = httpServer();
      const { http, page } = await start(server);
      expect(await connectIn(page, http, { revision })).toBe(revision);
      expect(await page.evaluate(() => mcp.tools())).toContain("report");
      expect(await page.evaluate(() => mcp.call("report"))).toEqual({
        text: "reported",
        progress: [
          { progress: 1, total: 2 },
          { progress: 2, total: 2 },
        ],
      });
      await page.evaluate(() => mcp.close());
      await until(() => http.stats().sessions === 0);
    });

    test("it checks structured results without code made of texts", async () => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      const output = { type: "object", properties: { celsius: { type: "number" } } } as const;
      server.tool("forecast", { output }, () => ({ celsius: 21 }));
      const { http, page } = await start(server);
      await connectIn(page, http, { revision, strict: true });
      await page.evaluate(() => mcp.tools());
      expect((await page.evaluate(() => mcp.call("forecast"))).text).toBe('{"celsius":21}');
      const loaded = await page.evaluate(() =>
        performance.getEntriesByType("resource").map(({ name }) => name),
      );
      expect(loaded.filter((name) => name.endsWith(".js")).length).toBeGreaterThan(3);
    });

    test("it hears changes in every tab that listens", async () => {
      const { server } = httpServer();
      const { http, page, profile, site } = await start(server);
      const pages = [page, await profile.open(site.origin)];
      for (const each of pages) {
        await connectIn(each, http, { revision });
        expect(await each.evaluate(() => mcp.listen({ tools: true }))).toEqual({ tools: true });
      }
      server.tool("another", {}, () => "another");
      for (const each of pages) {
        await until(() => each.evaluate(() => mcp.changes.length > 0));
        expect(await each.evaluate(() => mcp.changes)).toEqual([{ kind: "tools", cause: "changed" }]);
        expect(await each.evaluate(() => mcp.tools())).toContain("another");
      }
    });

    test("it answers a question with a form of the page", async () => {
      const { server } = askingServer();
      const { http, page } = await start(server);
      await connectIn(page, http, { revision });
      const called = page.evaluate(() => mcp.call("ask"));
      await page.getByLabel("name").fill("Ada");
      await page.getByRole("button", { name: "accept" }).click();
      expect(await called).toMatchObject({ text: "Hello Ada" });
      const declined = page.evaluate(() => mcp.call("ask"));
      await page.getByRole("button", { name: "decline" }).click();
      expect((await declined).text).toMatch(/declined/i);
    });

    test("a page that is closed ends its call and its streams at the server", async () => {
      const { server, waiting, aborted } = httpServer();
      const { http, page } = await start(server);
      await connectIn(page, http, { revision });
      await page.evaluate(() => mcp.listen({ tools: true }));
      const called = page.evaluate(() => mcp.call("wait")).catch(() => "closed");
      await until(() => waiting() === 1);
      await page.close();
      expect(await called).toBe("closed");
      if (revision === newestModern) await until(() => aborted.length === 1);
      await until(() => http.stats().streams === 0);
    });
  },
);
