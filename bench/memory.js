// Scenario: the most memory that costly messages take, as a function of the bytes that are sent, of a server and of a client.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { plainTable, verdict } from "./report.js";

const FIXTURE = fileURLToPath(new URL("../test/faults/fixtures/memory/message-memory.mjs", import.meta.url));
const SIZES_MB = [4, 16, 64];
const SHOWN = 10;
const TARGET = { atMost: 20 };
const ask = promisify(execFile);

const TITLES = {
  server: "What a client sends to a server: the most expensive of",
  client: "What a server sends to a client: the most expensive of",
};

async function fixture(...args) {
  const { stdout } = await ask(process.execPath, [FIXTURE, ...args], { timeout: 300_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** The rows that grew the most for a byte, with a figure for each size. */
async function measure(side) {
  const only = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
  const names = (await fixture(side)).filter((name) => only === undefined || name.includes(only));
  const rows = [];
  for (const name of names) {
    const figures = [];
    for (const size of SIZES_MB) figures.push(await fixture(side, name, String(size)));
    console.error(`${side} · ${name}: ${figures.map(({ growthMb }) => growthMb).join(", ")} MB`);
    rows.push({ name, figures });
  }
  const most = ({ figures }) =>
    Math.max(...figures.map(({ sentMb, growthMb }, at) => growthMb / Math.max(sentMb, SIZES_MB[at])));
  const shown = rows.toSorted((one, other) => most(other) - most(one)).slice(0, SHOWN);
  return plainTable(`${TITLES[side]} ${names.length} kinds of messages`, columns(), shown.map(line));
}

const columns = () => ["messages", ...SIZES_MB.map((size) => `${size} MB offered`), "target, for the worst"];

/** The growth for each size, and in parentheses for each byte that was sent, or that a limit refused to take. */
function line({ name, figures }) {
  const factors = figures.map(({ sentMb, growthMb }, at) => growthMb / Math.max(sentMb, SIZES_MB[at]));
  const cells = figures.map(({ growthMb }, at) => `${growthMb} MB (${factors[at].toFixed(1)})`);
  return [name, ...cells, verdict(Math.max(...factors), TARGET)];
}

function resultsPage(tables) {
  const date = new Date().toISOString().slice(0, 10);
  return `# Memory of messages

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`npm run bench:memory -- --write\`.

Each figure is the growth of a process (its resident memory, as the kernel counts its peak) while somebody sends it messages. Garbage that
the collector has not freed yet counts. Each figure is of a new process. Handlers return nothing, or never end. The attacker has 32 addresses, so that no share of one caller protects the server.

The target is missed for a few megabytes of dense values: V8 needs 56 bytes for \`[]\` in an array, so that a value can take 30 times its
text. Limits stop that at a fixed size: \`maxInFlightBytes\` (128 MiB) bounds what all calls of a server hold, \`maxElements\` one message,
and \`maxListBytes\` the definitions that a client remembers.

${tables}
`;
}

const tables = await Promise.all([measure("server"), measure("client")]);
console.log(tables.join("\n"));
if (process.argv.includes("--write"))
  writeFileSync(new URL("memory-results.md", import.meta.url), resultsPage(tables.join("\n").trim()));
