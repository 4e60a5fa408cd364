// What redis-server itself counts: the commands that clients send, and the memory of keys.
import { type ChildProcess, spawn } from "node:child_process";
import { createClient } from "@redis/client";
import { EngineProcess } from "./engines.ts";
import { until } from "./turns.ts";

/** A redis-server that reports what it is asked. */
export class CountedRedis {
  readonly #process: EngineProcess;
  readonly #monitor: ChildProcess;
  #lines: string[] = [];
  #marks = 0;

  private constructor(process: EngineProcess) {
    this.#process = process;
    this.#monitor = spawn("redis-cli", ["-p", String(process.port), "monitor"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let rest = "";
    this.#monitor.stdout?.on("data", (text) => {
      const lines = (rest + String(text)).split("\n");
      rest = lines.pop() ?? "";
      this.#lines.push(...lines);
    });
  }

  static async start(): Promise<CountedRedis> {
    const redis = new CountedRedis(await EngineProcess.start("redis-server"));
    await until(() => redis.#lines.includes("OK"));
    return redis;
  }

  get url(): string {
    return this.#process.url;
  }

  async stop(): Promise<void> {
    this.#monitor.kill();
    await this.#process.stop();
  }

  /** The commands that nodes have sent since the last time, without those that scripts run. */
  async commands(): Promise<string[]> {
    const mark = `mark ${++this.#marks}`;
    this.#process.cli("ECHO", mark);
    await until(() => this.#lines.some((line) => line.includes(`"${mark}"`)));
    const lines = this.#lines;
    this.#lines = [];
    const sent = lines.flatMap((line) => /^[\d.]+ \[\d+ (?!lua)\S+\] "(\w+)"/.exec(line)?.[1] ?? []);
    return sent.map((name) => name.toUpperCase()).filter((name) => name !== "ECHO" && name !== "COMMAND");
  }

  /** Every command that the server has run since it started, also in scripts. */
  everRun(): string[] {
    const stats = this.#process.cli("INFO", "commandstats");
    return [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name]) => String(name));
  }

  /** The bytes of all keys. */
  async bytes(): Promise<number> {
    const client = createClient({ url: this.url });
    await client.connect();
    const keys = (await client.sendCommand(["KEYS", "*"])) as unknown as string[];
    const sizes = await Promise.all(
      keys.map((key) => client.sendCommand(["MEMORY", "USAGE", key, "SAMPLES", "0"])),
    );
    client.destroy();
    return sizes.reduce((sum: number, size) => sum + Number(size), 0);
  }
}
