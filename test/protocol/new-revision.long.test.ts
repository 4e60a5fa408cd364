// A new revision is one file and its line: a copy of the source gets one, is built, and runs the matrix with it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyWithMadeUp, madeUp, type MadeUpCopy } from "../support/made-up-revision.ts";

let copy: MadeUpCopy;
let outcomes: readonly Outcome[];
beforeAll(async () => {
  copy = await copyWithMadeUp();
  outcomes = await runThere([differences, ...(await matrixFiles())]);
}, 240_000);
afterAll(() => copy.remove());

const differences = "test/protocol/fixtures/beside-made-up.ts";

/** The test files that run over every revision. What no schema allows could be heard by the file that runs next. */
async function matrixFiles(): Promise<string[]> {
  const files = await readdir(join(copy.folder, "test"), { recursive: true });
  const wanted = files.filter(
    (file) => file.endsWith(".test.ts") && !/^(?:conformance|faults|stdio|wire)\//.test(file),
  );
  const texts = await Promise.all(wanted.map((file) => readFile(join(copy.folder, "test", file), "utf8")));
  return wanted
    .filter((_, at) => texts[at]?.includes("describeMatrix(") && !texts[at].includes("allowBeyondSchema"))
    .map((file) => `test/${file}`);
}

interface Outcome {
  readonly file: string;
  readonly fullName: string;
  readonly status: "passed" | "failed" | "skipped" | "pending" | "todo";
  readonly failureMessages: readonly string[];
}

/** Runs test files in the copy: all the tests there whose name has the date. */
async function runThere(include: readonly string[]): Promise<Outcome[]> {
  const config = {
    cacheDir: ".vite",
    test: {
      include,
      globalSetup: ["test/support/schemas/compile.ts"],
      setupFiles: ["test/support/schemas/setup.ts"],
      testTimeout: 20_000,
      expect: { poll: { timeout: 15_000, interval: 5 } },
      // One process for all: most of the time of a file is that of its imports.
      maxWorkers: 1,
      isolate: false,
    },
  };
  await writeFile(join(copy.folder, "vitest.config.js"), `export default ${JSON.stringify(config)};`);
  const args = ["run", "-t", madeUp.date, "--reporter=json", "--outputFile=outcome.json"];
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], {
    cwd: copy.folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  const written = await readFile(join(copy.folder, "outcome.json"), "utf8").catch(() => undefined);
  if (written === undefined) throw new Error(`The run in the copy wrote no outcome: ${stderr}`);
  const report = JSON.parse(written) as {
    testResults: { name: string; assertionResults: Omit<Outcome, "file">[] }[];
  };
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((outcome) => ({ ...outcome, file: name })),
  );
}

test("the compiler takes the table as it is", () => {
  expect(copy.problems).toEqual([]);
});

test("what the revision changes holds for its own clients alone", () => {
  const own = outcomes.filter(({ file }) => file.endsWith(differences));
  expect(failuresIn(own)).toEqual([]);
  expect(own.filter(({ status }) => status === "passed").length).toBeGreaterThan(40);
});

test("every test of the matrix passes for it, but for those that say what it changes", () => {
  const changed = /\bping\b|lists the fields it knows/;
  expect(failuresIn(outcomes.filter(({ fullName }) => !changed.test(fullName)))).toEqual([]);
  const passed = outcomes.filter(({ status }) => status === "passed");
  for (const transport of ["memory", "stdio", "http"]) {
    expect(passed.filter(({ fullName }) => fullName.includes(`'${transport}'`)).length).toBeGreaterThan(200);
  }
});

function failuresIn(some: readonly Outcome[]): string[] {
  const failed = some.filter(({ status }) => status === "failed");
  return failed.map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join("\n")}`);
}
