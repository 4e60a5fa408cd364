// How stdio servers end: by themselves, by force, with all that they started, and when the client's process dies.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readLines } from "../../support/stdio.ts";
import { isRunning, pidsOf, serverCommand, start, untilGone } from "./start.ts";

const parent = fileURLToPath(new URL("fixtures/parent.mjs", import.meta.url));

describe("close", () => {
  test("closes the input, and a server that ends by itself gets no signal [STDIO-SHUTDOWN-CLIENT, INIT-SHUTDOWN-STDIO]", async () => {
    const started = await start(serverCommand([], { graceMs: 60_000 }));
    const pids = await pidsOf(started);
    await started.client.close();
    expect(started.stderr()).toEqual(["exit"]);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("terminates a server that outlives the end of its input [STDIO-SHUTDOWN-CLIENT, INIT-SHUTDOWN-STDIO]", async () => {
    const started = await start(serverCommand(["--deaf"], { graceMs: 2000 }));
    const pids = await pidsOf(started);
    await started.client.close();
    expect(started.stderr()).toEqual(["SIGTERM", "exit"]);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("kills a server that outlives SIGTERM [STDIO-SHUTDOWN-CLIENT, INIT-SHUTDOWN-STDIO]", async () => {
    const started = await start(serverCommand(["--stubborn"], { graceMs: 1500 }));
    const pids = await pidsOf(started);
    await started.client.close();
    expect(started.stderr()).toEqual(["SIGTERM"]);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("ends what the server started, though the server ends by itself", async () => {
    const started = await start(serverCommand(["--child"], { graceMs: 50 }));
    const pids = await pidsOf(started);
    expect(new Set(pids).size).toBe(2);
    await started.client.close();
    await untilGone(pids);
  });

  test("does not leave a timer or a process that keeps the client's process alive", async () => {
    const script = `
      import { connect } from "halyard/client";
      const client = await connect(${JSON.stringify(serverCommand())});
      await client.close();
      process.exitCode = 5;`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    expect(await once(child, "exit")).toEqual([5, null]);
  });
});

describe("when the process of the client ends, the server and what it started end", () => {
  test.concurrent.each(["SIGKILL", "SIGTERM", "exit", "throw"])("by %s", async (way) => {
    const child = spawn(process.execPath, [parent, way], { stdio: ["ignore", "pipe", "ignore"] });
    const pids = await new Promise<number[]>((resolve) => {
      readLines(child.stdout, (line) => resolve((JSON.parse(line) as { pids: number[] }).pids));
    });
    expect(new Set(pids).size).toBe(2);
    if (way.startsWith("SIG")) child.kill(way as NodeJS.Signals);
    await untilGone(pids);
  });
});
