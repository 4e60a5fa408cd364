// A command line in a process of its own, in front of which a person sits.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface CommandLine {
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<number | null>;
}

/** Starts a command line that connects to `url`; it is killed when the test ends. */
export function startCommandLine(
  url: string,
  options: object,
  environment: Readonly<Record<string, string>> = {},
): CommandLine {
  const path = fileURLToPath(new URL("../fixtures/command-line.mjs", import.meta.url));
  return startProgram([path, url, JSON.stringify(options)], environment);
}

/** Starts Node with these arguments, on a machine without a display; it is killed when the test ends. */
export function startProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd?: string,
): CommandLine {
  const { DISPLAY: _, WAYLAND_DISPLAY: __, ...own } = process.env;
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...own, ...environment },
    ...(cwd !== undefined && { cwd }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = new Promise<number | null>((resolve) => void child.on("close", resolve));
  return { stdout: () => stdout, stderr: () => stderr, exited };
}
