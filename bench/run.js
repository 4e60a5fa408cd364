// Runs every scenario of a suite, `servers` or `client`, prints the tables and, with --write, keeps them.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const SERVER_NOTES = `The baseline is the code in
\`baselines/\`, which parses and answers the same messages and does nothing else. A target is judged by the median.
Over HTTP, "baseline, checked" is the same code with the checks that a correct server cannot skip. For changes and updates the
baseline is a plain \`res.write\` of the bytes that Halyard sends. Saturated by wrk, a server handles several requests in each turn
of its event loop: all of them cost less, and what Halyard adds weighs more. Memory is read after garbage collection.`;

const CLIENT_NOTES = `The baseline is the code in
\`clients/baseline.js\`: \`fetch\`, JSON.stringify and JSON.parse, and a map of ids on stdio. A target is judged by the median.
In process, \`fetch\` answers at once from ready-made texts. Over loopback the server is another process. _Legacy_ is 2025-11-25,
_modern_ 2026-07-28: whatever does not say legacy. Over loopback Halyard sends with \`node:http\`, unless it says "with fetch".`;

/** What is measured together, and where the results are kept. */
const SUITES = {
  servers: {
    command: "npm run bench",
    results: "results.md",
    notes: SERVER_NOTES,
    scenarios: [
      "start-up.js",
      "dispatch.js",
      "stdio.js",
      "http-calls.js",
      "http-saturated.js",
      "http-fanout.js",
      "http-idle.js",
      "http-slow.js",
    ],
  },
  client: {
    command: "npm run bench:client",
    results: "client-results.md",
    notes: CLIENT_NOTES,
    scenarios: [
      "client-import.js",
      "client-calls.js",
      "client-loopback.js",
      "client-stdio.js",
      "client-idle.js",
    ],
  },
};
const suite = SUITES[process.argv[2]] ?? SUITES.servers;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

// Each scenario has a process of its own, so that none inherits the heap or the compiled code of another.
function runScenario(file) {
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const args = process.argv.slice(2).filter((argument) => argument === "--quick");
  const { status, stdout } = spawnSync(process.execPath, ["--expose-gc", here(file), ...args], options);
  if (status !== 0) throw new Error(`${file} failed with ${status}`);
  return stdout.trim();
}

function page(tables) {
  const date = new Date().toISOString().slice(0, 10);
  const { command, notes } = suite;
  return `# Results

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`${command} -- --write\`.

How to read them: figures are CPU time, not elapsed time, and absolute figures hold for one machine only; read the ratios.
A ratio is taken between two contenders of the same round, and the median of all rounds is given, with the quartiles and
the extremes beside it. Where min - max is wide the machine was busy: run it again. ${notes}

${tables}
`;
}

const tables = suite.scenarios
  .map(runScenario)
  .filter((text) => text !== "")
  .join("\n\n");
console.log(tables);
if (process.argv.includes("--write")) writeFileSync(here(suite.results), page(tables));
