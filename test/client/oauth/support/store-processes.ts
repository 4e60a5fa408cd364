// Files for stores, and processes that use them.
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { until } from "../../../support/turns.ts";
import { readLines } from "../../../support/stdio.ts";

/** A folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-store-"));
  onTestFinished(async () => {
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true });
  });
  return folder;
}

/** What is in the folder of locks beside the file of a store. */
export async function locksOf(path: string): Promise<string[]> {
  return (await readdir(`${path}.locks`, { recursive: true }).catch(() => [])).toSorted();
}

export interface StoreUser {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** Resolves once it has said this. */
  said(line: string): Promise<void>;
  kill(): Promise<void>;
}

/** Starts a script of `fixtures`; it is killed when the test ends. `shell`: what the shell does before. */
export function startStoreUser(
  name: "store-user" | "token-user",
  args: readonly string[],
  { shell, ...options }: SpawnOptions & { shell?: string } = {},
): StoreUser {
  const script = fileURLToPath(new URL(`../fixtures/${name}.mjs`, import.meta.url));
  const command = [process.execPath, script, ...args];
  const [file = "", ...rest] =
    shell === undefined ? command : ["sh", "-c", `${shell}; exec "$@"`, "sh", ...command];
  const child = spawn(file, rest, { stdio: ["pipe", "pipe", "pipe"], ...options });
  const lines: string[] = [];
  let stderr = "";
  if (child.stdout) readLines(child.stdout, (line) => lines.push(line));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, stderr }));
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  return {
    process: child,
    lines,
    exited,
    kill,
    said: (line) => until(() => lines.some((each) => each.startsWith(line)), 60_000),
  };
}
