// A server that crashes while messages wait for it: those that the system had taken may have run, the others have not.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "halyard/client";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("fixtures/crashing.mjs", import.meta.url));
/** More than the system takes at once. */
const text = "x".repeat(2_000_000);

test("three large calls at once: the one that ran is not sent again, the one that was not sent is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-crashes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "runs");
  const target = { command: process.execPath, args: [script, file], restart: true };
  const client = await connect(target, { backoff: { firstMs: 1 } });
  onTestFinished(() => client.close());
  const keys = ["first", "second", "third"];
  const calls = keys.map((key) => client.callTool("pay", { key, text }).catch((error: unknown) => error));
  const [first, second, third] = await Promise.all(calls);
  const runs = readFileSync(file, "utf8").trim().split("\n");
  const runsOf = (key: string): number => runs.filter((run) => run === key).length;
  expect(runs[0]).toBe("first");
  expect(keys.map(runsOf)).toEqual([1, expect.toSatisfy((times: number) => times <= 1), 1]);
  expect(first).toMatchObject({ reason: "exited", mayHaveRun: true });
  // Whether the system had taken a part of it depends on what the client hears of first.
  if (runsOf("second") === 0) expect(second).toMatchObject({ reason: "exited", mayHaveRun: true });
  else expect(second).toMatchObject({ content: [{ text: "second" }] });
  expect(third).toMatchObject({ content: [{ text: "third" }] });
});
