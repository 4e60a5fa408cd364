// The MCP Inspector's command line, installed for the length of a test run with the Node that it needs.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Pinned, since its flags, exit codes and messages change between versions; it needs Node 22.19 or later. */
const packages = ["node@22", "@modelcontextprotocol/inspector@2.12.0"];

/** How the Inspector ended, and what it printed. */
export interface Outcome {
  readonly code: number | null;
  /** What the server answered. */
  readonly result: unknown;
  /** Everything on standard error: the Inspector's complaint as JSON, or nothing. */
  readonly error: unknown;
}

export interface Inspector {
  run(...args: readonly string[]): Promise<Outcome>;
  remove(): Promise<void>;
}

/** Installs the Inspector from the registry into a folder of its own. */
export async function installInspector(): Promise<Inspector> {
  const folder = await mkdtemp(join(tmpdir(), "inspector-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const flags = ["--no-save", "--no-audit", "--no-fund", "--prefix", folder];
  try {
    await promisify(execFile)("npm", ["install", ...flags, ...packages], { cwd: folder, timeout: 240_000 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { run: (...args) => run(folder, args), remove };
}

/** Runs the Inspector without the environment of the developer and of the test runner. */
function run(folder: string, args: readonly string[]): Promise<Outcome> {
  const node = join(folder, "node_modules/node/bin/node");
  const program = join(folder, "node_modules/.bin/mcp-inspector");
  const env = { PATH: process.env["PATH"], HOME: folder };
  return new Promise((resolve, reject) => {
    const child = execFile(
      node,
      [program, "--cli", "--format", "json", ...args],
      { cwd: folder, env, timeout: 15_000 },
      (failure, stdout, stderr) => {
        if (failure !== null && typeof failure.code !== "number") reject(failure);
        else resolve({ code: child.exitCode, result: printed(stdout), error: printed(stderr) });
      },
    );
  });
}

/** What the Inspector prints is one object that holds a result or an error; anything else is kept as it is. */
function printed(text: string): unknown {
  if (text === "") return undefined;
  try {
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown };
    return result ?? error;
  } catch {
    return text;
  }
}
