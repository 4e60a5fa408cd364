// Scenario: nodes that share a backplane, against one process without: CPU of calls, latency across nodes, fan-out, sessions.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { BenchProcess } from "./bench-process.js";
import { ClusterClient, millisSince } from "./cluster-client.js";
import { countCommands, startEngine } from "./cluster-engines.js";
import { runRounds, summary } from "./harness.js";
import { plainTable, table, verdict } from "./report.js";

const NODE = "./servers/cluster-node.js";
const SINGLE = "single";
const ROUNDS = 10;
const CALLS = { connections: 64, warmUp: 6000, requests: 2500, settle: 250 };
const SAMPLES = { push: 500, answer: 200, cancel: 200, resume: 200, warmUp: 30 };
const STREAMS = 1000;
const SESSIONS = 1000;
const TARGETS = { modern: { atMost: 1.05 }, session: { atMost: 1.2 }, pushP50: 2, pushP99: 10 };

const startNode = (backplane, mode = "session") => BenchProcess.start(NODE, { mode, backplane });
const closeAll = (processes) => Promise.all(processes.map((one) => one.close()));

// The CPU of a call, on one node each.

async function openContender({ name, url }, era) {
  const [subject, load] = await Promise.all([startNode(url, era), BenchProcess.start("./http-load.js")]);
  const { connections, warmUp, requests, settle } = CALLS;
  await load.ask("open", { port: subject.hello.port, connections, era, kind: "call", tools: 0 });
  const run = async (count) => {
    const { errors, firstError } = await load.ask("run", { count });
    if (errors > 0) throw new Error(`${errors} wrong answers from ${name}, the first: ${firstError}`);
  };
  await run(warmUp);
  const measure = async () => {
    await run(settle);
    const before = await subject.cpu();
    await run(requests);
    return ((await subject.cpu()) - before) / requests;
  };
  return { name, measure, run, subject, load };
}

async function runCalls(era, engines) {
  const all = [{ name: SINGLE }, { name: "memory", url: "memory" }, ...engines];
  const contenders = [];
  try {
    for (const one of all) contenders.push(await openContender(one, era));
    const samples = await runRounds(contenders, ROUNDS);
    const redis = engines.find(({ name }) => name === "Redis");
    const load = contenders.find(({ name }) => name === "Redis");
    const count = await countCommands(redis, () => load?.run(500));
    const { atMost } = TARGETS[era];
    const lines = [{ name: SINGLE }, ...all.slice(1).map(({ name }) => ({ name, against: SINGLE, atMost }))];
    const what = era === "modern" ? "modern" : "legacy, 64 sessions";
    const title = `Cluster, tools/call echo, ${what}: 64 connections, ${ROUNDS} rounds, 0 errors`;
    return `${table(title, samples, lines)}\nCommands that Redis got per 500 calls: ${count ?? "not counted"}.\n`;
  } finally {
    await closeAll(contenders.flatMap(({ subject, load }) => [subject, load]));
  }
}

// How long things take across three nodes, one at a time.

/** Runs `once` so often, after some that do not count, and counts the commands of a few more. */
async function measureTimes(engine, count, once) {
  for (let n = 0; n < SAMPLES.warmUp; n++) await once();
  const times = [];
  for (let n = 0; n < count; n++) times.push(await once());
  const counted = 20;
  const commands = await countCommands(engine, async () => {
    for (let n = 0; n < counted; n++) await once();
  });
  const sorted = times.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)];
  return { p50: summary(times).median, p99, commands: commands === undefined ? "-" : commands / counted };
}

/** What is timed: each returns the milliseconds of one try. Ports and nodes are a, b and c. */
const TIMED = {
  async "push at one node to a stream at another"({ nodes: [a, b], client }) {
    const stream = await client.stream(b.hello.port);
    return async () => {
      await a.ask("push", { session: client.session });
      const { params, arrivedAt } = await stream.next();
      return millisSince(params.at, arrivedAt);
    };
  },
  async "push from a node without a copy of the session"({ nodes: [, b, c], client }) {
    const stream = await client.stream(b.hello.port);
    return async () => {
      await c.ask("push", { session: client.session });
      const { params, arrivedAt } = await stream.next();
      return millisSince(params.at, arrivedAt);
    };
  },
  async "answer at one node to a question of another"({ nodes: [a, b], client }) {
    return async () => {
      const stream = await client.stream(a.hello.port, { message: call("ask") });
      const question = await stream.next();
      const since = process.hrtime.bigint();
      const result = { action: "accept", content: { name: "bench" } };
      const [{ status }, answered] = await Promise.all([
        client.post(b.hello.port, { jsonrpc: "2.0", id: question.id, result }),
        stream.next(),
      ]);
      if (status !== 202 || answered.result === undefined) throw new Error(JSON.stringify(answered));
      stream.close();
      return millisSince(since, answered.arrivedAt);
    };
  },
  async "cancel at one node of a call at another"({ nodes: [a, b], client }) {
    return async () => {
      const message = call("wait");
      const begun = a.ask("waits");
      const reply = client.stream(a.hello.port, { message }).catch(() => undefined);
      await begun;
      const since = process.hrtime.bigint();
      const params = { requestId: message.id };
      await client.post(b.hello.port, { jsonrpc: "2.0", method: "notifications/cancelled", params });
      const at = await a.ask("cancelledAt");
      void reply.then((stream) => stream?.close());
      return millisSince(since, at);
    };
  },
  async "resume at another node, to the message that was missed"({ nodes: [a, b, c], client }) {
    return async () => {
      const first = await client.stream(b.hello.port);
      await a.ask("push", { session: client.session });
      await first.next();
      first.close();
      await a.ask("push", { session: client.session });
      const since = process.hrtime.bigint();
      const second = await client.stream(c.hello.port, { lastEventId: first.lastEventId });
      const { arrivedAt } = await second.next();
      second.close();
      return millisSince(since, arrivedAt);
    };
  },
};

let nextId = 1000;
const call = (name) => ({
  jsonrpc: "2.0",
  id: nextId++,
  method: "tools/call",
  params: { name, arguments: {} },
});

const countOf = (title) => SAMPLES[title.split(" ")[0]];

async function runTimes(engines) {
  const rows = [];
  for (const engine of engines) {
    const nodes = await Promise.all([1, 2, 3].map(() => startNode(engine.url)));
    try {
      for (const [title, prepare] of Object.entries(TIMED)) {
        const client = await ClusterClient.open(nodes[0].hello.port);
        const once = await prepare({ nodes, client });
        const { p50, p99, commands } = await measureTimes(engine, countOf(title), once);
        rows.push([
          `${engine.name}: ${title}`,
          p50.toFixed(2),
          p99.toFixed(2),
          commands,
          timeVerdict(title, p50, p99),
        ]);
        client.close();
      }
    } finally {
      await closeAll(nodes);
    }
  }
  const columns = ["what, on 3 nodes", "p50 ms", "p99 ms", "commands each", "target"];
  return plainTable("Cluster, times on loopback, one at a time", columns, rows);
}

function timeVerdict(title, p50, p99) {
  if (!title.startsWith("push")) return "-";
  const { pushP50, pushP99 } = TARGETS;
  return `p50 ${verdict(p50, { atMost: pushP50 })}, p99 ${verdict(p99, { atMost: pushP99 })}`;
}

// One update to many streams.

async function openFanout({ name, url }, kind, count) {
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(url)));
  const streams = (3 * STREAMS) / count;
  const listeners = await Promise.all(
    nodes.map(async ({ hello: { port } }) => {
      const process = await BenchProcess.start("./http-listeners.js");
      await process.ask("open", { port, kind, count: streams, stamped: true });
      return process;
    }),
  );
  const deliver = async () => {
    await Promise.all(listeners.map((one) => one.ask("reset")));
    const since = process.hrtime.bigint();
    await nodes[0].ask("announce");
    await Promise.all(listeners.map((one) => one.ask("wait", { deliveries: streams })));
    return millisSince(since);
  };
  const cpu = async () => (await Promise.all(nodes.map((node) => node.cpu()))).reduce((a, b) => a + b);
  const times = [];
  const measure = async () => {
    const before = await cpu();
    times.push(await deliver());
    return ((await cpu()) - before) / (3 * STREAMS);
  };
  for (let n = 0; n < 3; n++) await deliver();
  return { name, measure, deliver, times, processes: [...nodes, ...listeners] };
}

async function runFanout(kind, engines) {
  const opened = [await openFanout({ name: SINGLE }, kind, 1)];
  try {
    for (const engine of engines) opened.push(await openFanout(engine, kind, 3));
    const samples = await runRounds(opened, ROUNDS);
    const redis = engines.find(({ name }) => name === "Redis");
    const commands = await countCommands(redis, () => opened.find(({ name }) => name === "Redis")?.deliver());
    const lines = [{ name: SINGLE }, ...engines.map(({ name }) => ({ name, against: SINGLE }))];
    const what = kind === "get" ? "GET streams in as many sessions" : "listen streams";
    const title = `Cluster, one update to 1,000 ${what} on each of 3 nodes (single: 3,000 on one), ${ROUNDS} rounds`;
    const until = opened
      .map(({ name, times }) => `${name} ${summary(times).median.toFixed(0)} ms`)
      .join(", ");
    return `${table(title, samples, lines, "delivery")}\nUntil the last delivery: ${until}. Commands that Redis got per update: ${commands ?? "not counted"}.\n`;
  } finally {
    await closeAll(opened.flatMap(({ processes }) => processes));
  }
}

// New sessions.

async function runSessions(engines) {
  const rows = [];
  for (const { name, url } of [{ name: SINGLE }, ...engines]) {
    const [node, load] = await Promise.all([startNode(url), BenchProcess.start("./http-load.js")]);
    const { port } = node.hello;
    await load.ask("sessions", { port, count: SESSIONS / 2 });
    const before = await node.cpu();
    const since = process.hrtime.bigint();
    await load.ask("sessions", { port, count: SESSIONS });
    const millis = millisSince(since);
    const micros = ((await node.cpu()) - before) / SESSIONS;
    const engine = engines.find((one) => one.name === name);
    const commands = await countCommands(engine, () => load.ask("sessions", { port, count: 20 }));
    const each = commands === undefined ? "-" : (commands / 20).toFixed(1);
    rows.push([name, ((SESSIONS / millis) * 1000).toFixed(0), micros.toFixed(0), each, "-"]);
    await closeAll([node, load]);
  }
  const columns = ["node", "sessions/s", "CPU us each", "commands each", "target"];
  return plainTable(
    `Cluster, sessions created with their handshake, ${SESSIONS} of them, 16 at a time`,
    columns,
    rows,
  );
}

function page(tables) {
  const date = new Date().toISOString().slice(0, 10);
  return `# The cluster

Measured ${date}, Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} cores. Made by \`npm run bench:cluster -- --write\`.

CPU time is that of the nodes, not of the engine; read the ratios, as in [the other results](results.md). Times are elapsed time on
loopback, with nodes, engine and clients on the same machine, so a busy machine shows in the p99. On ${cpus().length} cores the
throughput of three nodes says nothing about three machines, so it is not measured. Commands are those that redis-server got from
nodes; a script counts once.

${tables}
`;
}

const engines = (await Promise.all(["Redis", "NATS"].map(startEngine))).filter((one) => one !== undefined);
try {
  const scenes = {
    modern: () => runCalls("modern", engines),
    session: () => runCalls("session", engines),
    times: () => runTimes(engines),
    listen: () => runFanout("listen", engines),
    get: () => runFanout("get", engines),
    sessions: () => runSessions(engines),
  };
  const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
  const chosen = Object.keys(scenes).filter((name) => only === undefined || only.split(",").includes(name));
  const tables = [];
  for (const name of chosen) {
    tables.push(await scenes[name]());
    console.log(tables.at(-1));
  }
  if (process.argv.includes("--write")) {
    writeFileSync(new URL("cluster-results.md", import.meta.url), page(tables.join("\n").trim()));
  }
} finally {
  await Promise.all(engines.map(({ stop }) => stop()));
}
