// The view of a client's timeline in a browser, with real clients.
import { readFile } from "node:fs/promises";
import { McpServer } from "halyard";
import { connect, type McpClient } from "halyard/client";
import { dashboard, type DashboardOptions } from "halyard/dashboard";
import { replay } from "halyard/testing";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser, openProfile } from "../support/browser.ts";
import { recordingLogger } from "../support/log.ts";
import { serve, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

interface Setting {
  readonly server: McpServer;
  readonly url: string;
  /** The address of the page, with its token. */
  readonly address: string;
}

async function serveTool(options: DashboardOptions = {}): Promise<Setting> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("hello", {}, () => "<img src=x onerror=alert(1)>");
  const board = dashboard({ onOpen: () => {}, ...options });
  const { url } = await serve(server, { dashboard: board });
  return { server, url, address: board.url ?? "" };
}

/** Opens the page, and follows the only client from its list of sessions. */
async function follow(address: string): Promise<Page> {
  const profile = await openProfile();
  const page = await profile.open(address);
  await page.goto(`${new URL(address).origin}/#/sessions`);
  await page.getByRole("table").getByText(/^test/).first().click();
  await page.getByRole("group", { name: "Timeline" }).waitFor();
  return page;
}

async function connectTester(url: string): Promise<McpClient> {
  const client = await connect(url, { info: { name: "tester", version: "1.0.0" }, revision: "2025-11-25" });
  onTestFinished(() => client.close());
  return client;
}

describe.runIf(hasBrowser)("the timeline in a browser", () => {
  test("says what to do while nothing has happened, then shows a call and its messages on demand", async () => {
    const { url, address } = await serveTool();
    const client = await SessionClient.open({ url });
    const page = await follow(address);
    await page.getByText(/Following since \d\d:\d\d:\d\d\. Nothing has happened yet/).waitFor();
    await client.request("tools/call", { name: "hello", arguments: { password: "swordfish" } });
    await page.getByRole("button", { name: /^tools\/call hello,.*ok$/ }).click();
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.getByText("ok", { exact: true }).waitFor();
    expect(await panel.textContent()).not.toContain("password");
    await panel.getByRole("button", { name: "Show messages (2)" }).click();
    await panel.getByText("onerror=alert(1)").waitFor();
    expect(await panel.textContent()).toContain('"password": "[redacted]"');
    expect(await page.locator("img").count()).toBe(0);
  });

  test("shows a cut and a resume of a stream", async () => {
    const { url, address } = await serveTool();
    const client = await SessionClient.open({ url });
    const page = await follow(address);
    const stream = await client.get();
    await until(() => stream.lastEventId !== undefined);
    stream.cut();
    await page.getByRole("button", { name: /^get, .*, cut, cut$/ }).waitFor();
    const resumed = await client.get(stream.lastEventId);
    onTestFinished(() => resumed.cut());
    await page.getByRole("button", { name: /^get, .* so far, cut, resumed$/ }).click();
    const points = page.getByRole("list", { name: "Points" });
    expect(await points.getByRole("listitem").allTextContents()).toEqual([
      expect.stringMatching(/cut$/),
      expect.stringMatching(/resumed$/),
    ]);
  });

  test("is walked, zoomed and left by keys", async () => {
    const { url, address } = await serveTool();
    const client = await SessionClient.open({ url });
    const page = await follow(address);
    await client.request("tools/call", { name: "hello", arguments: {} });
    await client.request("tools/list");
    await page.getByRole("table", { name: "Newest entries" }).getByText("tools/list").waitFor();
    const focused = (): Promise<string | null> =>
      page.evaluate(`document.activeElement?.getAttribute("aria-label") ?? null`);
    // Close entries are one bar until the view is zoomed.
    await page.keyboard.press("ArrowRight");
    await until(async () => (await focused()) !== null);
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Entry" });
    await panel.waitFor();
    await page.keyboard.press("ArrowLeft");
    await panel.getByText("hello").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.keyboard.press("l");
    await page.getByRole("button", { name: "Live", exact: true }).first().waitFor();
    const ticks = (): Promise<string[]> => page.locator(".axis span").allTextContents();
    const before = await ticks();
    await page.keyboard.press("+");
    await until(async () => JSON.stringify(await ticks()) !== JSON.stringify(before));
    await page.keyboard.press("Escape");
    await page.getByRole("table", { name: /sessions|clients/i }).waitFor();
  });

  test("exports a recording that replays", async () => {
    const { url, address } = await serveTool({ history: 100 });
    const client = await connectTester(url);
    const page = await follow(address);
    const { content } = await client.callTool("hello");
    await page.getByRole("table", { name: "Newest entries" }).getByText("tools/call").waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const text = await readFile(await (await downloading).path(), "utf8");
    await using again = await connect(replay(text.split("\n")), { revision: "2025-11-25" });
    expect((await again.callTool("hello")).content).toEqual(content);
  });

  test("ends the session, if the dashboard may", async () => {
    const { url, address } = await serveTool({ actions: true });
    await SessionClient.open({ url });
    const page = await follow(address);
    await page.getByRole("button", { name: "End session" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByRole("button", { name: /^session ended/ }).waitFor();
    const { address: readOnly, url: other } = await serveTool();
    await SessionClient.open({ url: other });
    expect(await (await follow(readOnly)).getByRole("button", { name: "End session" }).count()).toBe(0);
  });

  test("stays usable where the page is narrow", async () => {
    const { url, address } = await serveTool();
    const client = await SessionClient.open({ url });
    const page = await follow(address);
    await page.setViewportSize({ width: 390, height: 844 });
    await client.request("tools/call", { name: "hello", arguments: {} });
    await page.getByRole("button", { name: /^tools\/call hello/ }).click();
    await page.getByRole("button", { name: "Show messages (2)" }).click();
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBe(390);
  });
});
