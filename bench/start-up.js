// Scenario: what it costs to start: the CPU time of importing a server's modules, and of a whole stdio server up to its first answer.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { importHalyard } from "./available.js";
import { initialize } from "./baselines/messages.js";
import { cpuMicros, spawnSetup } from "./child-cpu.js";
import { pairedDifference, runRounds, summary } from "./harness.js";
import { plainTable, table, verdict } from "./report.js";

const ROUNDS = 20;
const ENV = { ...process.env, NODE_NO_WARNINGS: "1" };
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const execute = promisify(execFile);

const NOTHING = { name: "an empty module", modules: [] };
const HALYARD_MODULES = { name: "halyard, halyard/stdio", modules: ["halyard", "halyard/stdio"] };
const OFFICIAL_MODULES = {
  name: "official v2, its stdio",
  modules: ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"],
};

const BASELINE = { name: "baseline with zod", file: "./baselines/stdio-zod.js" };
const HALYARD = { name: "halyard", file: "./servers/halyard-stdio.js" };
const OFFICIAL = { name: "official v2", file: "./servers/official-v2-stdio.js" };

/** CPU milliseconds of a process that imports these modules and ends. */
async function measureImport(modules) {
  const { stdout } = await execute(process.execPath, [here("./servers/imports.js"), ...modules], {
    env: ENV,
  });
  return Number(stdout) / 1000;
}

/** CPU microseconds of a stdio server from its start until it has answered `initialize`. */
async function measureFirstAnswer(file) {
  const { nodeArgs, channels } = spawnSetup();
  const stdio = ["pipe", "pipe", "inherit", ...channels];
  const child = spawn(process.execPath, [...nodeArgs, here(file)], { stdio, env: ENV });
  const ended = once(child, "exit");
  try {
    child.stdin.write(`${initialize(0)}\n`);
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const used = await cpuMicros(child);
    if (JSON.parse(line).result?.serverInfo === undefined) throw new Error(`${file} answers ${line}`);
    return used;
  } finally {
    child.kill();
    await ended;
  }
}

async function importTable(sides) {
  const contenders = sides.map(({ name, modules }) => ({ name, measure: () => measureImport(modules) }));
  const samples = await runRounds(contenders, ROUNDS);
  const rows = sides.map(({ name }) => {
    const more = pairedDifference(samples, name, NOTHING.name);
    const target = name === HALYARD_MODULES.name ? verdict(more.median, { atMost: 20 }) : "-";
    const [cost, middle] = [summary(samples.get(name)).median, [more.p25, more.p75]];
    return [name, cost, more.median, ...middle].map(inMilliseconds).concat(target);
  });
  const columns = ["imported", "CPU ms", "more than empty (median)", "p25", "p75", "target"];
  return plainTable(`import, ${ROUNDS} processes each`, columns, rows);
}

function inMilliseconds(value) {
  return typeof value === "number" ? value.toFixed(1) : value;
}

async function firstAnswerTable(sides) {
  const contenders = sides.map(({ name, file }) => ({ name, measure: () => measureFirstAnswer(file) }));
  const samples = await runRounds(contenders, ROUNDS);
  const title = `stdio, cold: from the start of the process to the answer to initialize, ${ROUNDS} processes each`;
  const halyard = { name: HALYARD.name, against: BASELINE.name, atMost: 1.4 };
  const official = { name: OFFICIAL.name, against: BASELINE.name };
  const lines = sides.includes(HALYARD) ? [{ name: BASELINE.name }, halyard, official] : [official];
  return table(title, samples, lines, "start");
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const halyard = await importHalyard("halyard/stdio");
  const modules = halyard ? [NOTHING, HALYARD_MODULES, OFFICIAL_MODULES] : [NOTHING, OFFICIAL_MODULES];
  const servers = halyard ? [BASELINE, HALYARD, OFFICIAL] : [BASELINE, OFFICIAL];
  return [await importTable(modules), await firstAnswerTable(servers)].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
