// A server that crashes while messages wait for it: those that the system had taken may have run, the others have not.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect, type McpClient } from "halyard/client";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("fixtures/crashing.mjs", import.meta.url));
/** More than the system takes at once. */
const text = "x".repeat(2_000_000);

/** A client of a server that notes its runs in the returned file. */
async function started(): Promise<[McpClient, file: string]> {
  const folder = mkdtempSync(join(tmpdir(), "halyard-crashes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "runs");
  const target = { command: process.execPath, args: [script, file], restart: true };
  const client = await connect(target, { backoff: { firstMs: 1 } });
  onTestFinished(() => client.close());
  return [client, file];
}

/** Ends a process, and waits without giving this one the time to hear of it. */
function killUnheard(pid: number): void {
  process.kill(pid, "SIGKILL");
  const state = (): string => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "");
  // The pipe is closed when its last thread has ended.
  while (!state().startsWith("Z") || readdirSync(`/proc/${pid}/task`).length > 1);
}

test("three large calls at once: the one that ran is not sent again, the one that was not sent is", async () => {
  const [client, file] = await started();
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

test.runIf(process.platform === "linux").each([1, 3])(
  "%i calls to a server that was killed before they were written go to its next process",
  async (count) => {
    const [client, file] = await started();
    const { structuredContent } = await client.callTool("pid");
    const { pid } = structuredContent as { pid: number };
    writeFileSync(file, "");
    killUnheard(pid);
    const keys = Array.from({ length: count }, (_, number) => `call ${number}`);
    const results = await Promise.all(keys.map((key) => client.callTool("pay", { key, text: "" })));
    expect(results).toMatchObject(keys.map((key) => ({ content: [{ text: key }] })));
    expect(readFileSync(file, "utf8")).toBe(keys.map((key) => `${key}\n`).join(""));
  },
);

test("a thousand calls at once fill the pipe, and each runs once", async () => {
  const [client, file] = await started();
  writeFileSync(file, "");
  const keys = Array.from({ length: 1000 }, (_, number) => `call ${number}`);
  const filler = "x".repeat(1000);
  const results = await Promise.all(keys.map((key) => client.callTool("pay", { key, text: filler })));
  expect(results).toMatchObject(keys.map((key) => ({ content: [{ text: key }] })));
  expect(readFileSync(file, "utf8")).toBe(keys.map((key) => `${key}\n`).join(""));
});
