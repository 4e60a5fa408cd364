// A server continues when standard error is not read, or its disk is full.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendModern } from "../support/sessions.ts";
import { readLines } from "../support/stdio.ts";
import { until } from "../support/turns.ts";

const fixture = fileURLToPath(new URL("fixtures/stderr.mjs", import.meta.url));

/** Starts the fixture with a standard error that takes nothing. */
function start(transport: string, stderr: "closed" | "full") {
  const full = stderr === "full" ? openSync("/dev/full", "w") : undefined;
  const child = spawn(process.execPath, [fixture, transport], { stdio: ["pipe", "pipe", full ?? "pipe"] });
  if (full !== undefined) closeSync(full);
  child.stderr?.destroy();
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  if (child.stdout !== null) readLines(child.stdout, (line) => lines.push(line));
  return { child, lines };
}

const kinds = (["closed", "full"] as const).filter((kind) => kind === "closed" || existsSync("/dev/full"));

describe.each(kinds)("a standard error that is %s", (kind) => {
  test.each(["print", "write", "fail"])("does not end a server on stdio: %s", async (name) => {
    const { child, lines } = start("stdio", kind);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    for (let id = 1; id <= 5; id++) {
      const message = { jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta } };
      child.stdin?.write(`${JSON.stringify(message)}\n`);
      await until(() => lines.length === id || child.exitCode !== null);
    }
    expect([lines.length, child.exitCode]).toEqual([5, null]);
  });

  test.each(["write", "fail"])("does not end a server over HTTP: %s", async (name) => {
    const { child, lines } = start("http", kind);
    await until(() => lines.length === 1);
    for (let at = 0; at < 5; at++)
      expect((await sendModern(lines[0] ?? "", "tools/call", { name, arguments: {} })).status).toBe(200);
    expect(child.exitCode).toBeNull();
  });
});
