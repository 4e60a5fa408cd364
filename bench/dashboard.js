// Scenario: what a dashboard costs while nobody looks and while a page looks at each of its views, with 10 and 10,000 sessions.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { BenchProcess } from "./bench-process.js";
import { pairedDifference, runRounds, summary } from "./harness.js";
import { plainTable, table, verdict } from "./report.js";

const SERVER = "./servers/dashboard.js";
const ROUNDS = 10;
const WINDOW_MS = 4000;
const RATE = 200;
const PUSHES = 20;
const WARM_UP = { calls: 8000, questions: 60 };
const TURNS = 25;
const SCENES = {
  small: { sessions: 10, streams: 5, listens: 5, uris: 5 },
  large: { sessions: 10_000, streams: 1000, listens: 200, uris: 200 },
};
const CALLS = { connections: 64, warmUp: 6000, requests: 6000, settle: 500 };
/** Per cent of one core; of CPU per call, a ratio. */
const TARGETS = {
  unlooked: { atMost: 0, noise: 0.1 },
  looked: { atMost: 1 },
  unlookedCall: { atMost: 1, noise: 0.03 },
  lookedCall: { atMost: 1.05 },
};

/** The views, and how often the page asks for each. */
const VIEWS = [
  { view: "now", everyMs: 1000 },
  { view: "sessions", everyMs: 2000 },
  { view: "streams", everyMs: 1000 },
  { view: "tools", everyMs: 1000 },
  { view: "topics", everyMs: 2000 },
  { view: "timeline", everyMs: 1000 },
];
const NONE = "without";
const AGAIN = "without, again";
const UNLOOKED = "nobody looks";
const nameOf = ({ view }) => `looks at ${view}`;

const closeAll = (contenders) =>
  Promise.all(contenders.flatMap(({ subject, load }) => [subject.close(), load.close()]));
const thousands = (count) => count.toLocaleString("en");

// A steady load: every contender is a server with visitors of its own, and all of them run at the same time.

async function openSteady(name, looking, scene) {
  const hasDashboard = name !== NONE && name !== AGAIN;
  const [subject, load] = await Promise.all([
    BenchProcess.start(SERVER, { hasDashboard }),
    BenchProcess.start("./dashboard-load.js"),
  ]);
  const { port, page } = subject.hello;
  await load.ask("open", { port, ...scene });
  const asked = looking && { page, ...looking };
  const questions = asked ? WARM_UP.questions : 0;
  for (let n = 0; n < questions; n++) await load.ask("question", asked);
  await load.ask("burst", { count: WARM_UP.calls });
  await subject.ask("push", { perSecond: PUSHES, uris: scene.uris });
  if (asked) await load.ask("look", asked);
  await load.ask("steady", { rate: RATE });
  return { name, subject, load, asked, answers: [], calls: 0 };
}

async function readAll(contenders) {
  const micros = await Promise.all(contenders.map(({ subject }) => subject.cpu()));
  return { at: performance.now(), micros };
}

async function measureSteady(contenders) {
  const samples = new Map(contenders.map(({ name }) => [name, []]));
  await Promise.all(contenders.map(({ load }) => load.ask("read")));
  let before = await readAll(contenders);
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(WINDOW_MS);
    const after = await readAll(contenders);
    const elapsedMicros = (after.at - before.at) * 1000;
    contenders.forEach(({ name }, index) => {
      const used = after.micros[index] - before.micros[index];
      samples.get(name).push((used / elapsedMicros) * 100);
    });
    before = after;
  }
  for (const contender of contenders) {
    const { calls, wrong, firstWrong, answers } = await contender.load.ask("read");
    if (wrong > 0) throw new Error(`${wrong} wrong answers from ${contender.name}, the first: ${firstWrong}`);
    Object.assign(contender, { calls, answers });
  }
  return samples;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function steadyTable(scene, contenders, samples) {
  const rows = contenders.map(({ name, asked, calls }) => {
    const core = summary(samples.get(name)).median.toFixed(2);
    const rate = (calls / ((ROUNDS * WINDOW_MS) / 1000)).toFixed(0);
    if (name === NONE) return [name, rate, core, "-", "-", "-", "-"];
    const more = pairedDifference(samples, name, NONE);
    const average = mean(samples.get(name)) - mean(samples.get(NONE));
    const target = asked ? TARGETS.looked : name === UNLOOKED ? TARGETS.unlooked : {};
    const spread = `${more.p25.toFixed(2)} - ${more.p75.toFixed(2)}`;
    return [name, rate, core, more.median.toFixed(2), average.toFixed(2), spread, verdict(average, target)];
  });
  const { sessions, streams, listens } = scene;
  const what = `${thousands(sessions)} sessions, ${thousands(streams)} of them with a stream, ${listens} listen requests`;
  const columns = [
    "contender",
    "calls/s",
    "% of a core",
    "more (median)",
    "more (mean)",
    "p25 - p75",
    "target",
  ];
  return plainTable(`Dashboard, ${what}: ${ROUNDS} rounds of ${WINDOW_MS / 1000} s`, columns, rows);
}

// One question.

/** CPU milliseconds of the longest turn while `run` goes on, so often. */
async function longestTurns({ subject }, times, run) {
  const turns = [];
  for (let n = 0; n < times; n++) {
    await subject.ask("watchTurns");
    await run();
    turns.push(await subject.ask("longestTurn"));
  }
  return summary(turns);
}

async function questionRow(contender) {
  const { load, asked, answers } = contender;
  const turns = await longestTurns(contender, TURNS, () => load.ask("question", asked));
  const { median } = summary(answers.ms);
  const bytes = thousands(Math.round(answers.bytes / answers.count));
  return [
    asked.view,
    String(asked.everyMs),
    median.toFixed(1),
    bytes,
    turns.median.toFixed(2),
    turns.max.toFixed(2),
    "-",
  ];
}

/** A search visits everything; the first question of all finds a server whose dashboard nobody has looked at. */
async function questionTable(scene, contenders) {
  const rows = [];
  for (const contender of contenders) if (contender.asked) rows.push(await questionRow(contender));
  const unlooked = contenders.find(({ name }) => name === UNLOOKED);
  const asking = (asked) => () =>
    unlooked.load.ask("question", { page: unlooked.subject.hello.page, ...asked });
  const others = [
    ["no question, for comparison", TURNS, () => sleep(20)],
    ["the first question: sessions", 1, asking({ view: "sessions" })],
    ["the first search in sessions", 1, asking({ view: "sessions", search: "client 7" })],
    ["a search in sessions", TURNS, asking({ view: "sessions", search: "client 7" })],
  ];
  for (const [title, times, run] of others) {
    const { median, max } = await longestTurns(unlooked, times, run);
    rows.push([title, "-", "-", "-", median.toFixed(2), max.toFixed(2), "-"]);
  }
  const columns = ["question", "every ms", "ms", "bytes", "longest turn, CPU ms (median)", "(max)", "target"];
  const title = `Dashboard, one question with ${thousands(scene.sessions)} sessions, under the same load`;
  return plainTable(title, columns, rows);
}

async function runSteady(scene) {
  const contenders = [];
  const all = [[NONE], [UNLOOKED], ...VIEWS.map((looking) => [nameOf(looking), looking]), [AGAIN]];
  try {
    for (const [name, looking] of all) contenders.push(await openSteady(name, looking, scene));
    const samples = await measureSteady(contenders);
    return `${steadyTable(scene, contenders, samples)}\n${await questionTable(scene, contenders)}`;
  } finally {
    await closeAll(contenders);
  }
}

// As many calls as the server can answer, one contender at a time.

async function openSaturated(name, looking, era) {
  const [subject, load, visitor] = await Promise.all([
    BenchProcess.start(SERVER, { hasDashboard: name !== NONE }),
    BenchProcess.start("./http-load.js"),
    BenchProcess.start("./dashboard-load.js"),
  ]);
  const { port, page } = subject.hello;
  const { connections, warmUp, requests, settle } = CALLS;
  await load.ask("open", { port, connections, era, kind: "call", tools: 0 });
  const run = async (count) => {
    const { errors, firstError } = await load.ask("run", { count });
    if (errors > 0) throw new Error(`${errors} wrong answers from ${name}, the first: ${firstError}`);
  };
  if (looking) await visitor.ask("question", { page, view: "now" });
  await run(warmUp);
  if (looking) await visitor.ask("look", { page, ...looking });
  const measure = async () => {
    await run(settle);
    const before = await subject.cpu();
    await run(requests);
    return ((await subject.cpu()) - before) / requests;
  };
  const close = () => Promise.all([subject.close(), load.close(), visitor.close()]);
  return { name, measure, close };
}

async function runSaturated(era) {
  const looks = VIEWS.filter(({ view }) => view === "now" || view === "timeline");
  const contenders = [];
  try {
    for (const [name, looking] of [[NONE], [UNLOOKED], ...looks.map((one) => [nameOf(one), one])])
      contenders.push(await openSaturated(name, looking, era));
    const samples = await runRounds(contenders, ROUNDS);
    const lines = [
      { name: NONE },
      { name: UNLOOKED, against: NONE, ...TARGETS.unlookedCall },
      { name: "looks at now", against: NONE, ...TARGETS.lookedCall },
      { name: "looks at timeline", against: NONE },
    ];
    const what =
      era === "modern"
        ? "modern; the timeline is of the one client that makes all calls"
        : "legacy, 64 sessions; the timeline is of one";
    return table(`Dashboard, saturated with tools/call echo, ${what}: ${ROUNDS} rounds`, samples, lines);
  } finally {
    await Promise.all(contenders.map(({ close }) => close()));
  }
}

function resultsPage(tables) {
  const date = new Date().toISOString().slice(0, 10);
  return `# The dashboard

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`npm run bench:dashboard -- --write\`.

CPU time is that of the server, all threads. Under the steady load, each contender is a server with visitors of its own: ${RATE} calls
a second, half of them _modern_ (2026-07-28) and half of them in sessions, and ${PUSHES} updates a second to those who listen. All contenders run at
the same time, and differences are taken window by window; "without, again" shows how much two equal servers differ. A page asks as
often as the real one. The longest turn is the CPU time for which one question keeps the event loop from everything else; every few
seconds it includes a visit to all sessions.

${tables}
`;
}

const scenes = {
  small: () => runSteady(SCENES.small),
  large: () => runSteady(SCENES.large),
  modern: () => runSaturated("modern"),
  session: () => runSaturated("session"),
};
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const chosen = Object.keys(scenes).filter((name) => only === undefined || only.split(",").includes(name));
const tables = [];
for (const name of chosen) {
  tables.push(await scenes[name]());
  console.log(tables.at(-1));
}
if (process.argv.includes("--write"))
  writeFileSync(new URL("dashboard-results.md", import.meta.url), resultsPage(tables.join("\n").trim()));
