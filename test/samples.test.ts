// Every code sample compiles and runs: those of the documents, and the examples in doc comments.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documents, readBlocks, readExamples, readSamples, type Sample } from "./support/documents.ts";
import { removeTypes } from "./support/javascript.ts";
import { EngineProcess, hasEngine } from "./support/engines.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const providers = {
  "@anthropic-ai/sdk": "test/support/providers/anthropic.ts",
  openai: "test/support/providers/openai.ts",
};

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
  allowImportingTsExtensions: true,
  // Packages of model providers need a network, and a key: these files stand for them.
  paths: Object.fromEntries(Object.entries(providers).map(([name, file]) => [name, [root + file]])),
};

describe("samples", () => {
  test("all compile", { timeout: 60_000 }, () => {
    expect(compile(samples)).toEqual([]);
  });

  test("the compiler settings of docs/guides/javascript.md are valid", () => {
    const [settings = ""] = readBlocks("docs/guides/javascript.md", "json");
    const { compilerOptions } = JSON.parse(settings) as { compilerOptions: object };
    expect(ts.convertCompilerOptionsFromJson(compilerOptions, root).errors).toEqual([]);
  });

  test.each([
    ["module", "js"],
    ["commonjs", "cjs"],
  ])("docs/guides/javascript.md has a program that runs as it is: %s", async (kind, language) => {
    const [code = "", ...others] = readBlocks("docs/guides/javascript.md", language);
    expect(code).toContain("serveStdio(");
    expect(others).toEqual([]);
    const run = promisify(execFile)(process.execPath, [`--input-type=${kind}`, "--eval", code], {
      cwd: root,
    });
    run.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect((await run).stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  });

  test("one sample alone uses `using`, which Node 20 and 22 cannot parse", () => {
    expect(samples.filter(usesUsing).map(({ name }) => name)).toEqual(["docs/guides/client.md, sample 2"]);
  });

  // The steps of a tutorial need each other: test/start.test.ts takes them one after the other.
  const single = samples.filter(
    ({ name, code }) =>
      !/^docs\/start\/|^README.md, sample [12]$/.test(name) &&
      (!code.includes("REDIS_URL") || hasEngine("redis-server")),
  );

  let redis: EngineProcess | undefined;
  beforeAll(async () => {
    if (hasEngine("redis-server")) redis = await EngineProcess.start("redis-server");
  });
  afterAll(() => redis?.stop());

  // With its types removed, and nothing else rewritten: the JavaScript that runs here can be pasted into a file.
  test.concurrent.each(single.map((sample) => [sample.name, sample] as const))(
    "%s runs as JavaScript",
    { timeout: 60_000 },
    async (_, sample) => {
      if (sample.code.includes('from "vitest"')) return runByVitest(sample.code);
      const code = runnable(sample.code);
      const script = usesUsing(sample) ? lowerUsing(code) : removeTypes(code);
      const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
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
      const { stdout } = await run;
      if (sample.name.startsWith("docs/guides/agent.md"))
        expect(stdout).toBe("The tool says: 21 °C in Oslo\n");
    },
  );
});

function usesUsing({ code }: Sample): boolean {
  return /^\s*(?:await )?using \w+ =/m.test(code);
}

/** What a compiler makes of a sample for the Node versions that cannot parse `using`. */
function lowerUsing(code: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2025, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

/** Runs a sample that is a test, in a folder from which it finds the package. */
async function runByVitest(code: string): Promise<void> {
  const folder = mkdtempSync(`${root}test/.sample-`);
  try {
    writeFileSync(`${folder}/sample.test.ts`, code);
    // Otherwise the settings of this repository apply.
    writeFileSync(`${folder}/vitest.config.mjs`, "export default {};");
    const vitest = `${root}node_modules/vitest/vitest.mjs`;
    await promisify(execFile)(process.execPath, [vitest, "run", "--root", folder], { timeout: 50_000 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A sample as it can be run beside others: on any free port, with models that need no network, and ending when all is done. */
function runnable(sample: string): string {
  const code = Object.entries(providers).reduce((text, [name, file]) => {
    const stub = removeTypes(readFileSync(root + file, "utf8"));
    return text.replace(` from "${name}"`, ` from "data:text/javascript,${encodeURIComponent(stub)}"`);
  }, sample);
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
