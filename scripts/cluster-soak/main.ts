// Kills random nodes of a cluster under load, or cuts random connections of one process, hundreds of times, and counts what clients lost,
// got twice, or never got.
import { parseArgs } from "node:util";
import { Attacker } from "./attacker.ts";
import { type Ending, type Listening, SoakLoad } from "./load.ts";
import { officialClients, OfficialLoad } from "./official-load.ts";
import { type Outcome, record } from "./results.ts";
import { Said } from "./said.ts";
import { CutProcess, type EngineName, isEngineName, KilledCluster, type Subject } from "./subject.ts";
import { TwinLoad } from "./twin-load.ts";

const { values } = parseArgs({
  options: {
    alone: { type: "boolean", default: false },
    kills: { type: "string", default: "500" },
    cuts: { type: "string", default: "3000" },
    engine: { type: "string", default: "redis" },
    sessions: { type: "string", default: "8" },
    write: { type: "boolean", default: false },
  },
});
const wanted = Number(values.alone ? values.cuts : values.kills);
const sessions = Number(values.sessions);
const engineName = values.engine;
if (!isEngineName(engineName) || !(wanted > 0) || !(sessions > 0)) {
  console.error(
    "Usage: npm run soak:cluster -- [--kills 500] [--engine redis|nats] [--sessions 8] [--write]\n" +
      "       npm run soak:cluster -- --alone [--cuts 3000] [--sessions 8] [--write]",
  );
  process.exit(2);
}

/** With more, the soak ends early. */
const maxFaults = 20;

/** Milliseconds between two lines that say how it goes. */
const newsMs = 10_000;

/** Ctrl+C ends the soak early, with the outcome so far. */
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());

/** Disturbs the subject again and again. Resolves with how often it did. */
async function disturb(subject: Subject, loads: readonly Listening[]): Promise<number> {
  const began = performance.now();
  let saidAt = began;
  for (let done = 1; done <= wanted; done++) {
    await subject.disturb();
    const faults = loads.flatMap((load) => load.faults);
    const now = performance.now();
    if (now - saidAt >= newsMs || done === wanted) {
      saidAt = now;
      const minutes = ((now - began) / 60_000).toFixed(1);
      console.log(`${done} in ${minutes} min; faults: ${faults.length} ${faults.slice(0, 5).join(" | ")}`);
    }
    if (faults.length > maxFaults || interrupted.signal.aborted) return done;
  }
  return wanted;
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

const said = new Said();

async function run(engine: EngineName): Promise<boolean> {
  const subject = values.alone
    ? await CutProcess.start()
    : await KilledCluster.start(engine, (text) => said.take(text));
  const { url } = subject;
  const began = performance.now();
  const loads = await Promise.all(Array.from({ length: sessions }, () => SoakLoad.open(url)));
  const twins = await Promise.all([TwinLoad.open(url), TwinLoad.open(url)]);
  const officials = Object.keys(officialClients).map((name) => new OfficialLoad(name, url));
  const all = [...loads, ...twins, ...officials];
  const attacker = new Attacker(url, () => loads.flatMap((load) => load.sessions));
  const tools = ["push", "work", "ask", "ping"] as const;
  const others = [...twins, ...officials, attacker];
  const running = [
    ...loads.flatMap((load) => tools.map((tool) => load.run(tool))),
    ...(values.alone ? loads.slice(0, 1).map((load) => load.run("change")) : []),
    ...others.map((other) => other.run()),
  ];
  const disturbed = await disturb(subject, all);
  await finish(running, [...loads, ...others]);
  for (const text of subject.said()) said.take(text);
  await said.settle(all);
  for (const { client } of loads) client.close();
  for (const load of [...twins, ...officials]) await load.close();
  const minutes = (performance.now() - began) / 60_000;
  await subject.stop();
  for (const [line, times] of said.strange) console.log(`${times} x ${line}`);
  const attacks = [...attacker.statuses.values()].reduce((sum, times) => sum + times, 0);
  const givenUp = officials.reduce((sum, load) => sum + load.givenUp, 0);
  const about = {
    engine: values.alone ? undefined : engine,
    disturbed,
    sessions: all.length,
    minutes,
    attacks,
    givenUp,
  };
  return record({ ...about, ...said.compare(all), ...summary(loads, all) }, values.write);
}

process.exit((await run(engineName)) ? 0 : 1);
