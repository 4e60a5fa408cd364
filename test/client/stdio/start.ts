// Clients of the stdio server in fixtures/, and whether processes live.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ClientEvent,
  type CommandTarget,
  connect,
  type ConnectOptions,
  type McpClient,
} from "halyard/client";
import { onTestFinished } from "vitest";
import { until } from "../../support/turns.ts";

const path = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));

/** How to start the server, with flags of fixtures/server.mjs. */
export function serverCommand(
  flags: readonly string[] = [],
  target: Partial<CommandTarget> = {},
): CommandTarget {
  return { command: process.execPath, args: [path, ...flags], ...target };
}

/** How to start a script of one line. */
export function scriptCommand(script: string, target: Partial<CommandTarget> = {}): CommandTarget {
  return { command: process.execPath, args: ["-e", script], ...target };
}

/** A client, and what its `observe` received. */
export interface Started {
  readonly client: McpClient;
  readonly events: ClientEvent[];
  /** The lines of standard error so far. */
  readonly stderr: () => string[];
  /** Why something was ignored, so far. */
  readonly ignored: () => string[];
}

/** Connects, and closes the client when the test ends. */
export async function start(target: CommandTarget, options: ConnectOptions = {}): Promise<Started> {
  const events: ClientEvent[] = [];
  const client = await connect(target, { ...options, observe: (event) => void events.push(event) });
  onTestFinished(() => client.close());
  const stderr = (): string[] => events.flatMap((event) => (event.type === "stderr" ? [event.line] : []));
  const ignored = (): string[] => events.flatMap((event) => (event.type === "ignored" ? [event.reason] : []));
  return { client, events, stderr, ignored };
}

/** The ids of the server's process and of the one that it started. */
export async function pidsOf({ client }: Started): Promise<number[]> {
  const { structuredContent } = await client.callTool("processes");
  return (structuredContent as { pids: number[] }).pids;
}

/** Whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Resolves when none of these processes runs. */
export function untilGone(pids: readonly number[]): Promise<void> {
  return until(() => !pids.some(isRunning), 15_000);
}
