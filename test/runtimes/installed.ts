// The runtimes, installed for the length of a test run in a folder that has the packed package and the program of the checks.
import { execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

/** By name, the program below `node_modules`, and how it runs a module. */
const programs = {
  "node-18": ["node-18/bin/node"],
  "node-20": ["node-20/bin/node"],
  "node-22": ["node-22/bin/node"],
  "node-24": ["node-24/bin/node"],
  bun: [".bin/bun"],
  deno: [".bin/deno", "run", "--allow-all"],
} as const;

export type Runtime = keyof typeof programs;

/** The runtimes that the package supports; those that this machine can install. The binaries of Node are for one platform. */
export const supported: readonly Runtime[] = (
  ["node-20", "node-22", "node-24", "bun", "deno"] as const
).filter((name) => !name.startsWith("node") || (process.platform === "linux" && process.arch === "x64"));

/** How a process has ended, and what it has written. */
export interface Ended {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

export class Runtimes {
  readonly folder: string;
  readonly #started: Started[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Installs everything from the registry, in the versions of the lock, and the package as it would be published. */
  static async install(): Promise<Runtimes> {
    const runtimes = new Runtimes(await mkdtemp(join(tmpdir(), "runtimes-")));
    try {
      await runtimes.#install();
    } catch (error) {
      await runtimes.remove();
      throw error;
    }
    return runtimes;
  }

  async #install(): Promise<void> {
    const { folder } = this;
    const own = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
    for (const file of ["package.json", "package-lock.json"])
      await cp(own(`versions/${file}`), join(folder, file));
    const quietly = ["--no-audit", "--no-fund"];
    await execute("npm", ["ci", ...quietly], { cwd: folder, timeout: 240_000 });
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const { stdout } = await execute("npm", pack, { cwd: root });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    await execute("npm", ["install", "--no-save", "--offline", ...quietly, filename], { cwd: folder });
    await build({
      entryPoints: [own("program/main.ts"), own("program/worker.ts")],
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      target: "es2022",
    });
  }

  /** How a runtime runs a module. */
  command(runtime: Runtime): [program: string, ...args: string[]] {
    const [program, ...args] = programs[runtime];
    return [join(this.folder, "node_modules", program), ...args];
  }

  /** Runs a module until its process exits by itself. */
  async run(runtime: Runtime, module: string, ...args: string[]): Promise<Ended> {
    const started = this.start(runtime, module, ...args);
    started.endInput();
    return started.ended;
  }

  start(runtime: Runtime, ...args: string[]): Started {
    const [program, ...before] = this.command(runtime);
    const started = new Started(program, [...before, ...args], this.folder);
    this.#started.push(started);
    return started;
  }

  /** Also ends what still runs, such as a check whose test was too slow. */
  async remove(): Promise<void> {
    await Promise.all(this.#started.map((started) => started.kill()));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A process that runs. */
export class Started {
  readonly ended: Promise<Ended>;
  readonly #child;
  #stdout = "";
  #stderr = "";

  constructor(program: string, args: readonly string[], cwd: string) {
    const env = { ...process.env, NO_COLOR: "1" };
    this.#child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => (this.#stdout += text));
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.#child.stdin.on("error", () => {});
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (code, signal) =>
        resolve({ code: code ?? signal ?? "SIGKILL", stdout: this.#stdout, stderr: this.#stderr }),
      );
    });
  }

  /** The first text on standard output or standard error that matches. */
  async says(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this.#stdout + this.#stderr)?.[0];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on("data", look);
      void this.ended.then(({ stderr }) => reject(new Error(`It ended before it was ready: ${stderr}`)));
      look();
    });
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  async kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL" = "SIGKILL"): Promise<Ended> {
    this.#child.kill(signal);
    return this.ended;
  }
}
