// Scenario: servers saturated by wrk, which keeps a request waiting on each of 64 connections; CPU time per request.
import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { initialize, initialized } from "./baselines/messages.js";
import { BenchProcess } from "./bench-process.js";
import { runRounds } from "./harness.js";
import * as servers from "./http-servers.js";
import { bodies, legacyFields, modernFields, openSession, post, WireConnection } from "./http-wire.js";
import { table } from "./report.js";

const { BASELINE, HALYARD, OFFICIAL_V2 } = servers;
const ASYNC = { ...HALYARD, name: "halyard, async handler", settings: { isAsync: true } };
const ROUNDS = 10;
const CONNECTIONS = 64;
const FIRST_ID = 1000; // all ids have the same width, so that all requests have the same length
const COUNTS = { fast: { warmUp: 20_000, requests: 8000 }, slow: { warmUp: 1500, requests: 400 } };
const HANDSHAKE = { initialize: initialize(0), initialized: initialized() };
const script = fileURLToPath(new URL("./http-saturated.lua", import.meta.url));
const execute = promisify(execFile);

const SCENES = [
  { title: "modern", era: "modern", servers: [BASELINE, HALYARD, ASYNC, OFFICIAL_V2] },
  {
    title: "legacy, 64 sessions",
    era: "session",
    servers: [BASELINE, HALYARD, OFFICIAL_V2],
    target: { atMost: 1.4 },
  },
  { title: "legacy, stateless", era: "stateless", servers: [BASELINE, HALYARD, OFFICIAL_V2] },
];

/** As many requests as connections, each in its own session where there are sessions. */
async function makeRequests(port, era) {
  const connection = await WireConnection.open(port);
  const requests = [];
  const { call } = bodies[era === "modern" ? "modern" : "legacy"];
  for (let id = FIRST_ID; id < FIRST_ID + CONNECTIONS; id++) {
    const session = era === "session" ? await openSession(connection, port, HANDSHAKE) : undefined;
    const fields = era === "modern" ? modernFields("tools/call", "echo") : legacyFields(session);
    requests.push(post(port, call(id, `hello halyard ${id}`), fields));
  }
  connection.close();
  return requests;
}

/** Answers how many requests were sent; a wrong answer ends the run. */
async function saturate({ server, subject, requests }, count) {
  const url = `http://127.0.0.1:${subject.hello.port}/mcp`;
  const options = ["-t1", `-c${CONNECTIONS}`, "-d60s", "-s", script, url, "--", String(count)];
  const { stdout } = await execute("wrk", [...options, ...requests]);
  const [, sent, wrong, first] = /^sent=(\d+) wrong=(\d+) first=(.*)$/m.exec(stdout) ?? [];
  if (wrong === "0") return Number(sent);
  throw new Error(`${wrong ?? "All"} answers from ${server.name} were wrong, the first: ${first ?? stdout}`);
}

async function open(server, era) {
  const subject = await BenchProcess.start(server.file, { tools: 0, mode: era, ...server.settings });
  const requests = await makeRequests(subject.hello.port, era);
  const contender = { server, subject, requests };
  await saturate(contender, countsOf(server).warmUp);
  return { name: server.name, measure: () => measure(contender), subject };
}

async function measure(contender) {
  const before = await contender.subject.cpu();
  const sent = await saturate(contender, countsOf(contender.server).requests);
  return ((await contender.subject.cpu()) - before) / sent;
}

const countsOf = (server) => COUNTS[server === OFFICIAL_V2 ? "slow" : "fast"];

function comparisons(present, target) {
  const lines = servers.comparisons(present, target);
  if (!present.includes(ASYNC)) return lines;
  return [...lines, { name: ASYNC.name, against: HALYARD.name, atMost: 1.05 }];
}

async function runScene({ title, era, servers: all, target }) {
  const present = servers.measurable(all);
  const contenders = [];
  try {
    for (const server of present) contenders.push(await open(server, era));
    const samples = await runRounds(contenders, ROUNDS);
    const heading = `HTTP, saturated by wrk, tools/call echo, ${title}: ${CONNECTIONS} connections, ${ROUNDS} rounds, 0 errors`;
    return table(heading, samples, comparisons(present, target));
  } finally {
    await Promise.all(contenders.map(({ subject }) => subject.close()));
  }
}

/** Runs the scenario and returns its tables; none where wrk is missing. */
export async function run() {
  if (spawnSync("wrk", ["-v"]).error !== undefined) {
    console.error("Not measured: saturated servers need wrk, which is not installed here");
    return "";
  }
  const tables = [];
  for (const scene of SCENES) tables.push(await runScene(scene));
  return tables.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
