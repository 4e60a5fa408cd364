// Runs a Worker under workerd, the runtime of Cloudflare Workers.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
// @ts-expect-error -- it has no types
import workerd from "workerd";

export interface Worker {
  readonly origin: string;
  stop(): Promise<void>;
}

/** The package exports where its program is. */
const program = workerd as string;

/** Settings of a Worker whose class `Mcp` is a Durable Object. */
export const durableObject = `
  durableObjectNamespaces = [(className = "Mcp", uniqueKey = "mcp")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "MCP", durableObjectNamespace = "Mcp")],`;

/** Bundles `fixtures/<name>.ts`, with these names replaced by these expressions, and serves it on any free port. */
export function startWorker(
  name: "plain-worker" | "durable-object" | "protected-worker",
  define: Record<string, string> = {},
): Promise<Worker> {
  const file = fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url));
  return startWorkerOf(file, define, name === "durable-object" ? durableObject : "");
}

/** Bundles this file, and serves it on any free port. */
export async function startWorkerOf(
  file: string,
  define: Record<string, string> = {},
  settings = "",
): Promise<Worker> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-workerd-"));
  await build({
    entryPoints: [file],
    bundle: true,
    define,
    format: "esm",
    outfile: join(folder, "worker.js"),
  });
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    # Without this line, requests of the Worker to loopback fail.
    (name = "internet", network = (allow = ["private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",${settings}
);`;
  await writeFile(join(folder, "config.capnp"), config);
  const child = spawn(program, ["serve", "--control-fd=3", "config.capnp"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    origin: `http://127.0.0.1:${await portOf(child.stdio[3] as Readable, exited)}`,
    async stop() {
      // On SIGTERM it would wait for streams that are open.
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

/** It says on its control channel where it listens. */
async function portOf(control: Readable, exited: Promise<void>): Promise<number> {
  let said = "";
  return new Promise((resolve, reject) => {
    void exited.then(() => reject(new Error("workerd ended before it listened")));
    control.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const port = /"event":"listen".*"port":(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}
