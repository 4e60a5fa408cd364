// The public entries of the package as the compiler sees them: what each exports, and how it is documented.
import { copyFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { copyPackage } from "./package-copy.ts";

/** Something that an entry exports. */
export interface PublicSymbol {
  readonly name: string;
  /** Classes that are exported as types only count as types, since users cannot construct them. */
  readonly kind: "function" | "class" | "value" | "type";
  /** The sentences of its doc comment. */
  readonly summary: string;
  /** The code of each `@example`, without the fence. */
  readonly examples: readonly string[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));

export const sources = {
  halyard: "src/index.ts",
  "halyard/transport": "src/transports/index.ts",
  "halyard/node": "src/transports/node/index.ts",
  "halyard/fetch": "src/transports/fetch/index.ts",
  "halyard/auth": "src/auth/index.ts",
  "halyard/stdio": "src/transports/stdio/index.ts",
  "halyard/cluster": "src/cluster/index.ts",
  "halyard/redis": "src/cluster/redis/index.ts",
  "halyard/nats": "src/cluster/nats/index.ts",
  "halyard/client": "src/client/index.ts",
  "halyard/client/oauth": "src/client/oauth/index.ts",
  "halyard/dashboard": "src/dashboard/index.ts",
  "halyard/window": "src/window/index.ts",
  "halyard/testing": "src/testing/index.ts",
} as const;

export type Entry = keyof typeof sources;
export const entries = Object.keys(sources) as Entry[];

/** What the compiler says of the declarations of a file, when the file belongs to a user of the package. */
export async function declarationProblems(file: string): Promise<string[]> {
  const copy = await copyPackage(["zod"]);
  try {
    const own = join(copy.folder, basename(file));
    await writeFile(join(copy.folder, "package.json"), JSON.stringify({ type: "module" }));
    await copyFile(root + file, own);
    const { options } = ts.convertCompilerOptionsFromJson(
      {
        target: "es2023",
        module: "nodenext",
        strict: true,
        declaration: true,
        types: [],
      },
      copy.folder,
    );
    const program = ts.createProgram([own], options);
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  } finally {
    await copy.remove();
  }
}

/** What every entry exports, by name and in order. */
export function readPublicApi(): Record<Entry, PublicSymbol[]> {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(
    Object.values(sources).map((file) => root + file),
    options,
  );
  const read = (entry: Entry): [Entry, PublicSymbol[]] => [entry, exportsOf(program, root + sources[entry])];
  return Object.fromEntries(entries.map(read)) as Record<Entry, PublicSymbol[]>;
}

function exportsOf(program: ts.Program, file: string): PublicSymbol[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing`);
  return checker
    .getExportsOfModule(module)
    .map((exported) => describeSymbol(exported, checker))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function describeSymbol(exported: ts.Symbol, checker: ts.TypeChecker): PublicSymbol {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const examples = symbol
    .getJsDocTags(checker)
    .filter((tag) => tag.name === "example")
    .map((tag) => ts.displayPartsToString(tag.text).replace(/^[^]*?```ts\n([^]*?)```[^]*$/, "$1"));
  const kind = isTypeOnly(exported) ? "type" : kindOf(symbol.flags);
  const summary = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  return { name: exported.name, kind, summary, examples };
}

function isTypeOnly(exported: ts.Symbol): boolean {
  const specifier = exported.declarations?.find(ts.isExportSpecifier);
  return specifier !== undefined && (specifier.isTypeOnly || specifier.parent.parent.isTypeOnly);
}

function kindOf(flags: ts.SymbolFlags): PublicSymbol["kind"] {
  if (flags & ts.SymbolFlags.Class) return "class";
  if (flags & ts.SymbolFlags.Function) return "function";
  return flags & ts.SymbolFlags.Value ? "value" : "type";
}
