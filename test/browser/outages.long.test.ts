// The client in a page whose network goes away and comes back, that is halted and woken, or whose server restarts.
import type { ConnectOptions } from "halyard/client";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../support/browser.ts";
import { ChaosProxy } from "../support/chaos-proxy.ts";
import { type HttpFixture, httpServer } from "../support/http-server.ts";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { until } from "../support/turns.ts";
import { connectIn, serve, start, type Started } from "./start.ts";

/** Waits that no test lives to see. */
const endless = { firstMs: 1e9, maxMs: 1e9 };

interface Listening extends Started, HttpFixture {
  /** What the page connects to. */
  readonly proxy: ChaosProxy;
  /** Takes the network from the page, and breaks what is open, as a change of network does. */
  loseNetwork(): Promise<void>;
}

/** A page that listens for changes of the tools. */
async function listenInPage(options: ConnectOptions): Promise<Listening> {
  const fixture = httpServer();
  const started = await start(fixture.server, { retryMs: 1 });
  const { http, site, profile } = started;
  const proxy = await ChaosProxy.open(http.url, { seed: 1, rate: 0 });
  onTestFinished(() => proxy.close());
  site.connectTo = [new URL(proxy.url).origin];
  await started.page.reload();
  await connectIn(started.page, proxy, options);
  await started.page.evaluate(() => mcp.listen({ tools: true }));
  return {
    ...fixture,
    ...started,
    proxy,
    loseNetwork: async () => {
      await profile.context.setOffline(true);
      proxy.breakAll();
    },
  };
}

/** Resolves once the page has heard of something, with that. */
async function heard(page: Page): Promise<unknown> {
  await until(() => page.evaluate(() => mcp.changes.length > 0));
  return page.evaluate(() => mcp.changes);
}

function isStreamLost(page: Page): Promise<boolean> {
  return page.evaluate(() => mcp.events.some((event) => event.type === "stream" && event.state === "lost"));
}

const eras = [
  // Each request of a modern client stands alone: what it missed it has to read again.
  { revision: newestModern, missed: [{ kind: "tools", cause: "gap" }] },
  // The stream of a session is resumed, so that nothing was missed.
  { revision: newestLegacy, missed: [{ kind: "tools", cause: "changed" }] },
] as const;

describe.skipIf(!hasBrowser).each(eras)("a client in a page speaks $revision", ({ revision, missed }) => {
  test("it tries again as soon as the network is back, and tells what it missed", async () => {
    const { page, profile, server, loseNetwork } = await listenInPage({ revision, backoff: endless });
    await loseNetwork();
    await until(() => isStreamLost(page));
    server.tool("another", {}, () => "another");
    await profile.context.setOffline(false);
    expect(await heard(page)).toEqual(missed);
    expect(await page.evaluate(() => mcp.tools())).toContain("another");
  });

  test("it does not give up while there is no network", async () => {
    const backoff = { firstMs: 1, maxMs: 10, maxAttempts: 4 };
    const { page, profile, server, loseNetwork } = await listenInPage({ revision, backoff });
    let failed = 0;
    page.on("requestfailed", () => void failed++);
    await loseNetwork();
    await until(() => failed > 10, 30_000);
    server.tool("another", {}, () => "another");
    await profile.context.setOffline(false);
    expect(await heard(page)).toEqual(missed);
  });

  test("it hears what happened while its page was frozen", async () => {
    const { page, profile, server } = await listenInPage({ revision });
    const debug = await profile.context.newCDPSession(page);
    await debug.send("Page.setWebLifecycleState", { state: "frozen" });
    server.tool("another", {}, () => "another");
    await debug.send("Page.setWebLifecycleState", { state: "active" });
    expect(await heard(page)).toEqual([{ kind: "tools", cause: "changed" }]);
  });

  test("it finds the way back from a stream that was cut while its page was frozen", async () => {
    const { page, profile, proxy, server } = await listenInPage({ revision });
    const debug = await profile.context.newCDPSession(page);
    await debug.send("Page.setWebLifecycleState", { state: "frozen" });
    proxy.breakAll();
    server.tool("another", {}, () => "another");
    await debug.send("Page.setWebLifecycleState", { state: "active" });
    expect(await heard(page)).toEqual(missed);
  });

  test("it calls and listens on when its server has restarted", async () => {
    const { page, http, site } = await listenInPage({ revision });
    await http.close();
    await serve(httpServer().server, site, { port: http.port });
    expect(await heard(page)).toEqual([{ kind: "tools", cause: "gap" }]);
    expect(await page.evaluate(() => mcp.call("echo", { text: "back" }))).toMatchObject({ text: "back" });
    expect(await page.evaluate(() => mcp.state)).toBe("ready");
  });
});
