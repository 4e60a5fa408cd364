// Scenario: clients that start Halyard's server on stdio, 1,000 calls in flight: the CPU time of this process, which is the client alone.
import { fileURLToPath, pathToFileURL } from "node:url";
import { connectBaselineStdio } from "./clients/baseline-stdio.js";
import { connectHalyard } from "./clients/halyard.js";
import { connectOfficialV1 } from "./clients/official-v1.js";
import { connectOfficialV2 } from "./clients/official-v2.js";
import { inProcess, runRounds } from "./harness.js";
import { table } from "./report.js";

const ROUNDS = 15;
const CALLS = process.argv.includes("--quick") ? 1000 : 4000;
const IN_FLIGHT = 1000;
const TEXT = "hello halyard";

const SIDES = [
  { name: "baseline", connect: connectBaselineStdio },
  { name: "halyard", connect: connectHalyard, era: "modern" },
  { name: "halyard, legacy", connect: connectHalyard, era: "legacy" },
  { name: "official v2", connect: connectOfficialV2, era: "modern" },
  { name: "official v1, legacy", connect: connectOfficialV1 },
];

const COMPARISONS = [
  { name: "baseline" },
  { name: "halyard", against: "baseline", atMost: 1.5 },
  { name: "halyard, legacy", against: "baseline", atMost: 1.5 },
  { name: "official v2", against: "baseline" },
  { name: "official v1, legacy", against: "baseline" },
  { name: "halyard", against: "official v2", atMost: 0.5 },
];

async function call(client) {
  const text = await client.call(TEXT);
  if (text !== TEXT) throw new Error(`got ${text} instead of ${TEXT}`);
}

async function callAtOnce(client, count) {
  for (let left = count; left > 0; left -= IN_FLIGHT)
    await Promise.all(Array.from({ length: Math.min(left, IN_FLIGHT) }, () => call(client)));
}

/** Runs the scenario; prints its table. `--quick` runs a quarter of it. */
export async function run() {
  const args = [fileURLToPath(new URL("./servers/halyard-stdio.js", import.meta.url))];
  const target = { command: process.execPath, args };
  const clients = [];
  const contenders = [];
  for (const { name, connect, era } of SIDES) {
    const client = await connect({ target, era });
    clients.push(client);
    contenders.push(await inProcess(name, (count) => callAtOnce(client, count), CALLS));
  }
  const samples = await runRounds(contenders, ROUNDS);
  await Promise.all(clients.map((client) => client.close()));
  console.log(table("client, stdio: tools/call, 1,000 in flight", samples, COMPARISONS));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await run();
