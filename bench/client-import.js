// Scenario: the CPU time of importing a client in a fresh process.
import { execFile } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { pairedDifference, runRounds, summary } from "./harness.js";
import { plainTable } from "./report.js";

const ROUNDS = 20;
const execute = promisify(execFile);
const imports = fileURLToPath(new URL("./servers/imports.js", import.meta.url));

const NOTHING = { name: "an empty module", modules: [] };
const SIDES = [
  NOTHING,
  { name: "halyard/client", modules: ["halyard/client"] },
  {
    name: "official v2, its stdio",
    modules: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
  },
  {
    name: "official v1, its transports",
    modules: ["index", "stdio", "streamableHttp"].map(
      (name) => `@modelcontextprotocol/sdk/client/${name}.js`,
    ),
  },
  { name: "@ai-sdk/mcp", modules: ["@ai-sdk/mcp"] },
];

/** CPU milliseconds of a process that imports these modules and ends. */
async function measure(modules) {
  const { stdout } = await execute(process.execPath, [imports, ...modules], {
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  return Number(stdout) / 1000;
}

/** Runs the scenario; prints its table. */
export async function run() {
  const contenders = SIDES.map(({ name, modules }) => ({ name, measure: () => measure(modules) }));
  const samples = await runRounds(contenders, ROUNDS);
  const rows = SIDES.map(({ name }) => {
    const more = pairedDifference(samples, name, NOTHING.name);
    const figures = [summary(samples.get(name)).median, more.median, more.p25, more.p75];
    return [name].concat(
      figures.map((figure) => figure.toFixed(1)),
      "-",
    );
  });
  const columns = ["imported", "CPU ms", "more than empty (median)", "p25", "p75", "target"];
  console.log(plainTable(`client, import: ${ROUNDS} processes each`, columns, rows));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await run();
