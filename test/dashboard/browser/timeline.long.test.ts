// The timeline of one client: its calls, pushes, questions, cuts and resumes, their messages on demand, and the export.
import { readFile } from "node:fs/promises";
import type { McpServer } from "halyard";
import { connect, type RecordedLine } from "halyard/client";
import { replay } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { nameForm } from "../../support/asking-server.ts";
import { hasBrowser } from "../../support/browser.ts";
import { EngineProxy } from "../../support/engine-proxy.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { deferred } from "../../support/turns.ts";
import { joinAs, joinAsOfficial, look, patient, type Screen, serveStage, type Stage } from "./support.ts";

const note = "note:///tide";

function define(server: McpServer): void {
  const input = {
    type: "object",
    properties: { port: { type: "string" }, password: { type: "string" } },
  } as const;
  server.tool("sail", { input }, (args) => `Sailed to ${String((args as { port?: unknown }).port)}`);
  server.tool("wreck", {}, () => {
    throw new Error("Aground");
  });
  server.tool("ask", {}, async (_, ctx) => {
    const { name } = await ctx.elicit("Who is aboard?", nameForm);
    return `Welcome ${String(name)}`;
  });
  server.resource(note, {}, () => "high");
}

/** Opens the timeline of a client from the list of sessions, and waits until it is followed. */
async function follow(stage: Stage, client: string): Promise<Screen> {
  const screen = await look(stage, "sessions");
  await screen.page.getByRole("link", { name: client }).click();
  await screen.page.getByText("followed since").waitFor();
  return screen;
}

const entries = "Newest entries";
const get = ["What", "get"] as const;

describe.skipIf(!hasBrowser)("the timeline", patient, () => {
  test.each(["halyard", "official"])(
    "of a legacy client (%s) has its calls; a click on a bar shows its messages, and not before",
    async (kind) => {
      const stage = await serveStage({ define });
      const args = { port: "Valparaiso", password: "hunter2" };
      let sail: () => Promise<unknown>;
      if (kind === "official") {
        const client = await joinAsOfficial(stage.http.url, "ketch");
        sail = () => client.callTool({ name: "sail", arguments: args });
      } else {
        const client = await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
        sail = () => client.callTool("sail", args);
      }
      const screen = await follow(stage, "ketch");
      const { page } = screen;
      const answers: Promise<string>[] = [];
      page.on("response", (response) => answers.push(response.text().catch(() => "")));
      await sail();
      const bar = page.getByRole("group", { name: "Calls" }).getByRole("button", { name: "tools/call sail" });
      await bar.click();
      const panel = page.getByRole("complementary", { name: "Entry" });
      await panel.getByText("ok", { exact: true }).waitFor();
      await panel.getByText("sail", { exact: true }).waitFor();
      expect((await Promise.all(answers)).join("")).toContain("tools/call");
      expect((await Promise.all(answers)).join("")).not.toContain("Valparaiso");
      await panel.getByRole("button", { name: "Show messages (2)" }).click();
      const messages = panel.getByRole("group", { name: "Messages" });
      await messages.getByText('"port": "Valparaiso"').waitFor();
      await messages.getByText("Sailed to Valparaiso").waitFor();
      await messages.getByText('"password": "[redacted]"').waitFor();
      expect((await Promise.all(answers)).join("")).not.toContain("hunter2");
      await page.keyboard.press("Escape");
      await expect.poll(() => panel.count()).toBe(0);
    },
  );

  test("has a push, a question with its answer, a cut and a resume", async () => {
    const stage = await serveStage({ define, http: { retryMs: 50 } });
    const proxy = await EngineProxy.open(stage.http.url);
    const answer = deferred();
    const client = await joinAs(`${proxy.url}/mcp`, "ketch", {
      revision: newestLegacy,
      backoff: { firstMs: 20 },
      onElicit: async () => {
        await answer.promise;
        return { action: "accept", content: { name: "Ada" } };
      },
    });
    const heard: string[] = [];
    await client.listen({ resources: [note] }, ({ cause }) => void heard.push(cause));
    const screen = await follow(stage, "ketch");
    stage.server.resources.updated(note);
    const update = "notifications/resources/updated";
    await expect.poll(() => screen.cell(entries, update, "Name")).toBe(note);
    const asked = client.callTool("ask");
    await expect.poll(() => screen.cell(entries, "elicitation/create", "Took")).toMatch(/so far$/);
    answer.resolve();
    expect((await asked).content).toEqual([{ type: "text", text: "Welcome Ada" }]);
    await expect.poll(() => screen.cell(entries, "elicitation/create", "Outcome")).toBe("accept");
    proxy.cut();
    await expect.poll(() => screen.cell(entries, get, "Outcome")).toBe("cut");
    proxy.heal();
    const lane = screen.page.getByRole("group", { name: "Streams" });
    await lane.getByRole("button", { name: /^get.*cut, resumed/ }).waitFor();
    await expect.poll(() => screen.cell(entries, get, "Outcome")).toBe("");
    stage.server.resources.updated(note);
    await expect.poll(() => screen.rows(entries, update).count()).toBe(2);
    await expect.poll(() => heard).toEqual(["changed", "changed"]);
    await screen.go("sessions");
    await expect.poll(() => screen.cell("Sessions", "ketch", "Resumes")).toBe("1");
  });

  test("of a modern client has the rounds of a question, and errors of tools", async () => {
    const stage = await serveStage({ define });
    const screen = await look(stage, "sessions");
    const client = await joinAs(stage.http.url, "cutter", {
      revision: newestModern,
      onElicit: () => ({ action: "decline" }),
    });
    await client.listTools();
    await screen.page.getByRole("link", { name: "cutter" }).click();
    await screen.page.getByText("followed since").waitFor();
    await client.callTool("ask");
    await client.callTool("wreck");
    await expect.poll(() => screen.cell(entries, "elicitation/create", "Outcome")).toBe("decline");
    await expect.poll(() => screen.cell(entries, "wreck", "Outcome")).toBe("error");
    await screen.rows(entries, "elicitation/create").click();
    const panel = screen.page.getByRole("complementary", { name: "Entry" });
    await panel.getByRole("button", { name: /^Show messages/ }).click();
    await panel.getByText("Who is aboard?").waitFor();
  });

  test("is exported as a recording that replays", async () => {
    const stage = await serveStage({ define });
    const screen = await look(stage, "sessions");
    const options = { revision: newestModern, cache: false } as const;
    const client = await joinAs(stage.http.url, "cutter", options);
    await client.listTools();
    await screen.page.getByRole("link", { name: "cutter" }).click();
    await screen.page.getByText("followed since").waitFor();
    const again = await joinAs(stage.http.url, "cutter", options);
    const lived = await again.callTool("sail", { port: "Cork" });
    await screen.rows(entries, "sail").waitFor();
    const downloading = screen.page.waitForEvent("download");
    await screen.page.getByRole("button", { name: "Export" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^recording-.+\.ndjson$/);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
    const first = JSON.parse(lines[0] ?? "") as RecordedLine;
    expect(first).toMatchObject({ direction: "sent", message: { jsonrpc: "2.0" } });
    await screen.page.getByText(`${lines.length} messages`).waitFor();
    await using replayed = await connect(replay(lines), options);
    expect(await replayed.callTool("sail", { port: "Cork" })).toEqual(lived);
  });

  test("has a link, and opens by it", async () => {
    const stage = await serveStage({ define });
    await joinAs(stage.http.url, "ketch", { revision: newestLegacy });
    const screen = await follow(stage, "ketch");
    await screen.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await screen.page.getByRole("button", { name: "Copy link" }).click();
    await screen.page.getByText("Copied").waitFor();
    const link = await screen.page.evaluate<string>("navigator.clipboard.readText()");
    await screen.go("now");
    await screen.page.getByRole("heading", { name: "Now" }).waitFor();
    await screen.page.goto(link);
    await screen.page.getByRole("heading", { name: /^ketch/ }).waitFor();
  });
});
