// Reads the CPU time of a child process: from /proc where there is one, else the child reports it over IPC.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";

const CLOCK_TICK_US = 10_000;
const reporter = new URL("./servers/report-cpu.js", import.meta.url).href;
const readCpu = chooseReader();

function chooseReader() {
  if (existsSync(`/proc/self/task/${process.pid}/schedstat`)) return fromSchedstat;
  if (existsSync("/proc/self/stat")) return fromStat;
  return fromReport;
}

/** What `spawn` needs so that `cpuMicros` can read the child. */
export function spawnSetup() {
  if (readCpu !== fromReport) return { nodeArgs: [], channels: [] };
  return { nodeArgs: ["--import", reporter], channels: ["ipc"] };
}

/** CPU microseconds the child has used since it started, all its threads together. */
export async function cpuMicros(child) {
  return readCpu(child);
}

// /proc/<pid>/stat counts in ticks of 10 ms; schedstat of each thread counts the same time in nanoseconds.
function fromSchedstat({ pid }) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanos = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  return nanos.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1000;
}

function fromStat({ pid }) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US;
}

async function fromReport(child) {
  child.send("cpu");
  const [micros] = await once(child, "message");
  return micros;
}
