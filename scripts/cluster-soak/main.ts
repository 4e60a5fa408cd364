// Kills random nodes of a cluster under load, hundreds of times, and counts what clients lost, got twice, or waited for in vain.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { EngineProcess } from "../../test/support/engines.ts";
import { type NodeName, nodeNames, Nodes, victim } from "../../test/cluster/nodes.ts";
import { Attacker } from "./attacker.ts";
import { type Ending, type Listening, SoakLoad } from "./load.ts";
import { officialClients, OfficialLoad } from "./official-load.ts";
import { type Outcome, record } from "./results.ts";
import { TwinLoad } from "./twin-load.ts";

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

/** With more, the soak ends early. */
const maxFaults = 20;

/** Ctrl+C ends the soak early, with the outcome so far. */
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());

/** A push whose promise resolved with true, and the time. */
interface Pushed {
  readonly number: number;
  readonly at: number;
}

/** The pushes, as the nodes said, by session and lane. */
const pushed = new Map<string, Pushed[]>();

function collect(stderr: string): void {
  for (const [, session = "", lane = "", number, isThere, at] of stderr.matchAll(
    /^pushed (\S+) (\S+) (\d+) (\w+) (\d+)$/gm,
  )) {
    if (isThere !== "true") continue;
    const key = `${session} ${lane}`;
    const pushes = pushed.get(key) ?? [];
    pushed.set(key, pushes);
    pushes.push({ number: Number(number), at: Number(at) });
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
async function settle(loads: readonly Listening[]): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (compare(loads).lost > 0 && performance.now() < deadline) await sleep(200);
}

/** Compares what was pushed with what was heard. */
function compare(
  loads: readonly Listening[],
): Pick<Outcome, "pushes" | "lost" | "losses" | "noticed" | "doubled" | "disordered"> {
  const found = { pushes: 0, lost: 0, losses: [] as string[], noticed: 0, doubled: 0, disordered: 0 };
  for (const [key, pushes] of pushed) {
    const [session = "", lane = ""] = key.split(" ");
    const load = loads.find(({ sessions: own }) => own.includes(session));
    const heard = load?.heard(lane) ?? [];
    const distinct = new Set(heard);
    const missing = pushes.filter(({ number }) => !distinct.has(number));
    const noticed = missing.filter(({ at }) => load?.isNoticed(session, at) === true);
    found.pushes += pushes.length;
    found.noticed += noticed.length;
    found.lost += missing.length - noticed.length;
    found.losses.push(
      ...missing
        .filter((push) => !noticed.includes(push))
        .map(({ number, at }) => `${key} ${number} at ${at}`),
    );
    found.doubled += heard.length - distinct.size;
    if (load?.hasTwins) continue;
    found.disordered += heard.filter((number, at) => number < (heard[at - 1] ?? 0)).length;
  }
  return found;
}

/** Kills one node after the other, and starts each again. Resolves with how many it has killed. */
async function killNodes(nodes: Nodes, loads: readonly Listening[]): Promise<number> {
  const began = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
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
    if (faults.length > maxFaults || interrupted.signal.aborted) return kill;
  }
  return kills;
}

/** What all clients together have seen. */
function summary(
  loads: readonly SoakLoad[],
  all: readonly Listening[],
): Pick<Outcome, "endings" | "resumes" | "longestResumeMs" | "gaps" | "faults"> {
  const endings = new Map<Ending, number>();
  for (const [ending, count] of loads.flatMap((load) => Array.from(load.endings))) {
    endings.set(ending, (endings.get(ending) ?? 0) + count);
  }
  const sum = (of: (load: SoakLoad) => number): number => loads.reduce((total, load) => total + of(load), 0);
  return {
    endings,
    resumes: sum(({ resumes }) => resumes),
    longestResumeMs: Math.max(...loads.map(({ longestMs }) => longestMs)),
    gaps: all.reduce((total, { gaps }) => total + gaps, 0),
    faults: all.flatMap(({ faults }) => faults),
  };
}

/** Ends what runs, and waits for it. */
async function finish(
  running: readonly Promise<void>[],
  loads: readonly { finish(): void }[],
): Promise<void> {
  for (const load of loads) load.finish();
  await Promise.all(running);
}

async function run(): Promise<boolean> {
  const engine = await EngineProcess.start(programs[engineName]);
  const nodes = await Nodes.start({ command: victim, backplane: engine.url });
  const began = performance.now();
  const loads = await Promise.all(Array.from({ length: sessions }, () => SoakLoad.open(nodes.url)));
  const twins = await Promise.all([TwinLoad.open(nodes.url), TwinLoad.open(nodes.url)]);
  const officials = Object.keys(officialClients).map((name) => new OfficialLoad(name, nodes.url));
  const all = [...loads, ...twins, ...officials];
  const attacker = new Attacker(nodes.url, () => loads.flatMap((load) => load.sessions));
  const tools = ["push", "work", "ask", "ping"] as const;
  const others = [...twins, ...officials, attacker];
  const running = [
    ...loads.flatMap((load) => tools.map((tool) => load.run(tool))),
    ...others.map((other) => other.run()),
  ];
  const killed = await killNodes(nodes, all);
  await finish(running, [...loads, ...others]);
  for (const name of nodeNames) collect(nodes.node(name).stderr());
  await settle(all);
  for (const { client } of loads) client.close();
  for (const load of [...twins, ...officials]) await load.close();
  const minutes = (performance.now() - began) / 60_000;
  await nodes.stop();
  await engine.stop();
  for (const [line, count] of strange) console.log(`${count} x ${line}`);
  const attacks = [...attacker.statuses.values()].reduce((sum, count) => sum + count, 0);
  const givenUp = officials.reduce((sum, load) => sum + load.givenUp, 0);
  const about = { engine: engineName, kills: killed, sessions: all.length, minutes, attacks, givenUp };
  return record({ ...about, ...compare(all), ...summary(loads, all) }, values.write);
}

process.exit((await run()) ? 0 : 1);
