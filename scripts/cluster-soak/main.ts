// Kills random nodes of a cluster under load, hundreds of times, and counts what clients lost, got twice, or waited for in vain.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { EngineProcess } from "../../test/support/engines.ts";
import { type NodeName, nodeNames, Nodes, victim } from "../../test/cluster/nodes.ts";
import { type Ending, SoakLoad } from "./load.ts";
import { type Outcome, record } from "./results.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    engine: { type: "string", default: "redis" },
    sessions: { type: "string", default: "8" },
    write: { type: "boolean", default: false },
  },
});
const programs = { redis: "redis-server", nats: "nats-server" } as const;
const kills = Number(values.kills);
const sessions = Number(values.sessions);
const engineName = values.engine as keyof typeof programs;
if (!Object.hasOwn(programs, engineName) || !(kills > 0) || !(sessions > 0)) {
  console.error(
    "Usage: npm run soak:cluster -- [--kills 500] [--engine redis|nats] [--sessions 8] [--write]",
  );
  process.exit(2);
}

/** Ctrl+C ends the soak early, with the outcome so far. */
let isInterrupted = false;
process.once("SIGINT", () => (isInterrupted = true));

/** The pushes whose promise resolved, as the nodes said: by session and lane, the numbers. */
const pushed = new Map<string, number[]>();

function collect(stderr: string): void {
  for (const [, session = "", lane = "", number, isThere] of stderr.matchAll(
    /^pushed (\S+) (\S+) (\d+) (\w+)$/gm,
  )) {
    if (isThere !== "true") continue;
    const key = `${session} ${lane}`;
    pushed.set(key, [...(pushed.get(key) ?? []), Number(number)]);
  }
}

/** Everything on standard error that is not the protocol of the fixture, such as errors in the log. */
function strangeLines(stderr: string): string[] {
  return stderr
    .split("\n")
    .filter((line) => line !== "" && !/^(pushed|began|finished|answered|Serving on) /.test(line));
}

const strange = new Map<string, number>();

async function killOne(nodes: Nodes, name: NodeName): Promise<void> {
  const node = nodes.node(name);
  await nodes.kill(name);
  collect(node.stderr());
  for (const line of strangeLines(node.stderr())) {
    const kind = line.replaceAll(/[\d:.]+|[\w-]{12,}/g, "…").slice(0, 120);
    strange.set(kind, (strange.get(kind) ?? 0) + 1);
  }
}

/** Resolves when each resolved push has been heard, or nothing more comes. */
async function settle(loads: readonly SoakLoad[]): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (compare(loads).lost > 0 && performance.now() < deadline) await sleep(200);
}

/** Compares what was pushed with what was heard. */
function compare(loads: readonly SoakLoad[]): Pick<Outcome, "pushes" | "lost" | "doubled" | "disordered"> {
  const found = { pushes: 0, lost: 0, doubled: 0, disordered: 0 };
  for (const [key, numbers] of pushed) {
    const [session, lane = ""] = key.split(" ");
    const heard = loads.find(({ client }) => client.session === session)?.heard(lane) ?? [];
    const distinct = new Set(heard);
    found.pushes += numbers.length;
    found.lost += numbers.filter((number) => !distinct.has(number)).length;
    found.doubled += heard.length - distinct.size;
    found.disordered += heard.filter((number, at) => number < (heard[at - 1] ?? 0)).length;
  }
  return found;
}

async function run(): Promise<boolean> {
  const engine = await EngineProcess.start(programs[engineName]);
  const nodes = await Nodes.start({ command: victim, backplane: engine.url });
  const began = performance.now();
  const loads = await Promise.all(Array.from({ length: sessions }, () => SoakLoad.open(nodes.url)));
  const tools = ["push", "work", "ask", "ping"] as const;
  const running = loads.flatMap((load) => tools.map((tool) => load.run(tool)));
  let kill = 0;
  while (kill < kills && !isInterrupted) {
    kill++;
    const name = nodeNames[Math.floor(Math.random() * nodeNames.length)] ?? "a";
    await sleep(Math.random() * 500);
    await killOne(nodes, name);
    await sleep(Math.random() * 200);
    await nodes.start(name);
    const faults = loads.flatMap((load) => load.faults);
    if (kill % 10 === 0 || faults.length > 0) {
      const minutes = ((performance.now() - began) / 60_000).toFixed(1);
      console.log(
        `${kill} kills in ${minutes} min; faults: ${faults.length} ${faults.slice(0, 5).join(" | ")}`,
      );
    }
    if (faults.length > 20) break;
  }
  for (const load of loads) load.finish();
  await Promise.all(running);
  for (const name of nodeNames) collect(nodes.node(name).stderr());
  await settle(loads);
  const minutes = (performance.now() - began) / 60_000;
  const endings = new Map<Ending, number>();
  for (const load of loads) {
    load.client.close();
    for (const [ending, count] of load.endings) endings.set(ending, (endings.get(ending) ?? 0) + count);
  }
  const sum = (of: (load: SoakLoad) => number): number => loads.reduce((total, load) => total + of(load), 0);
  const outcome: Outcome = {
    engine: engineName,
    kills: kill,
    sessions,
    minutes,
    ...compare(loads),
    endings,
    resumes: sum(({ resumes }) => resumes),
    longestResumeMs: Math.max(...loads.map(({ longestMs }) => longestMs)),
    gaps: sum(({ gaps }) => gaps),
    faults: loads.flatMap((load) => load.faults),
  };
  await nodes.stop();
  await engine.stop();
  for (const [line, count] of strange) console.log(`${count} x ${line}`);
  return record(outcome, values.write);
}

process.exit((await run()) ? 0 : 1);
