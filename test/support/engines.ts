// Real redis-server and nats-server processes on free ports, with folders of their own.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasPrograms } from "./programs.ts";
import { until } from "./turns.ts";

export type EngineName = "redis-server" | "nats-server";

/** Whether the tests of this engine run. */
export function hasEngine(name: EngineName): boolean {
  return hasPrograms(name);
}

export interface EngineOptions {
  /** Whether a restart finds what was stored. @default {false} */
  readonly isPersistent?: boolean;
  /** redis-server only: in cluster mode, with all slots. @default {false} */
  readonly isCluster?: boolean;
  /** Further arguments of the command line. */
  readonly args?: readonly string[];
}

/** A running engine. Every engine of a test file must be stopped. */
export class EngineProcess {
  readonly name: EngineName;
  readonly port: number;
  readonly #options: EngineOptions;
  #folder = "";
  #process: ChildProcess | undefined;

  private constructor(name: EngineName, port: number, options: EngineOptions) {
    this.name = name;
    this.port = port;
    this.#options = options;
  }

  static async start(name: EngineName, options: EngineOptions = {}): Promise<EngineProcess> {
    const engine = new EngineProcess(name, await freePort(options.isCluster ? 10_000 : 0), options);
    await engine.start();
    return engine;
  }

  get url(): string {
    return `${this.name === "redis-server" ? "redis" : "nats"}://127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port, after {@link kill}, with further arguments. */
  async start(...args: readonly string[]): Promise<void> {
    if (!this.#options.isPersistent) await this.#removeFolder();
    this.#folder ||= await mkdtemp(join(tmpdir(), "halyard-engine-"));
    const child = spawn(this.name, [...this.#arguments(), ...(this.#options.args ?? []), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += String(text)));
    child.on("error", (error) => (output += String(error)));
    await until(async () => {
      if (child.exitCode !== null || child.pid === undefined) {
        throw new Error(`${this.name} did not start on port ${this.port}: ${output}`);
      }
      return isListening(this.port);
    });
    if (this.#options.isCluster) await this.#ownAllSlots();
  }

  /** Ends it, by default without a chance to say goodbye. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill(signal);
    await closed;
  }

  /** Kills it, and starts it again: with its data if it is persistent. */
  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  /** Halts it, as a machine that hangs. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends it, and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await this.#removeFolder();
  }

  async #removeFolder(): Promise<void> {
    if (this.#folder !== "") await rm(this.#folder, { recursive: true, force: true });
    this.#folder = "";
  }

  /** Runs a command of redis-cli, and returns what it prints. */
  cli(...command: readonly string[]): string {
    const { stdout, stderr } = spawnSync("redis-cli", ["-p", String(this.port), ...command]);
    return `${String(stdout)}${String(stderr)}`.trim();
  }

  async #ownAllSlots(): Promise<void> {
    this.cli("cluster", "addslotsrange", "0", "16383");
    await until(() => this.cli("cluster", "info").includes("cluster_state:ok"));
  }

  #arguments(): readonly string[] {
    const { isPersistent = false, isCluster = false } = this.#options;
    const port = String(this.port);
    if (this.name === "nats-server") {
      return ["--addr", "127.0.0.1", "--port", port, "--jetstream", "--store_dir", this.#folder];
    }
    const place = ["--bind", "127.0.0.1", "--port", port, "--dir", this.#folder, "--save", ""];
    const data = ["--appendonly", isPersistent ? "yes" : "no", "--appendfsync", "always"];
    // Without others, it would not know its own address, which clients ask for.
    const cluster = isCluster ? ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"] : [];
    return [...place, ...data, ...cluster];
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

/** A free port; with `above`, the port that many above it is free too. */
async function freePort(above = 0): Promise<number> {
  for (;;) {
    const port = await listenOnce(0);
    if (above === 0) return port;
    if (port + above < 65_536 && (await listenOnce(port + above).catch(() => 0)) > 0) return port;
  }
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}
