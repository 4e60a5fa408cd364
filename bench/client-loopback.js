// Scenario: clients that call Halyard's server over loopback: the CPU time of this process, which is the client alone.
import { pathToFileURL } from "node:url";
import { BenchProcess } from "./bench-process.js";
import { connectAiSdk } from "./clients/ai-sdk.js";
import { connectBaseline } from "./clients/baseline.js";
import { connectHalyard } from "./clients/halyard.js";
import { connectOfficialV1 } from "./clients/official-v1.js";
import { connectOfficialV2 } from "./clients/official-v2.js";
import { inProcess, runRounds } from "./harness.js";
import { table } from "./report.js";

const ROUNDS = 15;
const SHARE = process.argv.includes("--quick") ? 0.1 : 1;
const IN_FLIGHT = 1000;
const TEXT = "hello halyard";

const BASELINE = "baseline";
const HALYARD = "halyard";
const OFFICIAL_V2 = "official v2";
const SIDES = [
  { name: BASELINE, connect: connectBaseline, era: "modern" },
  { name: HALYARD, connect: connectHalyard, era: "modern" },
  { name: "halyard, with fetch", connect: connectHalyard, era: "modern", fetch: globalThis.fetch },
  { name: "halyard, legacy", connect: connectHalyard, era: "legacy" },
  { name: OFFICIAL_V2, connect: connectOfficialV2, era: "modern" },
  { name: "official v1, legacy", connect: connectOfficialV1, era: "legacy" },
  { name: "@ai-sdk/mcp", connect: connectAiSdk, era: "modern" },
];

async function call(client) {
  const text = await client.call(TEXT);
  if (text !== TEXT) throw new Error(`got ${text} instead of ${TEXT}`);
}

async function callOneByOne(client, count) {
  for (let n = 0; n < count; n++) await call(client);
}

async function callAtOnce(client, count) {
  for (let left = count; left > 0; left -= IN_FLIGHT)
    await Promise.all(Array.from({ length: Math.min(left, IN_FLIGHT) }, () => call(client)));
}

const SCENES = [
  { title: "tools/call, one by one", count: 300 * SHARE, run: callOneByOne },
  { title: "tools/call, 1,000 in flight", count: IN_FLIGHT, run: callAtOnce },
];

function comparisons() {
  const lines = SIDES.map(({ name }) => {
    if (name === BASELINE) return { name };
    const isOurs = name.startsWith(HALYARD);
    return { name, against: BASELINE, ...(isOurs && { atMost: 1.5 }) };
  });
  return [...lines, { name: HALYARD, against: OFFICIAL_V2, atMost: 0.5 }];
}

async function runScene({ title, count, run: runCalls }, url) {
  const contenders = [];
  const clients = [];
  for (const { name, connect, era, fetch } of SIDES) {
    const client = await connect({ url, era, fetch });
    clients.push(client);
    contenders.push(await inProcess(name, (times) => runCalls(client, times), count));
  }
  const samples = await runRounds(contenders, ROUNDS);
  await Promise.all(clients.map((client) => client.close()));
  return table(`client, over loopback: ${title}`, samples, comparisons());
}

/** Runs the scenario; prints each table when it is made. `--quick` runs a tenth of each. */
export async function run() {
  const server = await BenchProcess.start("./servers/halyard-http.js", { tools: 0, mode: "modern" });
  const url = `http://127.0.0.1:${server.hello.port}/mcp`;
  try {
    for (const scene of SCENES) console.log(await runScene(scene, url));
  } finally {
    await server.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await run();
