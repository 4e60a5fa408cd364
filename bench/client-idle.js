// Scenario: what an idle client keeps: heap after garbage collection, timers and sockets, after one call over loopback each.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { BenchProcess } from "./bench-process.js";
import { plainTable } from "./report.js";

const execute = promisify(execFile);
const CLIENTS = 200;
const WARM_UP = 20;
const KB = 1024;
/** Longer than any client keeps a connection that nothing uses. */
const IDLE_MS = 6000;

const SIDES = [
  { name: "halyard", file: "halyard", connect: "connectHalyard", era: "modern" },
  { name: "halyard, legacy", file: "halyard", connect: "connectHalyard", era: "legacy" },
  { name: "official v2", file: "official-v2", connect: "connectOfficialV2", era: "modern" },
  { name: "official v2, legacy", file: "official-v2", connect: "connectOfficialV2", era: "legacy" },
  { name: "official v1, legacy", file: "official-v1", connect: "connectOfficialV1", era: "legacy" },
  { name: "@ai-sdk/mcp", file: "ai-sdk", connect: "connectAiSdk", era: "modern" },
];

async function usage() {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc();
    await sleep(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  const active = process.getActiveResourcesInfo();
  const count = (kind) => active.filter((name) => name === kind).length;
  return { heap: heapUsed + external, timers: count("Timeout"), sockets: count("TCPSocketWrap") };
}

/** In a process of its own: opens the clients, lets them idle, and prints what each of them keeps. */
async function measureHere({ file, connect, era, url }) {
  const { [connect]: open } = await import(`./clients/${file}.js`);
  const clients = [];
  const openMore = async (count) => {
    for (let n = 0; n < count; n++) {
      const client = await open({ url, era });
      await client.call("hello halyard");
      clients.push(client);
    }
  };
  await openMore(WARM_UP);
  await sleep(IDLE_MS);
  const before = await usage();
  await openMore(CLIENTS);
  await sleep(IDLE_MS);
  const after = await usage();
  const each = (name) => (after[name] - before[name]) / CLIENTS;
  console.log(JSON.stringify({ heap: each("heap"), timers: each("timers"), sockets: each("sockets") }));
  process.exit();
}

async function measure(side, url) {
  const script = fileURLToPath(import.meta.url);
  const args = ["--expose-gc", script, JSON.stringify({ ...side, url })];
  const { stdout } = await execute(process.execPath, args);
  return JSON.parse(stdout);
}

/** Runs the scenario; prints its table. */
export async function run() {
  const server = await BenchProcess.start("./servers/halyard-http.js", { tools: 0, mode: "modern" });
  const url = `http://127.0.0.1:${server.hello.port}/mcp`;
  const rows = [];
  try {
    for (const side of SIDES) {
      const { heap, timers, sockets } = await measure(side, url);
      rows.push([side.name, (heap / KB).toFixed(1), timers.toFixed(2), sockets.toFixed(2), "-"]);
    }
  } finally {
    await server.close();
  }
  const columns = ["contender", "heap KB each", "timers each", "sockets each", "target"];
  console.log(plainTable(`client, idle: ${CLIENTS} of them, one call each, after gc`, columns, rows));
}

if (process.argv[2]?.startsWith("{")) await measureHere(JSON.parse(process.argv[2]));
else if (import.meta.url === pathToFileURL(process.argv[1]).href) await run();
