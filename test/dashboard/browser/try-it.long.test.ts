// Try it: a person at the page calls tools as any revision, answers their questions, watches, cancels and subscribes.
import type { McpServer } from "halyard";
import type { Authenticate } from "halyard/auth";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { nameForm } from "../../support/asking-server.ts";
import { hasBrowser } from "../../support/browser.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { type Deferred, deferred } from "../../support/turns.ts";
import { look, patient, type Screen, serveStage, type Stage } from "./support.ts";

const note = "note:///tide";
const eras = [newestModern, newestLegacy];

/** What the tools of a test wait for, and what happened to them. */
interface Watch {
  readonly gate: Deferred<void>;
  readonly cancelled: Deferred<void>;
}

function define(server: McpServer, { gate, cancelled }: Watch): void {
  const input = {
    type: "object",
    properties: {
      port: { type: "string", minLength: 3, description: "Where to" },
      crew: { type: "integer", minimum: 1 },
      isFast: { type: "boolean" },
      rig: { enum: ["sloop", "ketch"] },
    },
    required: ["port"],
  } as const;
  server.tool("sail", { input, title: "Set sail" }, (args) => JSON.stringify(args));
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Who is aboard?", nameForm);
    return `Welcome ${String(name)}`;
  });
  server.tool("voyage", {}, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => cancelled.resolve());
    ctx.progress(3, 10, "passing the cape");
    await gate.promise;
    return "arrived";
  });
  server.resource(note, { name: "tide" }, () => "high tide");
}

interface Bench extends Watch, Stage {
  readonly screen: Screen;
  readonly page: Page;
}

async function openBench(tool: string, http: { readonly auth?: Authenticate } = {}): Promise<Bench> {
  const watch = { gate: deferred(), cancelled: deferred() };
  const stage = await serveStage({
    define: (server) => define(server, watch),
    dashboard: { tryIt: true },
    http,
  });
  const screen = await look(stage, `try/${tool}`);
  return { ...watch, ...stage, screen, page: screen.page };
}

/** Connects as a revision, and waits until the page says so. */
async function speak({ page }: Bench, revision: string): Promise<void> {
  const connection = page.getByRole("form", { name: "Connection" });
  await connection.getByLabel("Revision").selectOption(revision);
  await expect
    .poll(() => connection.getByRole("status").innerText())
    .toBe(`Connected to harbour 1.2.3, ${revision}`);
}

function resultOf(page: Page): ReturnType<Page["getByRole"]> {
  return page.getByRole("region", { name: "Result" });
}

describe.skipIf(!hasBrowser)("Try it", patient, () => {
  test("calls a tool as every revision with a form, and shows the messages on the wire", async () => {
    const bench = await openBench("sail");
    const { page } = bench;
    await page.getByRole("heading", { name: "Set sail" }).waitFor();
    const offered = await page.getByLabel("Revision").locator("option").allInnerTexts();
    expect(offered).toEqual(expect.arrayContaining(eras));
    expect(offered.length).toBeGreaterThan(2);
    // Revisions before 2025-06-18 have no titles.
    for (const revision of offered) {
      await speak(bench, revision);
      const form = page.getByRole("form", { name: /^(Set sail|sail)$/ });
      await form.getByLabel("port").fill(`Cork ${revision}`);
      await form.getByLabel("crew").fill("4");
      await form.getByLabel("rig").selectOption("ketch");
      await page.getByRole("button", { name: "Clear" }).click();
      await form.getByRole("button", { name: "Call" }).click();
      const sent = { port: `Cork ${revision}`, crew: 4, rig: "ketch" };
      await resultOf(page).getByText(JSON.stringify(sent)).waitFor();
      await resultOf(page).getByText("OK", { exact: true }).waitFor();
      const wire = page.getByRole("list", { name: "Messages on the wire" });
      await wire.getByRole("button", { name: "result of tools/call sail" }).waitFor();
      await wire.getByRole("button", { name: /sent.*tools\/call sail/ }).click();
      await wire.getByText(`"port": "Cork ${revision}"`).waitFor();
    }
  });

  test("like every other view, has headings in order: one begins the page, and none skips a level", async () => {
    const { page } = await openBench("sail");
    await page.getByRole("heading", { name: "Set sail" }).waitFor();
    const levels = (): Promise<number[]> =>
      page.evaluate(
        `[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map(({ tagName }) => Number(tagName[1]))`,
      );
    const expectOrder = async (): Promise<void> => {
      const found = await levels();
      expect(found[0]).toBe(1);
      expect(found.filter((level) => level === 1)).toHaveLength(1);
      expect(found.filter((level, index) => level > (found[index - 1] ?? 0) + 1)).toEqual([]);
    };
    await expectOrder();
    await page.getByRole("form", { name: "Set sail" }).getByLabel("port").fill("Cork");
    await page.getByRole("button", { name: "Copy as code" }).click();
    await page.getByRole("dialog").waitFor();
    await expectOrder();
    await page.keyboard.press("Escape");
    const views = await page.getByRole("navigation").getByRole("link").all();
    expect(views.length).toBeGreaterThan(4);
    for (const view of views) {
      await view.click();
      await expectOrder();
    }
  });

  test("connects as the revision that the user chooses before the page has connected", async () => {
    const stage = await serveStage({ dashboard: { tryIt: true } });
    const { page } = await look(stage);
    await page.evaluate(`new MutationObserver((_, self) => {
      const select = document.querySelector(".connection select");
      if (select === null) return;
      self.disconnect();
      select.value = ${JSON.stringify(newestLegacy)};
      select.dispatchEvent(new Event("change"));
    }).observe(document.body, { subtree: true, childList: true })`);
    await page.evaluate("location.hash = '#/try'");
    await page.getByText(`Connected to harbour 1.2.3, ${newestLegacy}`).waitFor();
  });

  test("sends nothing that the schema does not allow, and says why", async () => {
    const bench = await openBench("sail");
    const { page } = bench;
    await speak(bench, newestModern);
    await page.getByLabel("port").fill("X");
    await page.getByLabel("crew").fill("0");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("Write at least 3 characters").waitFor();
    expect(await page.getByLabel("crew").getAttribute("aria-invalid")).toBe("true");
    expect(await resultOf(page).count()).toBe(0);
  });

  test.each(eras)("shows a question of a tool, and sends the answer, in %s", async (revision) => {
    const bench = await openBench("ask");
    const { page } = bench;
    await speak(bench, revision);
    const call = page.getByRole("button", { name: "Call", exact: true });
    const dialog = page.getByRole("dialog", { name: "The server asks" });
    await call.click();
    await dialog.getByText("Who is aboard?").waitFor();
    await dialog.getByLabel("name").fill("Ada");
    await dialog.getByRole("button", { name: "Accept" }).click();
    await resultOf(page).getByText("Welcome Ada").waitFor();
    await call.click();
    await dialog.getByRole("button", { name: "Decline" }).click();
    await resultOf(page)
      .getByText(/declined/i)
      .first()
      .waitFor();
    expect(await dialog.count()).toBe(0);
  });

  test.each(eras)("shows progress, and cancels a call, in %s", async (revision) => {
    const bench = await openBench("voyage");
    const { page } = bench;
    await speak(bench, revision);
    const call = page.getByRole("button", { name: "Call", exact: true });
    await call.click();
    await resultOf(page).getByText("passing the cape").waitFor();
    await resultOf(page).getByText("3 of 10").waitFor();
    expect(await page.getByRole("progressbar", { name: "Progress" }).getAttribute("value")).toBe("3");
    await resultOf(page).getByRole("button", { name: "Cancel" }).click();
    await resultOf(page).getByText("Cancelled", { exact: true }).waitFor();
    await bench.cancelled.promise;
    bench.gate.resolve();
    await call.click();
    await resultOf(page).getByText("arrived").waitFor();
  });

  test.each(eras)("subscribes to a resource, and shows that it has changed, in %s", async (revision) => {
    const bench = await openBench(`${encodeURIComponent(note)}/resource`);
    const { page } = bench;
    await speak(bench, revision);
    await page.getByRole("button", { name: "Read", exact: true }).click();
    await resultOf(page).getByText("high tide").waitFor();
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByRole("list", { name: "Subscriptions" }).getByText(note).waitFor();
    await expect.poll(() => bench.server.push.isSubscribed(note)).toBe(true);
    bench.server.resources.updated(note);
    const changes = page.getByRole("list", { name: "Changes" });
    await changes.getByText(note).waitFor();
    await changes.getByRole("button", { name: "Read again" }).click();
    await resultOf(page).getByText("high tide").waitFor();
    // A new tool appears in the catalogue by itself.
    bench.server.tool("anchor", {}, () => "dropped");
    await page.getByRole("navigation", { name: "Catalogue" }).getByText("anchor").waitFor();
  });

  test("asks for the token of an endpoint that needs one, and sends it to that alone", async () => {
    const secret = "token-of-the-endpoint";
    const auth: Authenticate = (request) =>
      request.headers()["authorization"] === `Bearer ${secret}`
        ? { issuer: "https://auth.example.com", subject: "ada" }
        : { status: 401, message: "A token is required", headers: { "www-authenticate": "Bearer" } };
    const bench = await openBench("sail", { auth });
    const { page, screen } = bench;
    await page.getByText("The endpoint requires credentials").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (JSON.stringify([request.headers(), request.postData()]).includes(secret))
        asked.push(new URL(request.url()).origin);
    });
    await page.getByLabel("Bearer token of the endpoint").fill(secret);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Connected to harbour").waitFor();
    await page.getByLabel("port").fill("Cork");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await resultOf(page).getByText("Cork").waitFor();
    expect(new Set(asked)).toEqual(new Set([new URL(bench.http.url).origin]));
    expect(await page.getByRole("list", { name: "Messages on the wire" }).innerText()).not.toContain(secret);
    const kept = await page.evaluate<string>("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])");
    expect(kept).not.toContain(secret);
    // The browser itself tells of the refusals on its console.
    const refusals = screen.troubles.splice(0);
    expect(refusals.filter((trouble) => !trouble.includes("401"))).toEqual([]);
  });

  test("is not offered unless the author wants it", async () => {
    const screen = await look(await serveStage(), "try");
    await screen.page.getByText('There is no view "try"').waitFor();
    expect(await screen.page.getByRole("link", { name: /Try it/ }).count()).toBe(0);
  });
});
