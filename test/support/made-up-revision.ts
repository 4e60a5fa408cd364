// A copy of the repository that speaks one revision more: one file in the folder of the revisions, and its line in their list.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import ts from "typescript";
import { sources } from "./public-api.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A modern revision made up for tests: it has `ping` again, and no icons on tools; and prompts/get mirrors nothing. */
export const madeUp = { date: "2031-04-01", before: "2026-07-28" };

const table = `// Protocol revision ${madeUp.date}: ping is back, tools lose their icons, and prompts/get mirrors no name.
import { type Revision, withoutMembers, withRows } from "../revision.ts";
import { revision20260728 as before } from "./${madeUp.before}.ts";

export const revision20310401: Revision = {
  ...before,
  date: "${madeUp.date}",
  requests: withRows(before.requests, [
    ["ping", {}],
    ["prompts/get", { feature: "prompts", repeats: ["name", "arguments"] }],
  ]),
  fields: { ...before.fields, tool: withoutMembers(before.fields.tool, ["icons"]) },
};
`;

export interface MadeUpCopy {
  readonly folder: string;
  /** What the compiler says of the tables, with the new one. */
  readonly problems: readonly string[];
  remove(): Promise<void>;
}

/** Makes the copy, adds the revision, and builds the package there. The tests come along, and find that package. */
export async function copyWithMadeUp(): Promise<MadeUpCopy> {
  const folder = await mkdtemp(join(tmpdir(), "halyard-revision-"));
  await Promise.all(
    ["src", "test", "spec/schemas", "tsconfig.json"].map((part) =>
      cp(join(root, part), join(folder, part), { recursive: true }),
    ),
  );
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await addRevision(join(folder, "src/protocol/revisions"));
  await addSchema(join(folder, "spec/schemas"));
  await buildPackage(folder);
  return { folder, problems: checkTables(folder), remove: () => rm(folder, { recursive: true }) };
}

/** All that a new revision takes: a file, and its line. */
async function addRevision(revisions: string): Promise<void> {
  await writeFile(join(revisions, `${madeUp.date}.ts`), table);
  const list = join(revisions, "index.ts");
  const text = await readFile(list, "utf8");
  const imported = `import { revision20310401 } from "./${madeUp.date}.ts";\n`;
  const listed = text.replace(/(readonly Revision\[\] = \[\n)/, "$1  revision20310401,\n");
  await writeFile(list, listed.replace(/^import /m, `${imported}import `));
}

/** What the protocol would publish with it, so that every message of the tests is checked. */
async function addSchema(schemas: string): Promise<void> {
  const schema = JSON.parse(await readFile(join(schemas, `${madeUp.before}.json`), "utf8")) as {
    $defs: Record<string, { properties: Record<string, unknown> }>;
  };
  const { $defs } = schema;
  delete $defs["Tool"]?.properties["icons"];
  $defs["PingRequest"] = { properties: { method: { const: "ping" } } };
  await writeFile(join(schemas, `${madeUp.date}.json`), JSON.stringify(schema));
}

async function buildPackage(folder: string): Promise<void> {
  const entries = Object.entries(sources).map(([entry, source]) => {
    const name = entry === "halyard" ? "index" : entry.replace("halyard/", "");
    return { entry, name, source: join(folder, source) };
  });
  await build({
    entryPoints: entries.map(({ name, source }) => ({ in: source, out: name })),
    outdir: join(folder, "dist"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  const exports = entries.map(({ entry, name }) => [entry.replace("halyard", "."), `./dist/${name}.js`]);
  const manifest = { name: "halyard", type: "module", exports: Object.fromEntries(exports) as object };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
}

function checkTables(folder: string): string[] {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, folder);
  const program = ts.createProgram([join(folder, "src/protocol/revisions/index.ts")], {
    ...options,
    noEmit: true,
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
