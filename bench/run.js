// Runs every scenario, prints the tables and, with --write, keeps them in results.md.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const SCENARIOS = [
  "start-up.js",
  "dispatch.js",
  "stdio.js",
  "http-calls.js",
  "http-saturated.js",
  "http-fanout.js",
  "http-idle.js",
  "http-slow.js",
];
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

// Each scenario has a process of its own, so that none inherits the heap or the compiled code of another.
function runScenario(file) {
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const { status, stdout } = spawnSync(process.execPath, ["--expose-gc", here(file)], options);
  if (status !== 0) throw new Error(`${file} failed with ${status}`);
  return stdout.trim();
}

function page(tables) {
  const date = new Date().toISOString().slice(0, 10);
  return `# Results

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`npm run bench -- --write\`.

How to read them: figures are CPU time, not elapsed time, and absolute figures hold for one machine only; read the ratios.
A ratio is taken between two contenders of the same round, and the median of all rounds is given, with the quartiles and
the extremes beside it. Where min - max is wide the machine was busy: run it again. The baseline is the code in
\`baselines/\`, which parses and answers the same messages and does nothing else. A target is judged by the median.
Over HTTP, "baseline, checked" is the same code with the checks that a correct server cannot skip. For changes and updates the
baseline is a plain \`res.write\` of the bytes that Halyard sends. Saturated by wrk, a server handles several requests in each turn
of its event loop: all of them cost less, and what Halyard adds weighs more. Memory is read after garbage collection.

${tables}
`;
}

const tables = SCENARIOS.map(runScenario)
  .filter((text) => text !== "")
  .join("\n\n");
console.log(tables);
if (process.argv.includes("--write")) writeFileSync(here("results.md"), page(tables));
