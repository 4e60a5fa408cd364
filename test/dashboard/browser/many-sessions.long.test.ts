// 10,000 sessions behind a mounted dashboard: answers stay small, and the page stays fast.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import type { CDPSession, Response } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../../support/browser.ts";
import { recordingLogger } from "../../support/log.ts";
import { newestLegacy } from "../../support/revisions.ts";
import { lookAt, type Screen } from "./support.ts";

const sessions = 10_000;
/** Milliseconds of work that an interaction may cost the page. */
const budgetMs = 100;
const times = 5;

/** Serves the dashboard of a handler that has so many sessions; resolves with its address. */
async function serveMany(): Promise<string> {
  const token = "a-token-that-is-long-enough";
  const page = dashboard({ token });
  const server = new McpServer({ name: "armada", version: "1.0.0" }, { logger: recordingLogger() });
  const handler = fetchHandler(server, {
    graceMs: 50,
    limits: { maxSessions: sessions, maxSessionsPerPrincipal: sessions },
    dashboard: page,
  });
  for (let at = 0; at < sessions; at++) {
    const params = {
      protocolVersion: newestLegacy,
      capabilities: {},
      clientInfo: { name: `boat-${at}`, version: "1.0.0" },
    };
    const response = await handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
      }),
    );
    await response.arrayBuffer();
  }
  expect(handler.stats().sessions).toBe(sessions);
  const http = createServer((request, response) => void page.nodeHandler(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.close();
    http.closeAllConnections();
    await handler.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/dashboard/#token=${token}`;
}

/** The milliseconds of processor time that the page's thread has worked. */
async function workedMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
}

interface Interaction {
  /** What is done before each time, and not measured. */
  readonly prepare?: () => Promise<unknown>;
  readonly act: (at: number) => Promise<unknown>;
  /** What is done after each time, and not measured. */
  readonly finish?: () => Promise<unknown>;
}

/** What an action costs the page until the next frames are drawn; the least of several times, since a busy machine only adds to it. */
async function costOf(
  { page }: Screen,
  cdp: CDPSession,
  { prepare, act, finish }: Interaction,
): Promise<number> {
  const costs: number[] = [];
  for (let at = 0; at < times; at++) {
    await prepare?.();
    const before = await workedMs(cdp);
    await act(at);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    costs.push((await workedMs(cdp)) - before);
    await finish?.();
  }
  return Math.min(...costs);
}

/** Resolves when an answer to this question has arrived. */
async function answerTo({ page }: Screen, ask: string, search = ""): Promise<Response> {
  return page.waitForResponse((response) => {
    const asked = response.request().postDataJSON() as { ask?: string; search?: string } | null;
    return asked?.ask === ask && (asked.search ?? "") === search && response.ok();
  });
}

/**
 * Uses the list of sessions with the keyboard only, because finding an element by its role is work of the page, too.
 */
function interactionsWith(screen: Screen): Readonly<Record<string, Interaction>> {
  const { keyboard } = screen.page;
  const goBy = async (key: string): Promise<void> => {
    await keyboard.press("g");
    await keyboard.press(key);
  };
  return {
    move: { act: () => keyboard.press("j") },
    type: {
      prepare: () => keyboard.press("/"),
      act: (at) => keyboard.press("boat-"[at] ?? ""),
    },
    clear: { prepare: () => keyboard.press("/"), act: () => keyboard.press("Escape") },
    /** The page takes an answer of the server, which it asks again and again: keys that are pressed meanwhile wait. */
    answer: { act: () => answerTo(screen, "sessions") },
    leave: {
      async prepare() {
        await screen.go("sessions");
        await screen.page.getByText("200 of 10,000 shown").waitFor();
      },
      act: () => goBy("r"),
    },
    /** The page answers the key at once, whenever the rows arrive. */
    comeBack: {
      async prepare() {
        await screen.go("streams");
        await screen.page.getByText("No stream is open").waitFor();
        await screen.page.route("**/ask", () => {});
      },
      act: () => goBy("s"),
      finish: () => screen.page.unroute("**/ask"),
    },
  };
}

describe.skipIf(!hasBrowser)(`${sessions} sessions`, { timeout: 300_000 }, () => {
  test("are answered with 200 rows, and the page stays responsive", async () => {
    const screen = await lookAt(await serveMany(), "now");
    const { page } = screen;
    await expect.poll(() => screen.figure("Sessions")).toBe("10,000");
    const answered = answerTo(screen, "sessions");
    await screen.go("sessions");
    const answer = (await (await answered).json()) as { rows: unknown[]; total: number };
    expect([answer.rows.length, answer.total]).toEqual([200, sessions]);
    await page.getByText("200 of 10,000 shown").waitFor();
    expect(await screen.rows("Sessions").count()).toBe(200);

    const cdp = await page.context().newCDPSession(page);
    // The time of its own work, not that of others on the machine.
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    for (const [what, interaction] of Object.entries(interactionsWith(screen))) {
      const ms = await costOf(screen, cdp, interaction);
      expect(ms, what).toBeGreaterThan(0);
      expect(ms, what).toBeLessThan(budgetMs);
    }

    await page.getByRole("searchbox").fill("boat-9876 ");
    await expect
      .poll(() => screen.rows("Sessions").allInnerTexts())
      .toEqual([expect.stringContaining("boat-9876")]);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "boat-9876" }).waitFor();
  });
});
