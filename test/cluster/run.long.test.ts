// `npm run cluster` does what it says, and its commands do too.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/turns.ts";
import { clusterEngines } from "./engines.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  scripts: Record<string, string>;
};
const script = scripts["cluster"]?.replace(/^tsx /, "") ?? "";

interface Run {
  printed: string;
  readonly exited: Promise<number | null>;
  stop(signal: NodeJS.Signals): void;
}

/** Runs a program, which is ended with the test. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Run {
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const stop = (signal: NodeJS.Signals): void => void child.kill(signal);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const started: Run = { printed: "", exited, stop };
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => (started.printed += text));
  }
  onTestFinished(async () => {
    stop("SIGTERM");
    await exited;
  });
  return started;
}

const runCluster = (args: readonly string[], env?: NodeJS.ProcessEnv): Run =>
  run(process.execPath, ["--import", "tsx", script, ...args], env);

test.each([
  { args: [], program: "redis-server", other: "pass --nats" },
  { args: ["--nats"], program: "nats-server", other: "leave out --nats" },
])("without $program it says how to install it", async ({ args, program, other }) => {
  const cluster = runCluster(args, { ...process.env, PATH: "/nowhere" });
  expect(await cluster.exited).toBe(1);
  expect(cluster.printed).toMatch(`${program} is not installed. Install it: \`apt install ${program}\``);
  expect(cluster.printed).toContain(other);
});

describe.each(clusterEngines)("three nodes on $name", ({ program }) => {
  const flags = program === "nats-server" ? ["--nats"] : [];

  test("serve the commands that are printed, and end on SIGINT", async () => {
    const cluster = runCluster([...flags, "--port", "0"]);
    await eventually(() => expect(cluster.printed).toContain("npm run cluster -- --kill"));
    const lines = cluster.printed.split("\n");
    const [count = "", initialized = "", listen = "", tick = ""] = lines.filter((line) =>
      line.startsWith("curl"),
    );
    const begin = lines.find((line) => line.startsWith("SESSION=")) ?? "";

    const nodes = run("sh", ["-c", `${count}; ${count}; ${count}`]);
    await nodes.exited;
    for (const node of ["a", "b", "c"]) expect(nodes.printed).toContain(`Call 1 on node ${node}`);

    const session = run("sh", ["-c", `${begin}; ${initialized}; exec ${listen}`]);
    await eventually(() => expect(session.printed).toMatch(/^id: /m));
    const id = /^SESSION=(\S+)$/m.exec(session.printed)?.[1];
    run("sh", ["-c", `SESSION=${id}; ${tick.replace('"everyMs":1000', '"everyMs":10')}`]);
    await eventually(() => expect(session.printed).toContain('"data":60'));

    cluster.stop("SIGINT");
    expect(await cluster.exited).toBe(0);
  }, 60_000);

  test("lose and double nothing when one is killed, and its call ends", async () => {
    const cluster = runCluster([...flags, "--kill"]);
    expect(await cluster.exited, cluster.printed).toBe(0);
    expect(cluster.printed).toMatch(/node [bc] {2}-- the GET stream was resumed here after \d+ ms/);
    expect(cluster.printed).toContain("Messages missed: 0\nDoubled:         0\n");
    expect(cluster.printed).toMatch(/^The call: {8}ended with error -?\d+ /m);
  }, 60_000);
});
