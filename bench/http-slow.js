// Scenario: 200,000 distinct messages to one stream that its client does not read; the growth of the server's memory.
import { pathToFileURL } from "node:url";
import { BenchProcess } from "./bench-process.js";
import * as servers from "./http-servers.js";
import { plainTable, verdict } from "./report.js";

const { BASELINE, HALYARD, OFFICIAL_V2, OFFICIAL_V1 } = servers;
const FIRST = 20_000; // enough to fill the kernel's buffers and every queue that has a limit
const MESSAGES = 200_000;
const MESSAGE_BYTES = 200;
const MB = 1024 * 1024;
const TARGET = { atMost: 16 }; // what is kept unboundedly takes 40 MB and more

const overhead = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data: "000000 " },
});
const text = "x".repeat(MESSAGE_BYTES - overhead.length);

async function measure(server) {
  const subject = await BenchProcess.start(server.file, { tools: 0, mode: "session" });
  const client = await BenchProcess.start("./http-listeners.js");
  try {
    await client.ask("open", { port: subject.hello.port, kind: "get", count: 1 });
    await client.ask("pause");
    const before = await subject.ask("memory");
    await subject.ask("flood", { from: 100_000, count: FIRST, text });
    const early = await subject.ask("memory");
    await subject.ask("flood", { from: 100_000 + FIRST, count: MESSAGES - FIRST, text });
    return { before, early, late: await subject.ask("memory") };
  } finally {
    await Promise.all([subject.close(), client.close()]);
  }
}

function row(server, { before, early, late }) {
  const growth = (late.rss - early.rss) / MB;
  const figures = [before.rss, early.rss, late.rss].map((bytes) => (bytes / MB).toFixed(0));
  const heap = ((late.heap - before.heap) / MB).toFixed(1);
  return [
    server.name,
    ...figures,
    growth.toFixed(1),
    heap,
    server === HALYARD ? verdict(growth, TARGET) : "-",
  ];
}

/** Runs the scenario and returns its table. */
export async function run() {
  const rows = [];
  for (const server of servers.measurable([BASELINE, HALYARD, OFFICIAL_V2, OFFICIAL_V1]))
    rows.push(row(server, await measure(server)));
  const title = `HTTP, ${MESSAGES.toLocaleString("en")} messages of ${MESSAGE_BYTES} bytes to one stream that nobody reads, after gc`;
  const columns = [
    "contender",
    "RSS MB at first",
    "after 20,000",
    "after 200,000",
    "RSS growth between",
    "heap growth in all",
    "target",
  ];
  return plainTable(title, columns, rows);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log(await run());
