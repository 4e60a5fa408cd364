// Builds the package: a file for each entry and a few that they share, since every file costs time when it is loaded, and the
// declarations that the entries reach. It checks no types: `npm run check:types` does.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { dirname, join } from "node:path/posix";
import { build, type BuildOptions, type Plugin } from "esbuild";
import ts from "typescript";
import { buildPage } from "./build-page.ts";
import { type Entry, platformFiles, readEntries } from "./entries.ts";
import { filesBelow } from "./files.ts";
import { makeDroppable } from "./droppable.ts";

const entries = readEntries();
const sources = entries.map(({ source }) => source);

/** What every server loads whichever transport it has: all that these reach becomes one file. */
const core = new Set(["halyard", "halyard/transport"]);
/** A client loads no server, and no OAuth either. */
const client = "halyard/client";
const oauth = "src/client/oauth/";

/** The source of a file that is loaded with others rather than from a file of its own may have so many bytes. */
const maxFragmentBytes = 4000;

const settings = {
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "neutral",
  target: "es2023",
  external: ["node:*", "#*"],
  write: false,
} as const satisfies BuildOptions;

const files = new Map([...(await bundle()), ...declarations(), ...(await buildPage())]);
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
for (const path of filesBelow("dist", ".js", ".ts")) if (!files.has(path)) rmSync(path);

/** The code, by path. Packages that the user installs with this one stay imports, and so does the choice of a platform. */
async function bundle(): Promise<[string, string][]> {
  const { outputFiles } = await build({
    ...settings,
    entryPoints: [...sources, ...platformFiles.client, ...platformFiles.server],
    outbase: "src",
    outdir: "dist",
    chunkNames: "shared/[hash]",
    splitting: true,
    plugins: [await widenReach()],
    // That an entry imports a file for nothing but having it in its reach is meant.
    logOverride: { "ignored-bare-import": "silent" },
  });
  return outputFiles.map(({ path, text }) => [
    relative(".", path).replaceAll("\\", "/"),
    makeDroppable(path, text),
  ]);
}

/**
 * Widens what entries reach, since what the same entries reach becomes one file, and few large files load faster than many small ones.
 * Every server reaches the core; every file that is loaded by itself reaches all that servers and clients share. What a client loads
 * later reaches what it has loaded at once, what any such part shares with servers, and the fragments of several parts; so does what it
 * loads later of theirs.
 */
async function widenReach(): Promise<Plugin> {
  const isClient = ({ name }: Entry): boolean => name.startsWith(client);
  const serverSources = entries.filter((entry) => !isClient(entry)).map(({ source }) => source);
  const servers = [...serverSources, ...platformFiles.server];
  const clientSources = entries.filter(isClient).map(({ source }) => source);
  const clientEntries = clientSources.filter((source) => !source.startsWith(oauth));
  const clients = [...clientSources, ...platformFiles.client];
  const [ofServers, ofClients] = [await reachOf(servers), await reachOf(clients)];
  const ofEntries = await reachOf(clientEntries);
  const sharedBy = (reached: ReadonlySet<string>): string[] =>
    [...reached].filter((file) => ofServers.atOnce.has(file) && !file.startsWith("src/client/"));
  const shared = sharedBy(ofClients.atOnce);
  const parts = [...ofClients.later].filter(
    (file) => file.startsWith("src/client/") && !file.startsWith(oauth),
  );
  const sharedLater = sharedBy((await reachOf(parts)).atOnce);
  const loaded = [...ofEntries.atOnce].filter((file) => !clientEntries.includes(file));
  const elsewhere = new Set([...ofClients.atOnce, ...ofServers.atOnce, ...parts]);
  const fragments = await fragmentsOf(parts, elsewhere);
  const ofCore = entries.filter(({ name }) => core.has(name)).map(({ source }) => source);
  const lateOfServers = [...ofClients.later].filter((file) => ofServers.atOnce.has(file));
  const added = new Map([
    ...[...clients, ...ofClients.later].map((file) => [file, shared] as const),
    ...lateOfServers.map((file) => [file, [...shared, ...sharedLater]] as const),
    ...parts.map((file) => [file, [...shared, ...sharedLater, ...loaded, ...fragments]] as const),
    ...servers.map((file) => [file, [...ofCore, ...shared, ...sharedLater]] as const),
  ]);
  return {
    name: "widen-reach",
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const imports = added.get(relative(".", path).replaceAll("\\", "/"));
        if (imports === undefined) return undefined;
        const lines = imports.map((file) => `import ${JSON.stringify(resolve(file))};`);
        return { loader: "ts", contents: [readFileSync(path, "utf8"), ...lines].join("\n") };
      }),
  };
}

/**
 * The small files that several of these import at once, and nothing in `elsewhere` does: each set of importers would make a file of
 * its own of them.
 */
async function fragmentsOf(entryPoints: string[], elsewhere: ReadonlySet<string>): Promise<string[]> {
  const importers = new Map<string, number>();
  for (const entry of entryPoints)
    for (const file of (await reachOf([entry])).atOnce) importers.set(file, (importers.get(file) ?? 0) + 1);
  return [...importers]
    .filter(([file, count]) => count > 1 && !elsewhere.has(file) && statSync(file).size <= maxFragmentBytes)
    .map(([file]) => file);
}

/** The files that these import at once, and those files in turn; and the files that are imported later, by whichever file. */
async function reachOf(entryPoints: string[]): Promise<{ atOnce: Set<string>; later: Set<string> }> {
  const { metafile } = await build({ ...settings, entryPoints, outdir: "dist", metafile: true });
  const importsOf = (file: string, isLater: boolean): string[] =>
    (metafile.inputs[file]?.imports ?? [])
      .filter(({ kind, external }) => !external && isLater === (kind === "dynamic-import"))
      .map(({ path }) => path);
  const atOnce = new Set(entryPoints);
  for (const file of atOnce) for (const path of importsOf(file, false)) atOnce.add(path);
  const later = new Set(Object.keys(metafile.inputs).flatMap((file) => importsOf(file, true)));
  return { atOnce, later };
}

/**
 * The declarations of the entries and of what they name, by path. A whole program emits them: `ts.transpileDeclaration` sees no
 * `lib`, and so declares a method such as `[Symbol.iterator]` twice.
 */
function declarations(): Map<string, string> {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ".");
  // Types of Node are not looked at where nothing is checked, and take long to read.
  const program = ts.createProgram(sources, { ...options, types: [], noCheck: true });
  const written = new Map<string, string>();
  const reached = new Set(sources);
  for (const source of reached) {
    const write = (path: string, text: string): void => {
      written.set(relative(".", path).replaceAll("\\", "/"), text);
      for (const { fileName } of ts.preProcessFile(text).importedFiles)
        if (fileName.startsWith(".")) reached.add(join(dirname(source), fileName));
    };
    const { diagnostics } = program.emit(program.getSourceFile(source), write, undefined, true);
    for (const { messageText } of diagnostics)
      throw new Error(`${source}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  }
  return written;
}
