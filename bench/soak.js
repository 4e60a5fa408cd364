// The soak: a server under mixed load for minutes; right answers, flat memory, and nothing left open at the end.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { BenchProcess } from "./bench-process.js";
import { plainTable } from "./report.js";
import { MIX } from "./soak-mix.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "2000" },
    every: { type: "string", default: "60" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const everyMs = Number(values.every) * 1000;
const MB = 1024 * 1024;
const LONGEST_DRAIN_MS = 60_000;
const HEAP_SLOPE = { most: 0.5, warmUp: 0.2 }; // MB a minute, after the first fifth of the time

/** Least squares: how much `ys` grows with each of `xs`. */
function slope(xs, ys) {
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const over = xs.reduce((sum, x, at) => sum + (x - meanX) * (ys[at] - meanY), 0);
  return over / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

async function sample(server, load, began, earlier) {
  const [{ requests, left }, cpu, memory, { stats }] = [
    await load.ask("read"),
    await server.cpu(),
    await server.ask("memory"),
    await server.ask("open"),
  ];
  const seconds = (performance.now() - began) / 1000;
  const perSecond = (requests - earlier.requests) / (seconds - earlier.seconds);
  const busy = (cpu - earlier.cpu) / 1e6 / (seconds - earlier.seconds);
  return { seconds, requests, left, cpu, perSecond, busy, ...memory, stats };
}

/** Waits until the server holds nothing any more; returns what it holds then. */
async function drained(server) {
  const deadline = performance.now() + LONGEST_DRAIN_MS;
  for (;;) {
    const open = await server.ask("open");
    const { sessions, streams, subscriptions, inFlight, replayStreams, timers } = open.stats;
    const isEmpty = sessions + streams + subscriptions + inFlight + replayStreams + timers === 0;
    const sockets = open.handles.TCPSocketWrap ?? 0;
    if ((isEmpty && sockets === 0) || performance.now() > deadline) return open;
    await sleep(500);
  }
}

function samplesTable(samples) {
  const rows = samples.map(({ seconds, perSecond, busy, heap, rss, stats }) => [
    (seconds / 60).toFixed(2),
    perSecond.toFixed(0),
    `${(busy * 100).toFixed(0)} %`,
    (heap / MB).toFixed(1),
    (rss / MB).toFixed(0),
    stats.sessions,
    stats.streams,
    stats.subscriptions,
    `${stats.callers}`,
  ]);
  const columns = [
    "minute",
    "requests/s",
    "CPU of a core",
    "heap MB",
    "RSS MB",
    "sessions",
    "streams",
    "listens",
    "callers",
  ];
  return plainTable(`Soak, ${minutes} minutes at ${rate} requests a second`, columns, rows);
}

function mixTable({ rows }) {
  const lines = rows.map(({ visits, failures }, row) => [
    MIX[row].name,
    MIX[row].isWellFormed ? "yes" : "no",
    visits,
    failures,
  ]);
  return plainTable("Soak, by kind of visitor", ["visitor", "well-formed", "visits", "wrong answers"], lines);
}

/** What the run must show, each with what was found. */
function verdicts({ samples, tally, before, after, problems }) {
  const settled = samples.filter(({ seconds }) => seconds > minutes * 60 * HEAP_SLOPE.warmUp);
  const at = settled.map(({ seconds }) => seconds / 60);
  const heapSlope = slope(
    at,
    settled.map(({ heap }) => heap / MB),
  );
  const rssSlope = slope(
    at,
    settled.map(({ rss }) => rss / MB),
  );
  const failures = (isWellFormed) =>
    tally.rows.reduce(
      (sum, row, at_) => sum + (MIX[at_].isWellFormed === isWellFormed ? row.failures : 0),
      0,
    );
  const { callers: _, ...held } = after.stats;
  return [
    ["wrong answers to well-formed requests", failures(true), failures(true) === 0],
    ["wrong answers to the others", failures(false), failures(false) === 0],
    ["unhandled errors of the server", problems.length, problems.length === 0],
    ["visits left out, for the machine was too slow (not judged)", tally.left, true],
    ["heap, MB a minute", heapSlope.toFixed(3), heapSlope <= HEAP_SLOPE.most],
    ["RSS, MB a minute (not judged)", rssSlope.toFixed(3), true],
    [
      "heap MB at the end, and at the start (not judged)",
      `${(after.heap / MB).toFixed(1)} ${(before.heap / MB).toFixed(1)}`,
      true,
    ],
    [
      "left open by the endpoint's account",
      JSON.stringify(held),
      Object.values(held).every((count) => count === 0),
    ],
    [
      "handles at the end, and at the start",
      `${JSON.stringify(after.handles)} ${JSON.stringify(before.handles)}`,
      JSON.stringify(after.handles) === JSON.stringify(before.handles),
    ],
  ];
}

function verdictTable(found) {
  const rows = found.map(([what, figure, isMet]) => [what, figure, isMet ? "met" : "MISSED"]);
  return plainTable("Soak, what it must show", ["figure", "found", "verdict"], rows);
}

async function run() {
  const server = await BenchProcess.start("./servers/soak.js");
  const load = await BenchProcess.start("./soak-load.js", { only: values.only });
  try {
    const before = { ...(await server.ask("open")), ...(await server.ask("memory")) };
    const began = performance.now();
    const samples = [{ seconds: 0, requests: 0, cpu: await server.cpu() }];
    await load.ask("start", { port: server.hello.port, rate });
    for (let next = everyMs; next <= minutes * 60_000; next += everyMs) {
      await sleep(began + next - performance.now());
      samples.push(await sample(server, load, began, samples.at(-1)));
      console.error(`${(next / 60_000).toFixed(2)} min: ${samples.at(-1).perSecond.toFixed(0)} requests/s`);
    }
    await load.ask("stop");
    const after = { ...(await drained(server)), ...(await server.ask("memory")) };
    const tally = await load.ask("read");
    for (const [row, { firstFailure }] of tally.rows.entries())
      if (firstFailure !== undefined) console.error(`${MIX[row].name}: ${firstFailure}`);
    const problems = await server.ask("problems");
    for (const problem of problems) console.error(problem);
    return { samples: samples.slice(1), tally, before, after, problems };
  } finally {
    await Promise.all([server.close(), load.close()]);
  }
}

const outcome = await run();
const found = verdicts(outcome);
const tables = [samplesTable(outcome.samples), mixTable(outcome.tally), verdictTable(found)].join("\n");
console.log(tables);
if (values.write) {
  const date = new Date().toISOString().slice(0, 10);
  const where = `Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores`;
  const page = `# The soak\n\n${where}. Made by \`npm run soak -- --write\`; memory is read after garbage collection.\n\n${tables}`;
  writeFileSync(new URL("soak-results.md", import.meta.url), page);
}
process.exitCode = found.every(([, , isMet]) => isMet) ? 0 : 1;
