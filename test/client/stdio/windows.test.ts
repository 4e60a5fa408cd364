// What differs on Windows, with another `process.platform` and stand-ins for its programs: batch files, names of variables, and how a
// server that does not end is ended.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CannotStart, connect } from "halyard/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pidsOf, serverCommand, start, untilGone } from "./start.ts";

const server = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));
const { platform } = process;

// On Windows itself, the other tests of this folder show the same with its own programs.
describe.skipIf(platform === "win32")("on Windows", () => {
  let folder: string;
  const recorded = (): string[] => JSON.parse(readFileSync(join(folder, "recorded"), "utf8")) as string[];

  /** A program that records its arguments, and then runs `code`. */
  function writeProgram(path: string, code: string): void {
    const record = `require("node:fs").writeFileSync(${JSON.stringify(join(folder, "recorded"))}, JSON.stringify(process.argv.slice(2)));`;
    writeFileSync(path, `#!${process.execPath}\n${record}\n${code}`, { mode: 0o755 });
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "halyard-windows-"));
    mkdirSync(join(folder, "System32"));
    vi.stubEnv("SystemRoot", folder);
    vi.stubEnv("ComSpec", join(folder, "cmd"));
    writeProgram(
      join(folder, "cmd"),
      `require("node:child_process").spawn(process.execPath, [${JSON.stringify(server)}], { stdio: "inherit" });`,
    );
    Object.defineProperty(process, "platform", { value: "win32" });
  });

  afterEach(() => {
    Object.defineProperty(process, "platform", { value: platform });
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  test("a batch file of PATH is started by the shell, which gets each argument in quotes", async () => {
    // npm puts a script for other systems beside it, which Windows cannot start.
    for (const name of ["npx", "npx.cmd"]) writeFileSync(join(folder, name), "");
    const args = ["-y", "a b & c", "C:\\data\\"];
    await start({ command: "npx", args, env: { PATH: folder } });
    const line = `"${join(folder, "npx.cmd")}" "-y" "a b & c" "C:\\data\\\\"`;
    expect(recorded()).toEqual(["/d", "/s", "/v:off", "/c", `"${line}"`]);
  });

  test("a batch file is started by its path, and relative to cwd", async () => {
    writeFileSync(join(folder, "run.bat"), "");
    await start({ command: "./run", cwd: folder });
    expect(recorded().at(-1)).toBe(`""${join(folder, "run.bat")}""`);
  });

  test.each(['{"a":1}', "%SECRET%", "a\nb"])(
    "a batch file is not started with %j, which the shell would change, and the error does not show it",
    async (argument) => {
      writeFileSync(join(folder, "npx.cmd"), "");
      const starting = connect({ command: "npx", args: ["-y", argument], env: { PATH: folder } });
      const error = (await starting.catch((reason: unknown) => reason)) as CannotStart;
      expect(error).toBeInstanceOf(CannotStart);
      expect(error.message).toContain("it is a batch file, and args[1] has a quote");
      expect(error.message).not.toContain(argument);
      expect(existsSync(join(folder, "recorded"))).toBe(false);
    },
  );

  test("a program needs no shell, even if a batch file has its name", async () => {
    for (const name of ["tool.exe", "tool.cmd"]) writeFileSync(join(folder, name), "");
    await expect(connect({ command: "tool", env: { PATH: folder } })).rejects.toBeInstanceOf(CannotStart);
    await start(serverCommand());
    expect(existsSync(join(folder, "recorded"))).toBe(false);
  });

  test("a line for a shell is explained with the shell of Windows", async () => {
    await expect(connect({ command: "dir | more" })).rejects.toThrow('command: "cmd", args: ["/c", "…"]');
  });

  test("a variable of env replaces the inherited one, whatever their case", async () => {
    vi.stubEnv("TEMP", "/inherited");
    const { client } = await start(serverCommand([], { env: { Path: "/given", Temp: "/given" } }));
    const environment = (await client.callTool("environment")).structuredContent as Record<string, string>;
    expect(environment).toMatchObject({ Path: "/given", Temp: "/given" });
    expect(Object.keys(environment)).not.toContain("PATH");
    expect(Object.keys(environment)).not.toContain("TEMP");
  });

  test("a server that outlives the end of its input is ended with taskkill, by its full path", async () => {
    writeProgram(
      join(folder, "System32", "taskkill.exe"),
      `process.kill(Number(process.argv[3]), "SIGKILL");`,
    );
    const started = await start(serverCommand(["--deaf"], { graceMs: 50 }));
    const [pid = 0] = await pidsOf(started);
    await started.client.close();
    await untilGone([pid]);
    expect(recorded()).toEqual(["/pid", String(pid), "/t", "/f"]);
    // SIGTERM would end a process of Windows at once, without a chance to clean up.
    expect(started.stderr()).not.toContain("SIGTERM");
  });
});
