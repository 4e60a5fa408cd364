// What Halyard costs those who use it: packages and bytes installed, bytes bundled, work for their compiler.
// Each budget leaves 2 % room. Past it, drop what is too much, or raise it and say why in the commit. Needs the built package.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { readEntries } from "./entries.ts";
import { endWith } from "./outcome.ts";

const problems: string[] = [];
/** The source of each entry: bundling from sources tells what each source file costs. */
const fromSources = Object.fromEntries(readEntries().map(({ name, source }) => [name, `./${source}`]));
/** The formats count with it: of servers only the validator checks them. */
const validator = ["src/protocol/schema/json-schema", "src/protocol/formats/"];
const droppableRemedy = "see that scripts/droppable.ts marks what bundlers cannot drop";
/** The files that a bundled client may have. */
const sharedWithClient = /^src\/(base|protocol|client\/(?!oauth\/))|^<stdin>$/;
/** What a client loads when it connects to a URL, besides what its page loads at once. */
const ofHttpClient = ["src/client/http/transport.ts", "src/client/catalogue/catalogue.ts"];
const leaveOutValidator: Plugin = {
  name: "leave-out-validator",
  setup: ({ onResolve }) => onResolve({ filter: /\/json-schema(\/|\.ts$)/ }, () => ({ external: true })),
};

measureInstallation();
// The aims are 120,000 and 160,000: what is over them are the limits by caller, the checks of options and of results, methods of
// one's own, errors that say what to do, and the logs of sessions: a process alone keeps them as the nodes of a cluster do, which
// takes 11,000 and 36,000 bytes more than a second, simpler path of its own, and saves that path.
await measureBundle("stdio", 228_000);
await measureBundle("http", 315_500);
await measureAuth();
await measureOneName();
await measureClient();
await measureOAuth();
await measureLoading(["halyard", "halyard/stdio"], 6);
await measureLoading(["halyard/client"], 6);
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
  // Three quarters are the package itself: servers, a client and its OAuth, a dashboard and its page, with their declarations.
  hold("installed bytes", bytes, 4_000_000, "drop a dependency, or publish less");
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
  }, 0);
}

/** A hello-world server, minified, with the JSON Schema validator apart, and what each folder is of it. */
async function measureBundle(transport: "stdio" | "http", budget: number): Promise<void> {
  const entry = `scripts/budgets/hello-${transport}.ts`;
  const published = await bundle([entry]);
  const sources = await bundle([entry], { alias: fromSources });
  const withoutValidator = await bundle([entry], { alias: fromSources, plugins: [leaveOutValidator] });
  const apart = sumOf(sources.parts, (file) => validator.some((path) => file.startsWith(path)));
  hold(
    `bundled ${transport} server, bytes minified`,
    published.bytes - apart,
    budget,
    largestOf(sources.parts),
  );
  report("  gzip", withoutValidator.gzip);
  report("  with the JSON Schema validator", published.bytes);
  report("  with the JSON Schema validator, gzip", published.gzip);
  for (const [folder, bytes] of byFolder(sources.parts)) report(`    ${folder}`, bytes);
  hold("  more than bundled from single files", published.bytes - sources.bytes, 500, droppableRemedy);
}

/** What `bearerAuth` adds to the server over HTTP, and what of that are the packages that it needs. */
async function measureAuth(): Promise<void> {
  const without = await bundle(["scripts/budgets/hello-http.ts"], { alias: fromSources });
  const { bytes, gzip, parts } = await bundle(["scripts/budgets/hello-auth.ts"], { alias: fromSources });
  report("bearerAuth adds to the http server, bytes minified", bytes - without.bytes);
  report(
    "  of that, its dependencies",
    sumOf(parts, (file) => file.includes("node_modules/")),
  );
  report("  gzip", gzip - without.gzip);
}

/** An import of one small name brings little else: bundlers can drop the rest of the files that entries share. */
async function measureOneName(): Promise<void> {
  const { bytes } = await bundle([], {
    stdin: { contents: 'export { text } from "halyard";', resolveDir: "." },
  });
  hold(
    "bundle of text() alone, bytes minified",
    bytes,
    1_000,
    "find what is kept, and see scripts/droppable.ts",
  );
}

/** A client in a browser, without the validator: what a page loads at once, what it has loaded when it calls a tool, and all. */
async function measureClient(): Promise<void> {
  const contents = 'export { connect } from "halyard/client";';
  const options: BuildOptions = {
    stdin: { contents, resolveDir: "." },
    platform: "browser",
    splitting: true,
  };
  const published = await bundle([], options);
  const alias = { ...fromSources, "#client-platform": "./src/client/platform/web.ts" };
  const split = { ...options, alias, plugins: [leaveOutValidator] };
  const sources = await bundle([], split);
  const connected = await bundle([], split, ofHttpClient);
  const whole = await bundle([], { ...split, splitting: false });
  hold("bundled client for browsers, bytes minified", published.bytes, 70_500, largestOf(sources.parts));
  report("  gzip", published.gzip);
  for (const [folder, bytes] of byFolder(sources.parts)) report(`    ${folder}`, bytes);
  hold("  more than bundled from single files", published.bytes - sources.bytes, 500, droppableRemedy);
  // 700 of these bytes name the CORS headers that a server lacks, and tell credentials of servers, replies and people who sign in.
  hold("  with what calls over HTTP load", connected.bytes, 115_000, largestOf(connected.parts));
  report("  gzip", connected.gzip);
  // 2,900 of these bytes are the formats of forms, by the same code as the validator's.
  hold("  with everything, in one file", whole.bytes, 178_500, largestOf(whole.parts));
  report("  gzip", whole.gzip);
  const strangers = [...whole.parts.keys()].filter((file) => !sharedWithClient.test(file));
  if (strangers.length > 0)
    problems.push(`A bundled client has code of a server, or of OAuth: ${strangers.join(", ")}`);
}

/** What signing in adds to a page: what it loads at once, without the code of a client, and everything in one file. */
async function measureOAuth(): Promise<void> {
  const contents = 'export { finishSignIn, oauth } from "halyard/client/oauth";';
  const platform = "./src/client/oauth/platform/web.ts";
  const options: BuildOptions = {
    stdin: { contents, resolveDir: "." },
    platform: "browser",
    splitting: true,
  };
  const published = await bundle([], options);
  const alias = { ...fromSources, "#oauth-platform": platform };
  const sources = await bundle([], { ...options, alias });
  const all = { contents: 'export * from "halyard/client/oauth";', resolveDir: "." };
  const whole = await bundle([], { ...options, alias, stdin: all, splitting: false });
  // 22,600 of these bytes are oauth4webapi: requests, proofs and checks that others review are worth more than their size.
  hold("bundled oauth for browsers, bytes minified", published.bytes, 73_000, largestOf(sources.parts));
  report("  gzip", published.gzip);
  report(
    "  of that, its dependency",
    sumOf(sources.parts, (file) => file.includes("node_modules/")),
  );
  for (const [folder, bytes] of byFolder(sources.parts)) report(`    ${folder}`, bytes);
  hold("  more than bundled from single files", published.bytes - sources.bytes, 500, droppableRemedy);
  report("  every way to obtain tokens, in one file", whole.bytes);
  report("  gzip", whole.gzip);
}

/** Every file costs time when it is loaded, and each client that starts a stdio server waits for it. */
async function measureLoading(names: readonly string[], budget: number): Promise<void> {
  const contents = names.map((name) => `import "${name}";`).join("");
  const { parts } = await bundle([], {
    stdin: { contents, resolveDir: "." },
    splitting: true,
    treeShaking: false,
    ignoreAnnotations: true,
  });
  hold(`files that ${names.join(" and ")} load`, parts.size - 1, budget, "see scripts/build.ts");
}

interface Bundled {
  readonly bytes: number;
  readonly gzip: number;
  /** How many bytes each file came to. */
  readonly parts: ReadonlyMap<string, number>;
}

/** `later`: the files that are imported later, and count all the same. */
async function bundle(
  entryPoints: string[],
  options: BuildOptions = {},
  later: readonly string[] = [],
): Promise<Bundled> {
  const settings = { entryPoints, bundle: true, minify: true, format: "esm", platform: "node" } as const;
  const outcome = { metafile: true, write: false, outdir: "out", logLevel: "error" } as const;
  const { metafile, outputFiles } = await build({ ...settings, ...options, ...outcome });
  const loaded = loadedAtOnce(metafile, ["<stdin>", ...entryPoints, ...later]);
  const outputs = [...loaded].flatMap((path) => metafile.outputs[path] ?? []);
  const files = outputFiles
    .filter(({ path }) => loaded.has(relative(".", path)))
    .map(({ contents }) => contents);
  if (files.length === 0) throw new Error(`${entryPoints.join()} makes no bundle`);
  return {
    bytes: files.reduce((sum, { length }) => sum + length, 0),
    gzip: files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0),
    parts: new Map(
      outputs.flatMap(({ inputs }) =>
        Object.entries(inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput] as const),
      ),
    ),
  };
}

/** The outputs of these files, and the outputs that they import in turn; not those that one may import later. */
function loadedAtOnce({ outputs }: Metafile, files: readonly string[]): Set<string> {
  const loaded = new Set(
    Object.keys(outputs).filter((path) => files.includes(outputs[path]?.entryPoint ?? "")),
  );
  for (const path of loaded)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === "import-statement" && imported in outputs) loaded.add(imported);
  return loaded;
}

function largestOf(parts: ReadonlyMap<string, number>): string {
  const largest = [...parts].toSorted(([, a], [, b]) => b - a).slice(0, 5);
  return `the largest parts are ${largest.map(([file, bytes]) => `${file} ${count(bytes)}`).join(", ")}`;
}

function sumOf(parts: ReadonlyMap<string, number>, isWanted: (file: string) => boolean): number {
  return [...parts].reduce((sum, [file, bytes]) => sum + (isWanted(file) ? bytes : 0), 0);
}

/** What the folders of `src/` and those inside them cost, the largest first. */
function byFolder(parts: ReadonlyMap<string, number>): [string, number][] {
  const folders = new Set([...parts.keys()].map(dirname).filter((folder) => folder.startsWith("src")));
  return [...folders]
    .map((folder): [string, number] => [folder, sumOf(parts, (file) => dirname(file) === folder)])
    .toSorted(([, a], [, b]) => b - a);
}

/** These entries run anywhere: nothing that they reach may import a module of Node. */
async function findNodeImports(name: string): Promise<void> {
  const { metafile } = await build({
    stdin: { contents: `export * from "${name}";`, resolveDir: ".", sourcefile: "entry" },
    alias: fromSources,
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
