// Runs an engine, three nodes and a balancer on this machine, to try a cluster by hand. `--kill` shows what a node's death does.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type EngineName, EngineProcess } from "../../test/support/engines.ts";
import { RoundRobin } from "../../test/support/round-robin.ts";
import { instructions } from "./instructions.ts";
import { showKill } from "./kill.ts";
import { log, logRoute } from "./log.ts";
import { NodeProcess } from "./node-process.ts";

const { values } = parseArgs({
  options: {
    nats: { type: "boolean", default: false },
    kill: { type: "boolean", default: false },
    port: { type: "string", default: "3000" },
  },
});

/** How to get the engines where they are missing. */
const installation: Readonly<Record<EngineName, string>> = {
  "redis-server": "`apt install redis-server` or `brew install redis`, or pass --nats to use NATS",
  "nats-server": "`apt install nats-server` or `brew install nats-server`, or leave out --nats to use Redis",
};

/** What to end, in reverse order. */
const running: (() => Promise<void>)[] = [];
let ending: Promise<void> | undefined;

/** Ends everything, once. */
function endAll(): Promise<void> {
  return (ending ??= (async () => {
    for (const end of running.toReversed()) await end().catch((error: unknown) => console.error(error));
  })());
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => void endAll().then(() => process.exit()));
}

async function run(): Promise<boolean> {
  const program = values.nats ? "nats-server" : "redis-server";
  if (spawnSync(program, ["--version"]).error) {
    throw new Error(`${program} is not installed. Install it: ${installation[program]}`);
  }
  const engine = await EngineProcess.start(program);
  running.push(() => engine.stop());
  const nodes = await startNodes(engine.url);
  const lastNodes = new Map<string, string>();
  const balancer = await RoundRobin.open(nodes, {
    port: values.kill ? 0 : Number(values.port),
    isSteerable: true,
    observe(event, node, request) {
      logRoute(event, node, request);
      if (event === "responded") lastNodes.set(String(request.headers["last-event-id"]), node.name);
    },
  });
  running.unshift(() => balancer.close());
  const url = `${balancer.origin}/mcp`;
  if (!values.kill) {
    console.log(instructions(url, engine.url, nodes));
    return true;
  }
  return showKill({
    url,
    kill: async (name) => nodes.find((node) => node.name === name)?.end("SIGKILL"),
    resumedOn: (cursor) => lastNodes.get(cursor) ?? "?",
  });
}

/** Starts all, or fails once each has started or failed, so that none is left behind. */
async function startNodes(backplane: string): Promise<NodeProcess[]> {
  const started: NodeProcess[] = [];
  running.push(async () => void (await Promise.all(started.map((node) => node.end("SIGTERM")))));
  const starts = ["a", "b", "c"].map(async (name) => {
    started.push(await NodeProcess.start(name, backplane, (line) => log(name, line)));
  });
  for (const start of await Promise.allSettled(starts)) if (start.status === "rejected") throw start.reason;
  return started.toSorted((one, other) => one.name.localeCompare(other.name));
}

try {
  const isGood = await run();
  if (values.kill) await endAll().then(() => process.exit(isGood ? 0 : 1));
} catch (error) {
  await endAll();
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
