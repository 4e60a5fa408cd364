// Scenario: what one idle session and one idle stream keep of the server's heap, after garbage collection.
import { pathToFileURL } from "node:url";
import { BenchProcess } from "./bench-process.js";
import { summary } from "./harness.js";
import * as servers from "./http-servers.js";
import { plainTable, verdict } from "./report.js";

const { BASELINE, HALYARD, OFFICIAL_V2, OFFICIAL_V1, MCP_LITE } = servers;
const ROUNDS = 3; // memory after a collection hardly varies
const WARM_UP = 200;
const SESSIONS = 4000;
const STREAMS = 2000;
const KB = 1024;
const ALL = [BASELINE, HALYARD, MCP_LITE, OFFICIAL_V2, OFFICIAL_V1];

const openSessions = (client, port, count) => client.ask("sessions", { port, count });
const openStreams = (kind) => (client, port, count) => client.ask("open", { port, kind, count });

const SCENES = [
  {
    title: "idle session",
    mode: "session",
    client: "./http-load.js",
    open: openSessions,
    count: SESSIONS,
    servers: ALL,
    target: { atMost: 4 },
  },
  {
    title: "idle listen stream",
    mode: "modern",
    client: "./http-listeners.js",
    open: openStreams("listen"),
    count: STREAMS,
    servers: [BASELINE, HALYARD, OFFICIAL_V2],
    targetAbove: { atMost: 3 },
  },
  {
    title: "idle GET stream, without its session",
    mode: "session",
    client: "./http-listeners.js",
    open: openStreams("get"),
    count: STREAMS,
    servers: ALL,
    without: "idle session",
    targetAbove: { atMost: 3 },
  },
];

/** Bytes that each of `count` more of them keeps, in a fresh process that has some already. */
async function measure(server, { mode, client: file, open, count }) {
  const subject = await BenchProcess.start(server.file, { tools: 0, mode });
  const client = await BenchProcess.start(file);
  const { port } = subject.hello;
  try {
    await open(client, port, WARM_UP);
    const before = await subject.ask("memory");
    await open(client, port, count);
    const after = await subject.ask("memory");
    return { heap: (after.heap - before.heap) / count / KB, rss: (after.rss - before.rss) / count / KB };
  } finally {
    await Promise.all([subject.close(), client.close()]);
  }
}

async function measureMedian(server, scene) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(server, scene));
  const median = (name) => summary(rounds.map((figures) => figures[name])).median;
  return { heap: median("heap"), rss: median("rss") };
}

function row(name, { heap, rss }, baseline, { target, targetAbove }) {
  const above = heap - baseline.heap;
  const judged =
    name === HALYARD.name ? (target ? verdict(heap, target) : `above ${verdict(above, targetAbove)}`) : "-";
  return [name, heap.toFixed(2), above.toFixed(2), rss.toFixed(2), judged];
}

async function runScene(scene, earlier) {
  const figures = new Map();
  for (const server of servers.measurable(scene.servers)) {
    const found = await measureMedian(server, scene);
    const less = earlier.get(scene.without)?.get(server.name) ?? { heap: 0, rss: 0 };
    figures.set(server.name, { heap: found.heap - less.heap, rss: found.rss - less.rss });
  }
  earlier.set(scene.title, figures);
  const columns = ["contender", "heap KB each", "above the baseline", "RSS KB each", "target"];
  const rows = [...figures].map(([name, one]) => row(name, one, figures.get(BASELINE.name), scene));
  return plainTable(
    `HTTP, ${scene.title}: ${scene.count} of them, after gc, median of ${ROUNDS}`,
    columns,
    rows,
  );
}

/** Runs the scenario and returns its tables. */
export async function run() {
  const tables = [];
  const earlier = new Map();
  for (const scene of SCENES) tables.push(await runScene(scene, earlier));
  return tables.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
