// Starts a client in a process of its own, whose heap is too small for what a hostile server would have it hold.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ConnectOptions } from "halyard/client";

/** What came of an attack. */
export interface Report {
  readonly outcome: Outcome;
  readonly again?: Outcome;
  /** How many events and log messages the client passed on. */
  readonly seen: number;
  /** What the client holds more than before, after a collection. */
  readonly keptMb: number;
  /** The most that it took. */
  readonly peakMb: number;
  /** The milliseconds of processor time that the call took. */
  readonly cpuMs: number;
  readonly polluted: readonly string[];
}

export interface Outcome {
  readonly ok: boolean;
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
}

export interface Attack {
  /** A URL or a command. */
  readonly target: string | object;
  readonly options?: Pick<ConnectOptions, "limits" | "revision" | "timeoutMs" | "maxTimeMs" | "backoff">;
  /** The method of the client, and its arguments. */
  readonly call?: readonly unknown[];
  readonly flags?: {
    readonly fetch?: boolean;
    readonly record?: boolean;
    readonly again?: boolean;
    /** The user never answers a question, or declines each. */
    readonly asks?: boolean;
    readonly declines?: boolean;
    /** How often the method is called, one after the other. */
    readonly times?: number;
    /** The method returns entries one after the other. */
    readonly iterates?: boolean;
  };
}

/** The heap of the client. A client whose memory grows with what it receives dies of it. */
const heapMb = 48;

/** Runs the client, and resolves with its report; rejects with what it said on standard error if it died. */
export function attackVictim(attack: Attack): Promise<Report> {
  const path = fileURLToPath(new URL("fixtures/victim.mjs", import.meta.url));
  const flags = ["--expose-gc", `--max-old-space-size=${heapMb}`];
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(attack)]);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (line.startsWith("{")) resolve(JSON.parse(line) as Report);
      else reject(new Error(`The client died (${signal ?? code}): ${stderr.slice(0, 2000)}`));
    });
  });
}
