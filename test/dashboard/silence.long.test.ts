// The steps of docs/guides/why-silent.md: the dashboard of examples/silence shows what the guide says of each client.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AskDashboard, lookAt, type Row, rowWith } from "../support/looking.ts";
import { eventually, until } from "../support/turns.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("examples/silence", () => {
  let ask: AskDashboard;
  let stop = (): void => {};

  beforeAll(async () => {
    const child = spawn(process.execPath, ["--import", "tsx", "examples/silence/main.ts"], {
      cwd: root,
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    stop = () => void child.kill();
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const url = await eventually(() => {
      const found = /^http.*#token=.*$/m.exec(printed)?.[0];
      expect(found).toBeDefined();
      return found;
    });
    ask = lookAt({ url });
  });
  afterAll(() => stop());

  /** The row of a client, once it is as it should be. */
  async function expectRow(name: "sessions" | "streams" | "topics", is: Row, expected: Row): Promise<Row> {
    return eventually(async () => {
      const row = rowWith(await ask(name), is);
      expect(row).toMatchObject(expected);
      return row as Row;
    });
  }
  const client = (name: string): Row => ({ client: `${name} 1.0.0` });

  test("step 1: a client that cannot get in is no session, but a refusal", async () => {
    await expectRow("sessions", client("without-stream"), { streams: 0, subscriptions: 1 });
    await eventually(async () => {
      expect((await ask("now")).refusals).toEqual([expect.objectContaining({ status: 404 })]);
      expect((await ask("sessions")).rows).toHaveLength(6);
    });
  });

  test("step 2: a client without a stream has no row, one that hung up is lost, one that does not read is behind", async () => {
    await expectRow("streams", client("reads-nothing"), { state: "open", isBehind: true });
    await expectRow("streams", client("listens-elsewhere"), { state: "open", isBehind: false });
    await expectRow("streams", client("hung-up"), { state: "lost" });
    expect(rowWith(await ask("streams"), client("without-stream"))).toBeUndefined();
  });

  test("steps 3 and 4: another URI is another topic, and nothing is pushed to berth 5", async () => {
    const four = await expectRow("topics", { key: "berth:///4" }, { listeners: 5 });
    const who = four["who"] as readonly Row[];
    expect(who.map((one) => one["client"])).not.toContain("listens-elsewhere 1.0.0");
    await until(async () => Number(rowWith(await ask("topics"), { key: "berth:///4" })?.["merged"]) > 0);
    await expectRow("topics", { key: "berth:///04" }, { listeners: 1, pushed: 0 });
    await expectRow("topics", { key: "berth:///5" }, { listeners: 1, pushed: 0 });
  });

  test(
    "step 5: a client that resumes from a place that is dropped has a gap",
    { timeout: 60_000 },
    async () => {
      const { peer } = await expectRow("sessions", client("forgets-its-place"), {});
      const entries = async (): Promise<readonly Row[]> => {
        const timeline = await ask("timeline", { peer: String(peer) });
        return (timeline as unknown as { entries: readonly Row[] }).entries;
      };
      await until(async () => (await entries()).some(({ kind }) => kind === "gap"), 50_000);
      const kinds = (await entries()).map(({ lane, kind, outcome }) => [lane, kind, outcome]);
      expect(kinds).toContainEqual(["streams", "get", "cut"]);
      expect(kinds).toContainEqual(["pushes", "notifications/resources/updated", undefined]);
    },
  );
});
