// A script in a process of its own, for what can only be measured there: memory, and what is left open at the end.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Runs a script of `test/faults/fixtures` with the collector exposed; resolves with the JSON on its last line. */
export async function runFixture<T>(name: string, ...args: readonly string[]): Promise<T> {
  const path = fileURLToPath(new URL(`../faults/fixtures/${name}.mjs`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", path, ...args], {
    timeout: 60_000,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
}
