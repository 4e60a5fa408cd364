// Scenario: requests over HTTP from 64 keep-alive connections; the server's CPU time per request.
import { pathToFileURL } from "node:url";
import { BenchProcess } from "./bench-process.js";
import { runRounds } from "./harness.js";
import * as servers from "./http-servers.js";
import { table } from "./report.js";

const { BASELINE, CHECKED, HALYARD, OFFICIAL_V2, OFFICIAL_V1, MCP_LITE, MCP_LITE_JSON } = servers;
const ROUNDS = 10;
const GENERATIONS = 2; // of processes: no server is judged by one process and what the engine made of it
const CONNECTIONS = 64;
const OFFICIAL = [OFFICIAL_V2, OFFICIAL_V1];

// Slow servers get fewer requests: what is compared is the time per request.
const COUNTS = {
  call: { fast: { warmUp: 12_000, requests: 4000 }, slow: { warmUp: 5000, requests: 600 } },
  list: { fast: { warmUp: 3000, requests: 1500 }, slow: { warmUp: 300, requests: 64 } },
};
const SETTLE_SHARE = 0.1;

const SCENES = [
  {
    title: "tools/call echo, modern, stateless",
    era: "modern",
    kind: "call",
    tools: 0,
    servers: [BASELINE, CHECKED, HALYARD, OFFICIAL_V2],
    target: { atMost: 1.6 },
  },
  {
    title: "tools/call echo, legacy, 64 sessions",
    era: "session",
    kind: "call",
    tools: 0,
    servers: [BASELINE, CHECKED, HALYARD, MCP_LITE, MCP_LITE_JSON, ...OFFICIAL],
    target: { atMost: 1.6 },
  },
  {
    title: "tools/call echo, legacy, stateless",
    era: "stateless",
    kind: "call",
    tools: 0,
    servers: [BASELINE, CHECKED, HALYARD, MCP_LITE, MCP_LITE_JSON, ...OFFICIAL],
  },
  {
    title: "tools/list of 100 tools, modern, stateless",
    era: "modern",
    kind: "list",
    tools: 100,
    servers: [BASELINE, CHECKED, HALYARD, OFFICIAL_V2],
    target: { atMost: 1.3 },
  },
  {
    title: "tools/list of 100 tools, legacy, 64 sessions",
    era: "session",
    kind: "list",
    tools: 100,
    servers: [BASELINE, CHECKED, HALYARD, MCP_LITE, ...OFFICIAL],
    target: { atMost: 1.3 },
  },
];

function countsOf(server, kind) {
  return COUNTS[kind][OFFICIAL.includes(server) ? "slow" : "fast"];
}

/** A server and its client, in two processes that stay for the rounds of one generation; warmed up. */
async function openContender(server, { era, kind, tools }) {
  const [subject, load] = await Promise.all([
    BenchProcess.start(server.file, { tools, mode: era }),
    BenchProcess.start("./http-load.js"),
  ]);
  const { accept } = server;
  await load.ask("open", { port: subject.hello.port, connections: CONNECTIONS, era, kind, tools, accept });
  const { warmUp, requests } = countsOf(server, kind);
  await runChecked(server, load, warmUp);
  return { name: server.name, measure: () => measure(server, subject, load, requests), subject, load };
}

async function measure(server, subject, load, requests) {
  await runChecked(server, load, Math.max(CONNECTIONS, requests * SETTLE_SHARE));
  const before = await subject.cpu();
  await runChecked(server, load, requests);
  return ((await subject.cpu()) - before) / requests;
}

/** A wrong answer ends the run. */
async function runChecked({ name }, load, count) {
  const { errors, firstError } = await load.ask("run", { count });
  if (errors > 0) throw new Error(`${errors} wrong answers from ${name}, the first: ${firstError}`);
}

async function runGeneration(scene, present) {
  const contenders = [];
  try {
    for (const server of present) contenders.push(await openContender(server, scene));
    return await runRounds(contenders, ROUNDS);
  } finally {
    await Promise.all(contenders.flatMap(({ subject, load }) => [subject.close(), load.close()]));
  }
}

async function runScene(scene) {
  const present = servers.measurable(scene.servers);
  const samples = new Map(present.map(({ name }) => [name, []]));
  for (let generation = 0; generation < GENERATIONS; generation++) {
    for (const [name, figures] of await runGeneration(scene, present)) samples.get(name).push(...figures);
  }
  const title = `HTTP, ${scene.title}: ${CONNECTIONS} connections, ${ROUNDS * GENERATIONS} rounds, 0 errors`;
  return table(title, samples, servers.comparisons(present, scene.target));
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const tables = [];
  for (const scene of SCENES) tables.push(await runScene(scene));
  return tables.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
