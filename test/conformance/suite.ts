// Runs one leg of the official conformance suite against a server, and reads what it found.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const shim = "./test/conformance/node20-shim.mjs";
const require = createRequire(import.meta.url);
const bundle = require.resolve("@modelcontextprotocol/conformance/dist/index.js");

/** One thing that the suite has looked at. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** What was found, by scenario. */
export type Findings = ReadonlyMap<string, readonly Check[]>;

/** Runs the scenarios that `selection` chooses against the server at `url`. */
export async function runSuite(url: string, selection: readonly string[]): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    await run(["server", "--url", url, ...selection, "-o", folder]);
    return await readFindings(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The exit code does not count: it says no more than what is found in the files, and less than all of it. */
function run(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: root, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, ["--import", shim, bundle, ...args], options, (error, stdout, stderr) => {
      if (error === null || error.code === 1) return resolve();
      reject(
        new Error(`The suite broke off: ${error.message}\n${stdout.slice(-2000)}${stderr.slice(-2000)}`),
      );
    });
  });
}

async function readFindings(folder: string): Promise<Findings> {
  const findings = new Map<string, readonly Check[]>();
  for (const name of (await readdir(folder)).toSorted()) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z?$/.exec(name)?.[1];
    if (scenario === undefined) throw new Error(`The suite has written something unknown: ${name}`);
    findings.set(scenario, await readChecks(join(folder, name, "checks.json")));
  }
  return findings;
}

/** A scenario that broke off has left no file, and so has checked nothing. */
async function readChecks(file: string): Promise<Check[]> {
  return existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as Check[]) : [];
}
