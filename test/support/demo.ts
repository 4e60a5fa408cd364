// The demo over HTTP, in a process of its own.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { eventually } from "./turns.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Demo {
  readonly url: string;
  /** What it prints when it has begun. */
  readonly greeting: string;
  /** Ends it with a signal; answers its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the demo on any free port. */
export async function startDemo(file = "examples/demo/http.ts"): Promise<Demo> {
  const child = spawn(process.execPath, ["--import", "tsx", file, "--port", "0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let greeting = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (greeting += text));
  await eventually(() => expect(greeting).toMatch(/subscriptions\/listen.*\}'\n/));
  const url = /http:\S+\/mcp/.exec(greeting)?.[0] ?? "";
  return {
    url,
    greeting,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}
