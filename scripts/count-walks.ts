// Counts how many files and functions of `src/` one request crosses, from the coverage that V8 takes. Prints them; with
// --check it compares the totals with the table in docs/internals/package.md, where 2 % may differ, with --write it renews that table.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { filesBelow } from "./files.ts";
import { endWith } from "./outcome.ts";
import { addTools, type Walk, walks } from "./walks.ts";

/** How often a walk is counted. Only functions that every run crosses belong to it, so a timer that happens to fire does not. */
const RUNS = 3;
const WARM_UP = 3;
/** A walk includes the work just after the response, such as cleaning up its socket. */
const SETTLE_MS = 30;
const PAGE = "docs/internals/package.md";
/** How much a total may differ from the table: a function that runs on some machines only must not fail the check. */
const TOLERANCE = 0.02;

type Functions = ReadonlySet<string>;

const folder = mkdtempSync(join(tmpdir(), "halyard-walks-"));
try {
  await buildSingleFiles();
  const counted = await countAll();
  report(counted);
} finally {
  rmSync(folder, { recursive: true });
}

/** Writes `src/` file by file, since the built package does not tell its files apart. */
async function buildSingleFiles(): Promise<void> {
  const asBuilt: Plugin = {
    name: "as-built",
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\..*\.ts$/ }, ({ path }) => ({
        path: path.replace(/ts$/, "js"),
        external: true,
      })),
  };
  await build({
    entryPoints: filesBelow("src", ".ts").map((file) => resolve(file)),
    outdir: join(folder, "src"),
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "es2023",
    plugins: [asBuilt],
  });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
}

async function countAll(): Promise<Map<string, Functions>> {
  const { McpServer } = await importBuilt<typeof import("halyard")>("src/index.js");
  const { serveHttp } = await importBuilt<typeof import("halyard/node")>("src/transports/node/index.js");
  const server = new McpServer({ name: "walks", version: "1.0.0" });
  addTools(server);
  const { url, close } = await serveHttp(server, { port: 0 });
  const inspector = new Session();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const counted = new Map<string, Functions>();
  for (const walk of walks) counted.set(walk.name, await count(walk));
  inspector.disconnect();
  await close();
  return counted;

  async function count(walk: Walk): Promise<Functions> {
    for (let run = 0; run < WARM_UP; run++) await (await walk.prepare(server, url))();
    let crossed: Functions | undefined;
    for (let run = 0; run < RUNS; run++) {
      const go = await walk.prepare(server, url);
      await sleep(SETTLE_MS);
      await takeCoverage();
      await go();
      await sleep(SETTLE_MS);
      const now = await takeCoverage();
      crossed = new Set([...now].filter((one) => crossed?.has(one) ?? true));
    }
    return crossed ?? new Set();
  }

  /** The functions that ran since it was taken last. */
  async function takeCoverage(): Promise<Functions> {
    const { result } = await inspector.post("Profiler.takePreciseCoverage");
    return new Set(
      result.flatMap(({ url: file, functions }) => (isOurs(file) ? namesOf(file, functions) : [])),
    );
  }
}

async function importBuilt<Module>(file: string): Promise<Module> {
  return (await import(pathToFileURL(join(folder, file)).href)) as Module;
}

function isOurs(url: string): boolean {
  return url.startsWith(pathToFileURL(join(folder, "src")).href);
}

/** File, name and place of each function that ran. What makes the fields of an object counts as part of its constructor. */
function namesOf(url: string, functions: readonly Profiler.FunctionCoverage[]): string[] {
  const file = url.slice(pathToFileURL(folder).href.length + 1).replace(/\.js$/, ".ts");
  return functions
    .filter(({ functionName, ranges: [whole] }) => whole?.count !== 0 && !functionName.startsWith("<"))
    .map(
      ({ functionName, ranges: [whole] }) =>
        `${file}\t${functionName || "(nameless)"}\t${whole?.startOffset}`,
    );
}

function report(counted: ReadonlyMap<string, Functions>): void {
  const rows = [...counted].map(
    ([name, functions]) => `| ${name} | ${filesOf(functions).size} | ${functions.size} |`,
  );
  if (process.argv.includes("--check")) {
    const page = readFileSync(PAGE, "utf8");
    const wrong = [...counted].flatMap(([name, functions], at) =>
      isStated(page, name, [filesOf(functions).size, functions.size]) ? [] : (rows[at] ?? []),
    );
    endWith(
      wrong.map((row) => `${PAGE} says otherwise, run npm run walks -- --write: ${row}`),
      "The walks are as long as written",
    );
    return;
  }
  for (const [name, functions] of counted) print(name, filesOf(functions));
  console.log(rows.join("\n"));
  if (process.argv.includes("--write")) write(rows);
}

/** Whether the table has about these totals for the walk. */
function isStated(page: string, walk: string, totals: readonly number[]): boolean {
  const row = page.split("\n").find((line) => line.startsWith(`| ${walk} `)) ?? "";
  const stated = row.split("|").slice(2, -1).map(Number);
  return totals.every((total, at) => {
    const written = stated[at] ?? Number.NaN;
    return Math.abs(total - written) <= Math.ceil(written * TOLERANCE);
  });
}

/** The names of the functions in each file. */
function filesOf(functions: Functions): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const one of [...functions].toSorted()) {
    const [file = "", name = ""] = one.split("\t");
    files.set(file, [...(files.get(file) ?? []), name]);
  }
  return files;
}

function print(name: string, files: ReadonlyMap<string, string[]>): void {
  console.log(`${name}\n`);
  for (const [file, names] of files) console.log(`  ${file.padEnd(44)} ${names.join(", ")}`);
  console.log();
}

/** Puts the rows in the place of those in the table. */
function write(rows: readonly string[]): void {
  const page = readFileSync(PAGE, "utf8");
  const table = /(?<=\n\| walk .*\n\| ?-.*\n)(?:\|.*\n)*/;
  writeFileSync(PAGE, page.replace(table, `${rows.join("\n")}\n`));
}
