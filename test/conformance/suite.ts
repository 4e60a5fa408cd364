// Runs the official conformance suite, one leg against a server or one scenario against a client, and reads what it found.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
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
  return inFolder(async (folder) => {
    await run(["server", "--url", url, ...selection, "-o", folder]);
    return readFindings(folder, /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z?$/);
  });
}

/** Has `command` play one scenario of a client, at a revision that the suite may not have it for. The exit code is that of the suite, which counts the client's own and warnings. */
export async function runScenario(
  command: string,
  scenario: string,
  revision: string,
): Promise<{ readonly exitCode: number; readonly checks: readonly Check[] }> {
  return inFolder(async (folder) => {
    const selection = ["--scenario", scenario, "--spec-version", revision, "--force", "--timeout", "60000"];
    const exitCode = await run(["client", "--command", command, ...selection, "-o", folder]);
    const written = join(folder, dirname(scenario));
    const findings = await readFindings(written, /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z?$/);
    return { exitCode, checks: findings.get(basename(scenario)) ?? [] };
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Resolves with the exit code. For a server it says no more than what is found in the files, and less than all of it. */
function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { cwd: root, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, ["--import", shim, bundle, ...args], options, (error, stdout, stderr) => {
      if (error === null || error.code === 1) return resolve(error === null ? 0 : 1);
      reject(
        new Error(`The suite broke off: ${error.message}\n${stdout.slice(-2000)}${stderr.slice(-2000)}`),
      );
    });
  });
}

async function readFindings(folder: string, written: RegExp): Promise<Findings> {
  const findings = new Map<string, readonly Check[]>();
  for (const name of (await readdir(folder)).toSorted()) {
    const scenario = written.exec(name)?.[1];
    if (scenario === undefined) throw new Error(`The suite has written something unknown: ${name}`);
    findings.set(scenario, await readChecks(join(folder, name, "checks.json")));
  }
  return findings;
}

/** A scenario that broke off has left no file, and so has checked nothing. */
async function readChecks(file: string): Promise<Check[]> {
  return existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as Check[]) : [];
}
