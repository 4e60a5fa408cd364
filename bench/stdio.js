// Scenario: echo calls on stdio, 1,000 in flight; the server's CPU time per request, legacy and modern.
import { fileURLToPath, pathToFileURL } from "node:url";
import { importHalyard } from "./available.js";
import { runRounds } from "./harness.js";
import { table } from "./report.js";
import { StdioClient } from "./stdio-client.js";

const ROUNDS = 12;
const WARM_UP = 10_000;
const REQUESTS = 20_000;

const BASELINE = { name: "baseline", file: "./baselines/stdio.js" };
const COALESCING = { name: "baseline, coalescing", file: "./baselines/stdio-coalescing.js" };
const OFFICIAL = { name: "official v2", file: "./servers/official-v2-stdio.js" };
const HALYARD = { name: "halyard", file: "./servers/halyard-stdio.js" };

/** One round of one server: a fresh process, warmed up, then measured; a wrong answer ends the run. */
async function measure(file, era) {
  const client = new StdioClient(fileURLToPath(new URL(file, import.meta.url)), era);
  try {
    if (era === "legacy") await client.handshake();
    await client.call(WARM_UP);
    const before = await client.cpu();
    await client.call(REQUESTS);
    const used = (await client.cpu()) - before;
    if (client.mismatches > 0) throw new Error(`${client.mismatches} wrong answers from ${file}`);
    return used / REQUESTS;
  } finally {
    await client.close();
  }
}

function comparisons(withHalyard) {
  const official = { name: OFFICIAL.name, against: BASELINE.name };
  if (!withHalyard) return [{ name: BASELINE.name }, official];
  return [
    { name: BASELINE.name },
    { name: COALESCING.name, against: BASELINE.name },
    { name: HALYARD.name, against: BASELINE.name },
    { name: HALYARD.name, against: COALESCING.name },
    official,
    { name: OFFICIAL.name, against: HALYARD.name, atLeast: 8 },
  ];
}

async function runEra(era, servers) {
  const contenders = servers.map(({ name, file }) => ({ name, measure: () => measure(file, era) }));
  const samples = await runRounds(contenders, ROUNDS);
  const title = `stdio, ${era}: tools/call echo, 1,000 in flight, ${REQUESTS} a round, ${ROUNDS} rounds, 0 mismatches`;
  return table(title, samples, comparisons(servers.includes(HALYARD)));
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const halyard = await importHalyard("halyard/stdio");
  const servers = halyard ? [BASELINE, COALESCING, HALYARD, OFFICIAL] : [BASELINE, OFFICIAL];
  return [await runEra("legacy", servers), await runEra("modern", servers)].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
