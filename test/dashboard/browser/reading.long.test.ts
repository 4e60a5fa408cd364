// What makes the page easy to read: selected calls, rows that stand still, durations, keys, contrasts and headings.
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "halyard";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../../support/browser.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { deferred } from "../../support/turns.ts";
import { joinAs, look, msIn, patient, serveStage } from "./support.ts";

const entries = "Newest entries";

function define(gate = deferred()): (server: McpServer) => void {
  return (server) => {
    server.tool("sail", {}, () => "sailed");
    server.tool("moor", {}, () => "moored");
    server.tool("wreck", {}, () => {
      throw new Error("Aground");
    });
    server.tool("voyage", { task: "required" }, async () => {
      await gate.promise;
      return "arrived";
    });
  };
}

/** The borders of controls with less contrast than 3:1 to what is behind them or around them. */
const faintBorders = `(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const parts = numbers(color).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const isClear = (color) => color === "transparent" || numbers(color)[3] === 0;
  const groundOf = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return isClear(color) && element.parentElement ? groundOf(element.parentElement) : color;
  };
  return [...document.querySelectorAll("button, input, select, textarea")]
    .filter((control) => control.checkVisibility() && control.type !== "checkbox")
    .flatMap((control) => {
      const { borderTopColor, borderTopWidth } = getComputedStyle(control);
      if (borderTopWidth === "0px" || isClear(borderTopColor)) return [];
      const least = Math.min(contrast(borderTopColor, groundOf(control.parentElement)), contrast(borderTopColor, groundOf(control)));
      const isFilled = contrast(groundOf(control), groundOf(control.parentElement)) >= 3;
      return least >= 3 || isFilled ? [] : [control.textContent + control.className + " " + least.toFixed(2)];
    });
})()`;

/** The levels of the headings in their order. */
function headings(page: Page): Promise<number[]> {
  return page.evaluate(
    `[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map(({ tagName }) => Number(tagName[1]))`,
  );
}

describe.skipIf(!hasBrowser)("the page", patient, () => {
  test("opens a call that is clicked, and selects it in its timeline", async () => {
    const stage = await serveStage({ define: define(), dashboard: { history: 1000 } });
    const screen = await look(stage);
    const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    for (const tool of ["sail", "moor", "sail"]) {
      await client.callTool(tool);
      await sleep(20);
    }
    await screen.rows("Last calls", "moor").click();
    await screen.page.getByRole("heading", { name: "tools/call moor" }).waitFor();
    await screen.page.getByRole("link", { name: /^ketch.*timeline/ }).click();
    const panel = screen.page.getByRole("complementary", { name: "Entry" });
    await panel.getByText("moor", { exact: true }).waitFor();
    const chosen = screen.page.getByRole("group", { name: "Timeline" }).locator('[aria-pressed="true"]');
    await expect.poll(() => chosen.count()).toBe(1);
    expect(await screen.rows(entries, "moor").getAttribute("aria-current")).toBe("true");
    await screen.rows(entries, "sail").last().click();
    await panel.getByText("sail", { exact: true }).waitFor();
    expect(await screen.rows(entries, "sail").last().getAttribute("aria-current")).toBe("true");
    expect(await screen.rows(entries, "moor").getAttribute("aria-current")).toBeNull();
  });

  test("says that a call ended before its client was followed", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage);
    const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    await client.callTool("moor");
    await screen.rows("Last calls", "moor").click();
    await screen.page.getByRole("link", { name: /^ketch.*timeline/ }).click();
    await screen.page.getByText(/The call of moor ended at .*, before this client was followed/).waitFor();
  });

  test("shows why a call failed, finds it by the id of its error, and shows its input and result", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage);
    const { page } = screen;
    const client = await joinAs(stage.http.url, "ketch");
    const { content } = await client.callTool("wreck", { port: "Cork", password: "hunter2" });
    const [, errorId = ""] = /error id:? ([\w-]+)/i.exec(JSON.stringify(content)) ?? [];
    for (let count = 0; count < 3; count++) await client.callTool("sail");
    await expect.poll(() => screen.cell("Last calls", "wreck", "Why")).toContain("Aground");
    expect(await screen.cell("Last calls", "wreck", "Why")).toContain(errorId);
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await expect.poll(() => screen.rows("Calls").count()).toBeGreaterThanOrEqual(4);
    await page.getByRole("searchbox").fill(errorId);
    await expect.poll(() => screen.rows("Calls").count()).toBe(1);
    await screen.rows("Calls", "wreck").click();
    const failure = page.getByRole("region", { name: "Why it failed" });
    await failure.getByText("Aground", { exact: true }).waitFor();
    await failure.getByText(errorId, { exact: true }).waitFor();
    await page.getByRole("region", { name: "Input" }).getByText('"port": "Cork"').waitFor();
    await page.getByRole("region", { name: "What the client got" }).getByText(errorId).waitFor();
    expect(await page.getByRole("main").innerText()).not.toContain("hunter2");
    await page.keyboard.press("Escape");
    await expect.poll(() => screen.rows("Calls").count()).toBe(1);
    expect(await headings(page)).toEqual([1]);
  });

  test("has the calls of the last minutes when it is opened", async () => {
    const stage = await serveStage({ define: define() });
    await sleep(1_000);
    const client = await joinAs(stage.http.url, "ketch", { revision: newestModern });
    for (let count = 0; count < 3; count++) await client.callTool("sail");
    await client.close();
    await sleep(2_000);
    const screen = await look(stage);
    await screen.page.locator(".plot .u-over").first().waitFor();
    expect(Number(await screen.figure("Calls per second"))).toBeGreaterThan(0);
  });

  test("keeps the rows of the last calls under the pointer while calls arrive", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage);
    const client = await joinAs(stage.http.url, "ketch");
    await client.callTool("moor");
    const row = screen.rows("Last calls", "moor");
    await row.hover();
    for (let count = 0; count < 3; count++) await client.callTool("sail");
    await sleep(2_200);
    expect(await screen.rows("Last calls").first().innerText()).toContain("moor");
    await screen.page.mouse.move(1, 1);
    await expect.poll(() => screen.rows("Last calls").first().innerText()).toContain("sail");
  });

  test("keeps the rows of a timeline under the pointer while calls arrive", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage, "sessions");
    const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    await screen.page.getByRole("link", { name: "ketch" }).click();
    await screen.page.getByText("followed since").waitFor();
    await client.callTool("moor");
    const row = screen.rows(entries, "moor");
    await row.hover();
    const placeOf = (): Promise<string> =>
      row.evaluate((element) => String((element as { sectionRowIndex?: number }).sectionRowIndex));
    const before = await placeOf();
    for (let count = 0; count < 3; count++) await client.callTool("sail");
    const bars = screen.page.getByRole("group", { name: "Calls" }).locator("[data-entry]");
    const drawn = (): Promise<number> =>
      bars.evaluateAll((all) =>
        all.reduce(
          (sum, bar) =>
            sum + Number(/^(\d+) entries/.exec((bar as { title?: string }).title ?? "")?.[1] ?? 1),
          0,
        ),
      );
    await expect.poll(drawn).toBeGreaterThanOrEqual(4);
    await sleep(1_200);
    expect(await placeOf()).toBe(before);
    await screen.page.mouse.move(1, 1);
    await expect.poll(() => screen.rows(entries, "sail").count()).toBe(3);
    expect(Number(await placeOf())).toBe(Number(before) + 3);
  });

  test("shows how long a task took, not how long its handle took", async () => {
    const gate = deferred();
    const stage = await serveStage({ define: define(gate) });
    const screen = await look(stage, "sessions");
    const client = await joinAs(stage.http.url, "cutter", { revision: newestModern, tasks: true });
    await client.listTools();
    await screen.page.getByRole("link", { name: "cutter" }).click();
    await screen.page.getByText("followed since").waitFor();
    const called = client.callTool("voyage");
    const call = /tools\/call\s*voyage/;
    await expect.poll(() => screen.cell(entries, call, "Took")).toMatch(/so far$/);
    await sleep(300);
    expect(await screen.cell(entries, call, "Took")).toMatch(/so far$/);
    gate.resolve();
    await called;
    await expect.poll(() => screen.cell(entries, call, "Outcome")).toBe("completed");
    expect(msIn(await screen.cell(entries, call, "Took"))).toBeGreaterThanOrEqual(300);
  });

  test("shows times below a millisecond in microseconds", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage);
    const client = await joinAs(stage.http.url, "cutter");
    for (let count = 0; count < 20; count++) await client.callTool("sail");
    await expect.poll(() => screen.cell("Last calls", /\d µs/, "Latency")).toMatch(/^\d{1,3} µs$/);
    expect(await screen.page.getByRole("main").innerText()).not.toMatch(/\b0\.\d+ ms/);
  });

  test("shows its keys without overlap", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage, "sessions");
    const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    await screen.page.getByRole("link", { name: "ketch" }).click();
    await screen.page.getByText("followed since").waitFor();
    await client.callTool("sail");
    await screen.rows(entries, "sail").waitFor();
    await screen.page.keyboard.press("?");
    const dialog = screen.page.getByRole("dialog", { name: "Keys" });
    await dialog.getByText("Zoom in").waitFor();
    for (const width of [1280, 390]) {
      await screen.page.setViewportSize({ width, height: 900 });
      const overlaps = await dialog.locator("dl > div").evaluateAll((rows) =>
        rows.flatMap((row) => {
          const [keys, what] = [".keys:last-child", "dd"].map((name) => {
            const found = (
              row as unknown as {
                querySelector(name: string): { getBoundingClientRect(): { left: number; right: number } };
              }
            ).querySelector(name);
            return found.getBoundingClientRect();
          });
          return keys!.right > what!.left ? [(row as { textContent: string | null }).textContent] : [];
        }),
      );
      expect(overlaps).toEqual([]);
    }
  });

  test.each(["light", "dark"] as const)(
    "has borders of controls that stand out, in %s",
    async (colorScheme) => {
      const stage = await serveStage({ define: define(), dashboard: { tryIt: true, actions: true } });
      const screen = await look(stage);
      await screen.page.emulateMedia({ colorScheme });
      await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
      for (const view of ["now", "calls", "sessions", "streams", "tools", "topics", "try"]) {
        await screen.go(view);
        await screen.page.locator("main button, main input, main table").first().waitFor();
        expect([view, await screen.page.evaluate(faintBorders)]).toEqual([view, []]);
      }
      await screen.go("sessions");
      await screen.page.getByRole("link", { name: "ketch" }).click();
      await screen.page.getByRole("button", { name: "End session" }).click();
      await screen.page.getByRole("dialog").waitFor();
      expect(await screen.page.evaluate(faintBorders)).toEqual([]);
    },
  );

  test("has headings in order in a timeline with an open entry, and in its dialogs", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage, "sessions");
    const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    await screen.page.getByRole("link", { name: "ketch" }).click();
    await screen.page.getByText("followed since").waitFor();
    await client.callTool("sail");
    await screen.rows(entries, "sail").click();
    await screen.page.getByRole("complementary", { name: "Entry" }).waitFor();
    await screen.page.keyboard.press("?");
    await screen.page.getByRole("dialog").waitFor();
    const levels = await headings(screen.page);
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.length).toBeGreaterThan(2);
    expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
  });

  test("counts the same legacy sessions in Now and in Sessions", async () => {
    const stage = await serveStage({ define: define() });
    const screen = await look(stage);
    for (const name of ["ketch", "yawl"]) await joinAs(stage.http.url, name, { revision: newestLegacy });
    const modern = await joinAs(stage.http.url, "cutter", { revision: newestModern });
    await modern.callTool("sail");
    await expect.poll(() => screen.figure("Legacy sessions")).toBe("2");
    await screen.go("sessions");
    await screen.page.getByText("3 clients").waitFor();
    await screen.page.getByText("2 legacy sessions, 1 modern without one").waitFor();
  });
});
