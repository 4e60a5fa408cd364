// The engines of a cluster: a process on a free port each, and the commands that redis-server counts.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAMS = {
  Redis: {
    program: "redis-server",
    scheme: "redis",
    args: (port, folder) => ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder],
  },
  NATS: {
    program: "nats-server",
    scheme: "nats",
    args: (port, folder) => ["--addr", "127.0.0.1", "--port", port, "--jetstream", "--store_dir", folder],
  },
};

/** Starts an engine by its name; undefined, with a line on stderr, where its program is missing. */
export async function startEngine(name) {
  const { program, scheme, args } = PROGRAMS[name];
  if (spawnSync(program, ["--version"]).error) {
    console.error(`Not measured on ${name}: install ${program}`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const port = await freePort();
  const child = spawn(program, args(String(port), folder), { stdio: "ignore" });
  await untilListening(port);
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { name, port, url: `${scheme}://127.0.0.1:${port}`, stop };
}

/** How many commands redis-server is sent while `run` runs, those of scripts not counted; undefined for another engine. */
export async function countCommands(engine, run) {
  if (engine?.name !== "Redis") return void (await run());
  const monitor = spawn("redis-cli", ["-p", String(engine.port), "monitor"]);
  let text = "";
  monitor.stdout.on("data", (chunk) => (text += chunk));
  const mark = (value) => spawnSync("redis-cli", ["-p", String(engine.port), "ECHO", value]);
  const seen = async (value) => {
    while (!text.includes(value)) await sleep(2);
  };
  await seen("OK");
  await run();
  mark("the end");
  await seen("the end");
  monitor.kill();
  // Beats of the nodes, and the mark, are no part of it.
  const lines = text.split("\n").filter((line) => /^[\d.]+ \[\d+ (?!lua)/.test(line));
  return lines.filter((line) => !/"(ECHO|COMMAND)"|\\"kind\\":\\"(beat|hello)\\"/i.test(line)).length;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function untilListening(port) {
  for (let tries = 0; tries < 1000; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    await sleep(10);
  }
  throw new Error(`Nothing listens on port ${port}`);
}
