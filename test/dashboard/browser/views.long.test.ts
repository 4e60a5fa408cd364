// The views of one node with real clients connected: what they do is seen in Now, Sessions, Streams, Tools and Topics.
import { setTimeout as sleep } from "node:timers/promises";
import { errorCodes, type McpServer, ProtocolError } from "halyard";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../../support/browser.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { SessionClient } from "../../support/sessions.ts";
import { deferred, until } from "../../support/turns.ts";
import { bytesIn, joinAs, joinAsOfficial, look, msIn, patient, serveStage } from "./support.ts";

const slowMs = 30;
const note = "note:///tide";

function harbour(gate = deferred()): (server: McpServer) => void {
  return (server) => {
    server.tool("slow", {}, async () => {
      await sleep(slowMs);
      return "done";
    });
    server.tool("broken", {}, () => {
      throw new ProtocolError(errorCodes.invalidParams, "No wind");
    });
    server.tool("wreck", {}, () => {
      throw new Error("Aground");
    });
    server.tool("hold", {}, async () => {
      await gate.promise;
      return "held";
    });
    server.resource(note, {}, () => "high");
  };
}

describe.skipIf(!hasBrowser)("Now and Tools", patient, () => {
  test("without a client, the page says how to connect one", async () => {
    const stage = await serveStage({ define: harbour() });
    const { page } = await look(stage);
    await page.getByText("No client is connected").waitFor();
    await page.getByText(stage.http.url, { exact: true }).waitFor();
    await page
      .getByRole("link", { name: /Streams/ })
      .first()
      .click();
    await page.getByText("No stream is open").waitFor();
  });

  test("show a call of each client with its latency", async () => {
    const stage = await serveStage({ define: harbour() });
    const screen = await look(stage);
    const modern = await joinAs(stage.http.url, "cutter", { revision: newestModern });
    const legacy = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    const official = await joinAsOfficial(stage.http.url, "schooner");
    await modern.callTool("slow");
    await legacy.callTool("slow");
    await official.callTool({ name: "slow", arguments: {} });
    for (const name of ["cutter", "ketch", "schooner"]) {
      const row = new RegExp(`^slow.*${name}`, "s");
      await expect
        .poll(async () => msIn(await screen.cell("Last calls", row, "Latency")))
        .toBeGreaterThanOrEqual(slowMs - 1);
      expect(await screen.cell("Last calls", row, "Outcome")).toBe("ok");
    }
    await screen.go("tools");
    await expect.poll(() => screen.cell("Tools", "slow", "Calls")).toBe("3");
    expect(msIn(await screen.cell("Tools", "slow", "p50"))).toBeGreaterThanOrEqual(slowMs - 1);
    expect(await screen.cell("Tools", "slow", "Errors")).toBe("0");
  });

  test("have room for the last time of a plot, and say which sessions a figure counts", async () => {
    const stage = await serveStage({ define: harbour() });
    const { page } = await look(stage);
    const modern = await joinAs(stage.http.url, "cutter", { revision: newestModern });
    await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    await modern.callTool("slow");
    await page.locator(".plot .u-over").first().waitFor();
    await page.evaluate(`{
      const { prototype } = CanvasRenderingContext2D;
      const { fillText } = prototype;
      globalThis.widest = 0;
      prototype.fillText = function (text, ...rest) {
        const width = this.measureText(text).width / devicePixelRatio;
        if (text.includes(":")) globalThis.widest = Math.max(globalThis.widest, width);
        return fillText.call(this, text, ...rest);
      };
    }`);
    await expect.poll(() => page.evaluate("globalThis.widest")).toBeGreaterThan(0);
    const room = await page.evaluate(`(() => {
      const right = (name) => document.querySelector(".plot " + name).getBoundingClientRect().right;
      return right(".plot-frame") - right(".u-over") - globalThis.widest / 2;
    })()`);
    expect(room).toBeGreaterThanOrEqual(0);
    const figure = page.getByRole("region", { name: "Figures" }).locator(".stat");
    await expect.poll(() => figure.filter({ hasText: "Legacy sessions" }).innerText()).toMatch(/\b1\b/);
  });

  test("show errors, and what runs now", async () => {
    const gate = deferred();
    const stage = await serveStage({ define: harbour(gate) });
    const screen = await look(stage);
    const client = await joinAs(stage.http.url, "cutter");
    await expect(client.callTool("broken")).rejects.toThrow("No wind");
    expect((await client.callTool("wreck")).isError).toBe(true);
    const held = client.callTool("hold");
    await expect
      .poll(() => screen.cell("Last calls", "broken", "Outcome"))
      .toBe(`error ${errorCodes.invalidParams}`);
    await expect.poll(() => screen.cell("Last calls", "wreck", "Outcome")).toBe("error");
    await expect.poll(() => screen.figure("Running calls")).toBe("1");
    await screen.go("tools");
    for (const tool of ["broken", "wreck"])
      await expect.poll(() => screen.cell("Tools", tool, "Errors")).toBe("1");
    await expect.poll(() => screen.cell("Tools", "hold", "Running")).toBe("1");
    gate.resolve();
    await held;
    await expect.poll(() => screen.cell("Tools", "hold", "Running")).toBe("0");
    expect(await screen.cell("Tools", "hold", "Calls")).toBe("1");
  });

  test("show what was refused, and why", async () => {
    const stage = await serveStage({ define: harbour() });
    const screen = await look(stage);
    await expect.poll(() => screen.figure("Sessions")).toBe("0");
    const refused = await fetch(stage.http.url, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "{}",
    });
    expect(refused.status).toBe(415);
    await expect.poll(() => screen.page.getByRole("main").innerText()).toContain("415");
  });
});

describe.skipIf(!hasBrowser)("Sessions, Streams and Topics", patient, () => {
  test("name the clients, their revisions and their streams; a search narrows them; Enter opens a timeline", async () => {
    const stage = await serveStage({ define: harbour() });
    const screen = await look(stage, "sessions");
    await screen.page.getByText("No client is connected").waitFor();
    const modern = await joinAs(stage.http.url, "cutter", { revision: newestModern });
    const legacy = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    const official = await joinAsOfficial(stage.http.url, "schooner");
    for (const client of [modern, legacy]) await client.listen({ resources: [note] });
    await official.listTools();
    const revisions = { cutter: newestModern, ketch: newestLegacy, schooner: newestLegacy };
    for (const [name, revision] of Object.entries(revisions)) {
      await expect.poll(() => screen.cell("Sessions", name, "Revision")).toBe(revision);
      const era = revision === newestModern ? /^modern/ : /^legacy/;
      expect(await screen.cell("Sessions", name, "Era")).toMatch(era);
    }
    await expect.poll(() => screen.cell("Sessions", "ketch", "Subs")).toBe("1");
    await screen.page.keyboard.press("g");
    await screen.page.keyboard.press("r");
    await expect.poll(() => screen.cell("Streams", "cutter", "Kind")).toBe("listen");
    await expect.poll(() => screen.cell("Streams", "ketch", "Kind")).toBe("get");
    expect(await screen.cell("Streams", "ketch", "State")).toMatch(/^open/);
    await screen.page.keyboard.press("g");
    await screen.page.keyboard.press("s");
    await expect.poll(() => screen.rows("Sessions").count()).toBe(3);
    await screen.page.keyboard.press("/");
    await screen.page.keyboard.type("KET");
    await expect
      .poll(() => screen.rows("Sessions").allInnerTexts())
      .toEqual([expect.stringContaining("ketch")]);
    await screen.page.keyboard.press("ArrowDown");
    await screen.page.keyboard.press("Enter");
    await screen.page.getByRole("heading", { name: /^ketch/ }).waitFor();
    expect(await screen.page.getByRole("group", { name: "Timeline" }).count()).toBe(1);
    await screen.page.keyboard.press("Escape");
    await expect.poll(() => screen.rows("Sessions").count()).toBe(1);
    await screen.page.keyboard.press("/");
    await screen.page.keyboard.type("galleon");
    await screen.page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => screen.rows("Sessions").count()).toBe(3);
  });

  test("show how the queue of a slow reader grows, and that it has caught up", async () => {
    const stage = await serveStage({ define: harbour(), http: { stallMs: 120_000 } });
    const screen = await look(stage, "streams");
    const client = await SessionClient.open(stage.http);
    const stream = await client.get();
    stream.stall();
    const push = (): Promise<boolean> =>
      stage.server.push.toSession(client.id, "notifications/message", {
        level: "info",
        data: "x".repeat(60_000),
      });
    const waiting = async (): Promise<number> =>
      bytesIn(await screen.cell("Streams", "test-client", "Waiting"));
    // The kernel takes some megabytes before anything waits in the server.
    await until(async () => {
      await push();
      return stage.http.stats().unsentBytes > 65_536;
    });
    await expect.poll(waiting).toBeGreaterThan(65_536);
    const before = await waiting();
    await push();
    await push();
    await expect.poll(waiting).toBeGreaterThanOrEqual(before + 100_000);
    await screen.rows("Streams", "test-client").getByText("behind", { exact: true }).waitFor();
    await screen.go("sessions");
    await expect
      .poll(async () => bytesIn(await screen.cell("Sessions", "test-client", "Queue")))
      .toBeGreaterThanOrEqual(before + 100_000);
    stream.proceed();
    await screen.go("streams");
    await expect.poll(waiting).toBe(0);
  });

  test("show who listens to what, and how many the last pushes reached", async () => {
    const stage = await serveStage({ define: harbour() });
    const screen = await look(stage, "topics");
    await screen.page.getByText("No subscribers").waitFor();
    const heard: string[] = [];
    for (const revision of [newestModern, newestLegacy]) {
      const client = await joinAs(stage.http.url, `boat of ${revision}`, { revision });
      await client.listen({ resources: [note] }, ({ uri }) => void heard.push(uri ?? ""));
    }
    await expect.poll(() => screen.cell("Topics", note, "Listeners")).toBe("2");
    expect(await screen.cell("Topics", note, "Who")).toContain(`boat of ${newestLegacy}`);
    stage.server.resources.updated(note);
    await expect.poll(() => heard).toEqual([note, note]);
    await expect.poll(() => screen.cell("Topics", note, "Fan-out")).toBe("2");
    expect(await screen.cell("Topics", note, "Pushed")).toBe("1");
    expect(await screen.cell("Topics", note, "Last push")).toMatch(/ago$|now/);
  });
});
