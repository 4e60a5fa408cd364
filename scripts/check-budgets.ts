// What Halyard costs those who use it: packages and bytes installed, bytes bundled, work for their compiler.
// Needs the built package (`npm run build`).
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { endWith } from "./outcome.ts";

const problems: string[] = [];

measureInstallation();
// The aims are 120,000 and 160,000: what is over them are the limits by caller, the checks of options and of results, and
// methods of one's own. Asking and tasks are 33,000 of each, and a server that uses neither cannot leave them out yet. Neither
// may grow further. `bearerAuth` is counted apart.
await measureBundle("stdio", 153_000);
await measureBundle("http", 201_000);
await findNodeImports("halyard");
await findNodeImports("halyard/auth");
measureTypes();
endWith(problems, "Within every budget");

/** Prints a figure beside its budget; past the budget it is a problem, with what can be done. */
function hold(name: string, figure: number, budget: number, remedy: string): void {
  console.log(`${name.padEnd(52)} ${count(figure).padStart(10)} of ${count(budget).padStart(10)}`);
  if (figure > budget)
    problems.push(`${name}: ${count(figure)} is over the ${count(budget)} allowed: ${remedy}`);
}

function report(name: string, figure: number): void {
  console.log(`${name.padEnd(52)} ${count(figure).padStart(10)}`);
}

function count(figure: number): string {
  return figure.toLocaleString("en");
}

/** The package as it would be published, and everything that would be installed with it. */
function measureInstallation(): void {
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"], {
      encoding: "utf8",
    }),
  ) as [{ unpackedSize: number; files: { path: string }[] }];
  if (!packed.files.some(({ path }) => path === "dist/index.js")) {
    throw new Error("The package has no dist/index.js: run npm run build first");
  }
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const others = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== "" && !dev)
    .map(([path]) => path);
  const bytes = others.reduce((sum, path) => sum + sizeOf(path), packed.unpackedSize);
  hold("installed packages", others.length + 1, 6, "drop a dependency");
  hold("installed bytes", bytes, 3_000_000, "drop a dependency, or publish less");
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
  }, 0);
}

/** A hello-world server, minified; the JSON Schema validator is counted apart. */
async function measureBundle(transport: "stdio" | "http", budget: number): Promise<void> {
  const entry = `scripts/budgets/hello-${transport}.ts`;
  const whole = await bundle(entry);
  const parts = Object.entries(whole.parts);
  const validator = parts.filter(([file]) => file.startsWith("dist/schema/json-schema"));
  const apart = validator.reduce((sum, [, bytes]) => sum + bytes, 0);
  const largest = parts
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([file, bytes]) => `${file} ${count(bytes)}`)
    .join(", ");
  hold(
    `bundled ${transport} server, bytes minified`,
    whole.bytes - apart,
    budget,
    `the largest parts are ${largest}`,
  );
  report("  with the JSON Schema validator", whole.bytes);
}

async function bundle(entry: string): Promise<{ bytes: number; parts: Record<string, number> }> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    metafile: true,
    write: false,
    outdir: "out",
  });
  const [output] = Object.values(metafile.outputs);
  const parts = Object.entries(output?.inputs ?? {}).map(([file, { bytesInOutput }]) => [
    file,
    bytesInOutput,
  ]);
  return { bytes: output?.bytes ?? 0, parts: Object.fromEntries(parts) };
}

/** These entries run anywhere: nothing that they reach may import a module of Node. */
async function findNodeImports(name: string): Promise<void> {
  const { metafile } = await build({
    stdin: { contents: `export * from "${name}";`, resolveDir: ".", sourcefile: "entry" },
    bundle: true,
    format: "esm",
    platform: "node",
    metafile: true,
    write: false,
    outdir: "out",
  });
  const found = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
    imports
      .filter(({ path, external }) => external && isBuiltin(path))
      .map(
        ({ path }) => `${name} reaches ${chainTo(metafile, file)}, which imports ${path}: move it to an edge`,
      ),
  );
  report(`modules that ${name} reaches`, Object.keys(metafile.inputs).length - 1);
  problems.push(...found);
}

/** The way from the entry to `file`, so that the import at fault can be found. */
function chainTo(metafile: Metafile, file: string): string {
  const chain = [file];
  for (let at: string | undefined = file; at !== undefined;) {
    at = Object.keys(metafile.inputs).find(
      (from) =>
        !chain.includes(from) &&
        from !== "entry" &&
        metafile.inputs[from]?.imports.some(({ path }) => path === chain[0]),
    );
    if (at !== undefined) chain.unshift(at);
  }
  return chain.join(" → ");
}

/** What a ten-tool server costs the compiler. */
function measureTypes(): void {
  const output = execFileSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", "scripts/budgets/tsconfig.json", "--extendedDiagnostics"],
    { encoding: "utf8" },
  );
  const instantiations = Number(/Instantiations:\s+(\d+)/.exec(output)?.[1]);
  hold("instantiations of a ten-tool server", instantiations, 15_000, "simplify the types of McpServer.tool");
}
