// Every code sample compiles and runs: those of the documents, and the examples in doc comments.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documents, readBlocks, readExamples, readSamples, type Sample } from "./support/documents.ts";
import { EngineProcess, hasEngine } from "./support/engines.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `src/${file}`);

const samples = [...documents.flatMap(readSamples), ...sources.flatMap(readExamples)];
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  types: ["node"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  strict: true,
  // Samples import other packages, whose declarations need it; test/compilers checks ours without.
  skipLibCheck: true,
  noEmit: true,
};

describe("samples", () => {
  test("all compile", { timeout: 60_000 }, () => {
    expect(compile(samples)).toEqual([]);
  });

  test("the compiler settings of docs/guides/migrating.md are valid", () => {
    const [settings = ""] = readBlocks("docs/guides/migrating.md", "json");
    const { compilerOptions } = JSON.parse(settings) as { compilerOptions: object };
    expect(ts.convertCompilerOptionsFromJson(compilerOptions, root).errors).toEqual([]);
  });

  test.each(documents.flatMap((path) => readBlocks(path, "cjs")))(
    "CommonJS program runs: %#",
    async (code) => {
      const run = promisify(execFile)(process.execPath, ["--input-type=commonjs", "--eval", code], {
        cwd: root,
      });
      run.child.stdin?.end();
      await run;
    },
  );

  // The steps of a tutorial need each other: test/start.test.ts takes them one after the other.
  const single = samples.filter(
    ({ name, code }) =>
      !name.startsWith("docs/start/") && (!code.includes("REDIS_URL") || hasEngine("redis-server")),
  );

  let redis: EngineProcess | undefined;
  beforeAll(async () => {
    if (hasEngine("redis-server")) redis = await EngineProcess.start("redis-server");
  });
  afterAll(() => redis?.stop());

  test.concurrent.each(single.map(({ name, code }) => [name, code]))(
    "%s runs",
    { timeout: 60_000 },
    async (_, code = "") => {
      const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
      const { outputText } = ts.transpileModule(runnable(code), { compilerOptions });
      const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", outputText], {
        cwd: root,
        timeout: 30_000,
        env: {
          ...process.env,
          REQUEST_STATE_KEYS: "a-secret-that-is-known-to-this-test-only",
          REDIS_URL: redis?.url,
        },
      });
      // A server on stdio ends when its client is gone.
      run.child.stdin?.end();
      await run;
    },
  );
});

/** A sample as it can be run beside others: on any free port, and ending when all that it says has been done. */
function runnable(code: string): string {
  const moved = code
    .replaceAll(/(port: |\.listen\()(?:3000\b|Number\(process\.env\["PORT"\]\))/g, "$10")
    .replace("0.0.0.0", "127.0.0.1");
  return moved === code ? code : `${moved}\nprocess.exit();`;
}

/** The complaints of the compiler, each with the sample it is about. */
function compile(all: readonly Sample[]): string[] {
  const files = new Map(all.map(({ code }, index) => [`${root}sample-${index}.ts`, code]));
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, version, onError) => {
    const code = files.get(path);
    return code === undefined
      ? getSourceFile(path, version, onError)
      : ts.createSourceFile(path, code, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const sample = all[Number(/sample-(\d+)/.exec(file?.fileName ?? "")?.[1])];
    return `${sample?.name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}
