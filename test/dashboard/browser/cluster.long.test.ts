// Three nodes in processes of their own: the page of any of them shows all, also while one is halted, killed and started again.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser } from "../../support/browser.ts";
import { clientAt } from "../../support/cluster.ts";
import { EngineProcess, hasEngine } from "../../support/engines.ts";
import { type Everything, startReady } from "../../support/everything.ts";
import { newestModern } from "../../support/revisions.ts";
import { SessionClient } from "../../support/sessions.ts";
import { joinAs, lookAt, patient, type Screen } from "./support.ts";

const names = ["alpha", "bravo", "charlie"] as const;
type Name = (typeof names)[number];

const fixture = fileURLToPath(new URL("fixtures/node.mjs", import.meta.url));
const isRunnable = hasBrowser && hasEngine("redis-server");

describe.skipIf(!isRunnable)("three nodes on Redis", patient, () => {
  let engine: EngineProcess;
  const nodes = new Map<Name, Everything>();

  beforeAll(async () => {
    engine = await EngineProcess.start("redis-server");
    await Promise.all(names.map(start));
  }, 60_000);

  afterAll(async () => {
    await Promise.all([...nodes.values()].map((one) => one.kill()));
    await engine.stop();
  });

  async function start(name: Name): Promise<void> {
    const command = [process.execPath, fixture, "--name", name, "--backplane", engine.url] as const;
    nodes.set(name, await startReady(command));
  }

  function node(name: Name): Everything {
    const running = nodes.get(name);
    if (running === undefined) throw new Error(`${name} is not running`);
    return running;
  }

  /** A session that a node has begun, until the test ends. */
  async function openSession(name: Name): Promise<SessionClient> {
    const client = await SessionClient.open(node(name));
    onTestFinished(async () => void (await client.delete()));
    return client;
  }

  /** Opens the page of one node. */
  async function lookFrom(name: Name, view?: string): Promise<Screen> {
    const [, url = ""] = /^Dashboard: (\S+)$/m.exec(node(name).stderr()) ?? [];
    return lookAt(url, view ?? "now");
  }

  /** What the page says of each node. */
  async function states(screen: Screen): Promise<Record<string, string>> {
    const all = names.map(async (name) => [name, await screen.cell("Nodes", name, "State")] as const);
    return Object.fromEntries(await Promise.all(all));
  }

  /** The states while bravo is halted: again if the machine was so busy that the page saw it only after it had left. */
  async function haltedState(screen: Screen): Promise<Record<string, string>> {
    const seen = await states(screen);
    if (!seen["bravo"]?.startsWith("left")) return seen;
    node("bravo").resume();
    await expect.poll(() => states(screen)).toEqual(allAnswer);
    node("bravo").pause();
    return seen;
  }

  const allAnswer = { alpha: "answers", bravo: "answers", charlie: "answers" };

  test("the page of each shows all three, and the clients of the others", async () => {
    const modern = await joinAs(node("bravo").url, "cutter", { revision: newestModern });
    const legacy = await openSession("charlie");
    await legacy.get();
    for (const name of names) {
      const screen = await lookFrom(name);
      await expect.poll(() => states(screen)).toEqual(allAnswer);
      await screen.rows("Nodes", name).getByText("this one", { exact: true }).waitFor();
      expect(await screen.rows("Nodes").count()).toBe(3);
      expect(await screen.page.getByRole("list", { name: "Nodes" }).innerText()).toContain("charlie");
      await modern.callTool("who");
      await expect.poll(() => screen.cell("Last calls", "who", "Client")).toContain("cutter");
      await screen.go("sessions");
      await expect.poll(() => screen.cell("Sessions", "cutter", "Node")).toBe("bravo");
      await expect.poll(() => screen.cell("Sessions", "test-client", "Node")).toBe("charlie");
      await screen.go("streams");
      await expect.poll(() => screen.cell("Streams", "test-client", "Node")).toBe("charlie");
      await screen.page.close();
    }
  });

  test("a halted node turns silent, and answers again", async () => {
    const screen = await lookFrom("alpha");
    await expect.poll(() => states(screen)).toEqual(allAnswer);
    node("bravo").pause();
    await expect
      .poll(() => haltedState(screen), { timeout: 60_000 })
      .toMatchObject({ bravo: expect.stringMatching(/^silent/) });
    await expect.poll(() => states(screen)).toMatchObject({ alpha: "answers", charlie: "answers" });
    // The page continues with the answers of the others.
    const client = await joinAs(node("charlie").url, "sloop", { revision: newestModern });
    await client.callTool("who");
    await expect.poll(() => screen.cell("Last calls", "sloop", "Call")).toBe("who");
    node("bravo").resume();
    await expect.poll(() => states(screen)).toEqual(allAnswer);
  });

  test("a killed node turns silent, leaves, and comes back under its name", async () => {
    const screen = await lookFrom("alpha");
    await expect.poll(() => states(screen)).toEqual(allAnswer);
    await node("bravo").kill();
    await expect.poll(() => states(screen)).toMatchObject({ bravo: expect.stringMatching(/^(silent|left)/) });
    await expect
      .poll(() => states(screen), { timeout: 40_000 })
      .toMatchObject({ alpha: "answers", bravo: expect.stringMatching(/^left/), charlie: "answers" });
    await start("bravo");
    await expect.poll(() => states(screen), { timeout: 40_000 }).toEqual(allAnswer);
    expect(await screen.rows("Nodes").count()).toBe(3);
  });

  test("the timeline of a session that goes from node to node is one", async () => {
    const atAlpha = await openSession("alpha");
    const atBravo = clientAt(node("bravo"), atAlpha);
    const stream = await atAlpha.get();
    await atAlpha.request("resources/subscribe", { uri: "note:///tide" });
    const screen = await lookFrom("charlie", "sessions");
    await screen.page.getByRole("link", { name: /test-client/ }).click();
    await screen.page.getByText("followed since").waitFor();
    const entries = "Newest entries";
    await atBravo.request("tools/call", { name: "change", arguments: {} });
    const changed = await stream.message(({ method }) => method === "notifications/resources/updated");
    expect(changed).toBeDefined();
    await expect.poll(() => screen.cell(entries, "change", "Node")).toBe("B");
    await expect.poll(() => screen.cell(entries, "note:///tide", "Node")).toBe("A");
    await stream.vanish();
    await expect.poll(() => screen.cell(entries, ["What", "get"], "Outcome")).toBe("cut");
    const resumed = await atBravo.get(stream.lastEventId);
    const nodesOfStreams = async (): Promise<string[]> =>
      (
        await screen.rows(entries, ["What", "get"]).locator('td[data-title="Node"]').allInnerTexts()
      ).toSorted();
    await expect.poll(nodesOfStreams).toEqual(["A", "B"]);
    await atAlpha.request("tools/call", { name: "who", arguments: {} });
    await expect.poll(() => screen.cell(entries, "who", "Node")).toBe("A");
    const lane = screen.page.getByRole("group", { name: "Calls" });
    await screen.page.getByRole("button", { name: "Fit" }).click();
    await lane.getByRole("button").first().waitFor();
    resumed.cut();
  });
});
