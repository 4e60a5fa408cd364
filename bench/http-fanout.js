// Scenario: one change delivered to many open streams, and one resource update among many subscriptions.
import { pathToFileURL } from "node:url";
import { BenchProcess } from "./bench-process.js";
import { runRounds } from "./harness.js";
import * as servers from "./http-servers.js";
import { table } from "./report.js";

const { BASELINE, HALYARD, OFFICIAL_V2, OFFICIAL_V1, MCP_LITE } = servers;
const ROUNDS = 10;
const WARM_UP = 5;
const UPDATES = { fast: 5000, slow: 500 };
const UPDATED_URIS = 10;
const SPARE_FILES = 200;
const PEERS = [OFFICIAL_V2, OFFICIAL_V1];

const SCENES = [
  { kind: "listen", streams: 1000, changes: 10, servers: [BASELINE, HALYARD, OFFICIAL_V2] },
  {
    kind: "listen",
    streams: 10_000,
    changes: 3,
    servers: [HALYARD, BASELINE, OFFICIAL_V2],
    target: { atMost: 1.3 },
  },
  {
    kind: "get",
    streams: 1000,
    changes: 10,
    servers: [BASELINE, HALYARD, MCP_LITE, ...PEERS],
    target: { atMost: 1.4 },
  },
];
const POPULATIONS = [10, 10_000];

// Node raises its own limit to the hard one, so only that one counts.
function hasFilesFor(streams) {
  const hard = process.report?.getReport().userLimits?.open_files?.hard ?? "unlimited";
  if (hard === "unlimited" || Number(hard) >= streams + SPARE_FILES) return true;
  console.error(`Not measured: ${streams} streams need as many open files, and this shell allows ${hard}`);
  return false;
}

/** A server with its streams open, in two processes that stay for all the rounds. */
async function openStreams(server, { kind, streams }) {
  const mode = { listen: "modern", uri: "uris", get: "session" }[kind];
  const [subject, listeners] = await Promise.all([
    BenchProcess.start(server.file, { tools: 0, mode }),
    BenchProcess.start("./http-listeners.js"),
  ]);
  const stamped = server !== BASELINE;
  await listeners.ask("open", { port: subject.hello.port, kind, count: streams, stamped });
  return { server, subject, listeners, streams };
}

async function closeAll(opened) {
  await Promise.all(opened.flatMap(({ subject, listeners }) => [subject.close(), listeners.close()]));
}

/** Makes `changes` changes, each once the last has arrived everywhere. */
async function deliver({ server, subject, listeners, streams }, changes, sample) {
  await listeners.ask("reset");
  for (let done = 1; done <= changes; done++) {
    await subject.ask("change", { sample });
    await listeners.ask("wait", { deliveries: done * streams });
  }
  return checkTally(server, listeners, changes * streams);
}

/** Nothing lost, nothing twice, nothing with another's id, no stream closed: or the run ends. */
async function checkTally({ name }, listeners, deliveries) {
  const tally = await listeners.ask("read");
  if (tally.deliveries === deliveries && tally.wrong === 0 && tally.closed === 0) return tally;
  throw new Error(`${name}: ${deliveries} deliveries expected, but ${JSON.stringify(tally)}`);
}

async function measureChanges(opened, changes, sample) {
  const before = await opened.subject.cpu();
  await deliver(opened, changes, sample);
  const used = (await opened.subject.cpu()) - before;
  await checkTally(opened.server, opened.listeners, changes * opened.streams);
  return used / (changes * opened.streams);
}

// Warms everyone up, and lets the baseline write the very bytes that Halyard sends.
async function warmUp(all) {
  const sizes = [];
  let sample;
  for (const opened of all.toSorted((one, other) => rank(one) - rank(other))) {
    const tally = await deliver(opened, WARM_UP, sample);
    if (opened.server === HALYARD) sample = tally.sample;
    sizes.push(`${opened.server.name} ${Math.round(tally.bytes / tally.deliveries)}`);
  }
  return { sample, sizes };
}

const rank = ({ server }) => (server === HALYARD ? 0 : 1);

async function runScene(scene) {
  if (!hasFilesFor(scene.streams)) return "";
  const opened = [];
  try {
    for (const server of servers.measurable(scene.servers)) opened.push(await openStreams(server, scene));
    const { sample, sizes } = await warmUp(opened);
    const contenders = opened.map((one) => ({
      name: one.server.name,
      measure: () => measureChanges(one, scene.changes, sample),
    }));
    const samples = await runRounds(contenders, ROUNDS);
    return fanoutTable(scene, samples, opened, sizes);
  } finally {
    await closeAll(opened);
  }
}

function fanoutTable({ kind, streams, target }, samples, opened, sizes) {
  const what = kind === "get" ? "GET streams in as many sessions" : "listen streams";
  const title = `HTTP, one change to ${streams.toLocaleString("en")} ${what}: ${ROUNDS} rounds, every delivery counted`;
  const present = opened.map(({ server }) => server);
  const lines = table(title, samples, servers.comparisons(present, target), "delivery");
  return `${lines}\nBytes a delivery: ${sizes.join(", ")}.\n`;
}

const populationName = ({ name }, count) => `${name}, ${count.toLocaleString("en")} URIs`;

async function measureUpdates({ server, subject, listeners }) {
  const count = UPDATES[PEERS.includes(server) ? "slow" : "fast"];
  await listeners.ask("reset");
  const before = await subject.cpu();
  await subject.ask("update", { count, uris: UPDATED_URIS });
  await listeners.ask("wait", { deliveries: count });
  const used = (await subject.cpu()) - before;
  await checkTally(server, listeners, count);
  return used / count;
}

async function updateContenders(present, opened) {
  const contenders = [];
  for (const server of present) {
    for (const streams of POPULATIONS) {
      const one = await openStreams(server, { kind: "uri", streams });
      opened.push(one);
      await measureUpdates(one); // warms it up
      contenders.push({ name: populationName(server, streams), measure: () => measureUpdates(one) });
    }
  }
  return contenders;
}

function updateComparisons(present) {
  return present.flatMap((server) => {
    const [few, many] = POPULATIONS.map((count) => populationName(server, count));
    const target = server === HALYARD ? { atMost: 1, noise: 0.1 } : {};
    return [{ name: few }, { name: many, against: few, ...target }];
  });
}

async function runUpdates() {
  if (!hasFilesFor(POPULATIONS.at(-1))) return "";
  const present = servers.measurable([BASELINE, HALYARD, OFFICIAL_V2]);
  const opened = [];
  try {
    const samples = await runRounds(await updateContenders(present, opened), ROUNDS);
    const title = `HTTP, resources/updated to the one stream that asked for the URI: ${ROUNDS} rounds, every delivery counted`;
    return table(title, samples, updateComparisons(present), "update");
  } finally {
    await closeAll(opened);
  }
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const tables = [];
  for (const scene of SCENES) tables.push(await runScene(scene));
  tables.push(await runUpdates());
  return tables.filter((text) => text !== "").join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
