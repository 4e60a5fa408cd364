// SIGTERM: calls that run are answered before the process ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { sendModern } from "../support/sessions.ts";
import { readLines } from "../support/stdio.ts";

const fixture = fileURLToPath(new URL("fixtures/signal.mjs", import.meta.url));

test("SIGTERM lets a running call finish, then ends the process [INIT-SHUTDOWN-HTTP]", async () => {
  const child = spawn(process.execPath, [fixture], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  readLines(child.stdout, (line) => lines.push(line));
  const exited = once(child, "exit");
  await expect.poll(() => lines[0]).toMatch(/^http:/);
  const call = sendModern(lines[0] ?? "", "tools/call", { name: "slow" }, { id: 1 });
  await expect.poll(() => lines[1]).toBe("begun");
  child.kill("SIGTERM");
  expect(await (await call).json()).toMatchObject({ result: { content: [{ text: "done" }] } });
  expect(await exited).toEqual([0, null]);
});
