// Scenario: the most memory that costly messages take, as a function of the bytes that are sent, of a server and of a client.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { plainTable, verdict } from "./report.js";

const FIXTURE = fileURLToPath(new URL("../test/faults/fixtures/memory/message-memory.mjs", import.meta.url));
const SIZES_MB = [16, 64];
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

/** The rows that grew the most, with a figure for each size. */
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
  const most = ({ figures }) => Math.max(...figures.map(({ growthMb }) => growthMb));
  const shown = rows.toSorted((one, other) => most(other) - most(one)).slice(0, SHOWN);
  return plainTable(`${TITLES[side]} ${names.length} kinds of messages`, columns(), shown.map(line));
}

const columns = () => [
  "messages",
  ...SIZES_MB.map((size) => `${size} MB sent`),
  "for each byte of the last",
  "target",
];

function line({ name, figures }) {
  const { sentMb, growthMb } = figures.at(-1);
  // A limit that ends the attack early bounds it as well.
  const offered = Math.max(sentMb, SIZES_MB.at(-1));
  const factor = growthMb / offered;
  const cells = figures.map((figure) => `${figure.growthMb} MB`);
  return [name, ...cells, factor.toFixed(1), verdict(factor, TARGET)];
}

function resultsPage(tables) {
  const date = new Date().toISOString().slice(0, 10);
  return `# Memory of messages

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`npm run bench:memory -- --write\`.

Each figure is the growth of a process (its resident memory, as the kernel counts its peak) while somebody sends it messages. Garbage that
the collector has not freed yet counts. Each figure is of a new process. Handlers return nothing, or never end. The attacker has 32 addresses, so that no share of one caller protects the server.

One value can take 30 times its text: V8 needs 56 bytes for \`[]\` in an array. So a few megabytes of such values take more than 20 times
as much, until a limit stops them: \`maxInFlightBytes\` (128 MiB) bounds what all calls of a server hold, \`maxElements\` one message, and
\`maxListBytes\` the definitions that a client remembers. The last columns are for 64 MB, sent or offered.

${tables}
`;
}

const tables = await Promise.all([measure("server"), measure("client")]);
console.log(tables.join("\n"));
if (process.argv.includes("--write"))
  writeFileSync(new URL("memory-results.md", import.meta.url), resultsPage(tables.join("\n").trim()));
