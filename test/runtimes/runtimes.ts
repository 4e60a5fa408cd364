// Bun and Deno, installed for the length of a test run, each serving the conformance fixture by the lines of docs/guides/mounting.md.
import { execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fixture = "examples/everything/fetch.ts";

/** How each runtime serves the default export of a module. */
const commands = {
  bun: ["bun", fixture],
  deno: ["deno", "serve", "--host", "127.0.0.1", "--port", "0", fixture],
} as const;

export type Runtime = keyof typeof commands;

export interface Runtimes {
  version(runtime: Runtime): Promise<string>;
  /** Starts the fixture on a free port, and waits until the runtime says where it is. */
  serve(runtime: Runtime): Promise<{ readonly url: string; stop(): Promise<void> }>;
  remove(): Promise<void>;
}

/** Installs both from the registry into a folder of their own, in the versions of the lock. */
export async function installRuntimes(): Promise<Runtimes> {
  const folder = await mkdtemp(join(tmpdir(), "runtimes-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const run = promisify(execFile);
  try {
    for (const file of ["package.json", "package-lock.json"]) {
      await cp(fileURLToPath(new URL(file, import.meta.url)), join(folder, file));
    }
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, timeout: 240_000 });
  } catch (error) {
    await remove();
    throw error;
  }
  const programOf = (runtime: Runtime): string => join(folder, "node_modules/.bin", runtime);
  return {
    version: async (runtime) => (await run(programOf(runtime), ["--version"])).stdout.split("\n")[0] ?? "",
    serve: (runtime) => serve(programOf(runtime), commands[runtime].slice(1)),
    remove,
  };
}

async function serve(
  program: string,
  args: readonly string[],
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  let printed = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        const origin = /http:\/\/[\w.]+:\d+/.exec(printed)?.[0];
        if (origin !== undefined) resolve(`${origin}/mcp`);
      });
    }
    child.on("error", reject);
    void exited.then(() => reject(new Error(`${program} ended before it was ready: ${printed}`)));
  });
  const stop = (): Promise<void> => {
    child.kill("SIGTERM");
    return exited;
  };
  return { url, stop };
}
