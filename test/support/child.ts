// A server in a process of its own, spoken to over real pipes.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ClientCapabilities } from "halyard";
import { TestClient, type Wire } from "halyard/testing";
import { readLines } from "./stdio.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly process: ChildProcess;
  readonly client: TestClient;
  /** Every line of standard output, as it came. */
  readonly lines: string[];
  /** What came on standard error so far. */
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
}

/** Starts `fixtures/<name>.mjs` of the stdio tests, or of others. */
export async function startChild(name: string, options: ChildOptions = {}): Promise<Child> {
  const {
    revision = "2026-07-28",
    args = [],
    handshake = true,
    of = "transports/stdio",
    capabilities = {},
  } = options;
  const path = fileURLToPath(new URL(`../${of}/fixtures/${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const exited = new Promise<Exit>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  const lines: string[] = [];
  const wire: Wire = {
    onMessage: () => {},
    onClose: () => {},
    send: (text) => void child.stdin.write(`${text}\n`),
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
  readLines(child.stdout, (line) => {
    lines.push(line);
    wire.onMessage(line);
  });
  const client = new TestClient(wire, { revision, capabilities });
  if (handshake) await client.open();
  return { process: child, client, lines, stderr: () => stderr, exited };
}

export interface ChildOptions {
  readonly revision?: string;
  readonly args?: readonly string[];
  readonly handshake?: boolean;
  /** The folder of tests that has the fixture. */
  readonly of?: string;
  readonly capabilities?: ClientCapabilities;
}
