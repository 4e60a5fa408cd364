// Builds the package: a file for each entry and a few that they share, since every file costs time when it is loaded, and the
// declarations that the entries reach. It checks no types: `npm run check:types` does.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { dirname, join } from "node:path/posix";
import { build, type Plugin } from "esbuild";
import ts from "typescript";
import { readEntries } from "./entries.ts";
import { filesBelow } from "./files.ts";
import { makeDroppable } from "./droppable.ts";

const entries = readEntries();
const sources = entries.map(({ source }) => source);

/** What every server loads whichever transport it has: all that these reach becomes one file. */
const core = new Set(["halyard", "halyard/transport"]);

/** Has every entry reach the core, since what the same entries reach becomes one file. Few large files load faster than many small ones. */
const reachCore: Plugin = {
  name: "reach-core",
  setup({ onLoad }) {
    const imports = entries
      .filter(({ name }) => core.has(name))
      .map(({ source }) => `import ${JSON.stringify(resolve(source))};`);
    onLoad({ filter: /index\.ts$/ }, ({ path }) =>
      entries.some(({ source }) => resolve(source) === path)
        ? { loader: "ts", contents: `${readFileSync(path, "utf8")}\n${imports.join("\n")}` }
        : undefined,
    );
  },
};

const files = new Map([...(await bundle()), ...declarations()]);
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
for (const path of filesBelow("dist", ".js", ".ts")) if (!files.has(path)) rmSync(path);

/** The code, by path. Packages that the user installs with this one stay imports. */
async function bundle(): Promise<[string, string][]> {
  const { outputFiles } = await build({
    entryPoints: sources,
    outbase: "src",
    outdir: "dist",
    chunkNames: "shared/[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    external: ["node:*"],
    plugins: [reachCore],
    // That an entry imports the core for nothing but being in its reach is meant.
    logOverride: { "ignored-bare-import": "silent" },
    write: false,
  });
  return outputFiles.map(({ path, text }) => [
    relative(".", path).replaceAll("\\", "/"),
    makeDroppable(path, text),
  ]);
}

/** The declarations of the entries and of what they name, by path. */
function declarations(): Map<string, string> {
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ".");
  const written = new Map<string, string>();
  const reached = new Set(sources);
  for (const source of reached) {
    const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(source, "utf8"), {
      compilerOptions: options,
      fileName: source,
      reportDiagnostics: true,
    });
    for (const { messageText } of diagnostics ?? [])
      throw new Error(`${source}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
    written.set(source.replace(/^src/, "dist").replace(/\.ts$/, ".d.ts"), outputText);
    for (const { fileName } of ts.preProcessFile(outputText).importedFiles)
      if (fileName.startsWith(".")) reached.add(join(dirname(source), fileName));
  }
  return written;
}
