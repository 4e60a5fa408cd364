// The declarations of the packed package, compiled as users do: with each TypeScript since 5.4, without `skipLibCheck`. The others
// are installed from the registry first, so they run with HALYARD_COMPILERS=1 only.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, installCompilers, unpackPackage, type UserFolder } from "./compilers.ts";

const ours = fileURLToPath(new URL("../../node_modules/typescript", import.meta.url));
/** What has to compile where there are no types of Node. */
const ofWeb = ["halyard", "halyard/fetch", "halyard/client", "halyard/client/oauth"];

const modules = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

/** The programs, and the types that they are compiled with. */
const worlds = {
  "every entry on Node": {
    files: [
      "every-entry.ts",
      "server.ts",
      "page.ts",
      "terminal-form.ts",
      "using.ts",
      "agent-anthropic.ts",
      "agent-openai.ts",
    ],
    options: { lib: ["es2022"], types: ["node"] },
  },
  "the entries for the web, with the types of a page alone": {
    files: ["web-entries.ts", "page.ts"],
    options: { lib: ["es2022", "dom"], types: [] },
  },
  "await using, with the types of a page": {
    files: ["web-entries.ts", "page.ts", "using.ts"],
    options: { lib: ["es2022", "dom", "esnext.disposable"], types: [] },
  },
};

let user: UserFolder;

beforeAll(async () => {
  user = await unpackPackage();
  const packed = await readFile(join(user.folder, "node_modules/halyard/package.json"), "utf8");
  const { exports } = JSON.parse(packed) as { exports: Record<string, unknown> };
  const entries = Object.keys(exports).filter((subpath) => subpath !== "./package.json");
  const write = (file: string, names: readonly string[]): Promise<void> =>
    writeFile(
      join(user.folder, file),
      names.map((name, i) => `export * as n${i} from "${name}";`).join("\n"),
    );
  await write(
    "every-entry.ts",
    entries.map((subpath) => "halyard" + subpath.slice(1)),
  );
  await write("web-entries.ts", ofWeb);
}, 60_000);

afterAll(() => user.remove());

describe.each(Object.entries(worlds))("%s", (_, { files, options }) => {
  test("compile with the TypeScript of this repository, strictest", async () => {
    const strictest = { ...options, ...modules.nodenext, exactOptionalPropertyTypes: true };
    expect(await compile(ours, user, files, strictest)).toBe("");
  }, 60_000);
});

describe.skipIf(process.env["HALYARD_COMPILERS"] !== "1")("compilers since 5.4", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await installCompilers();
  }, 300_000);

  afterAll(() => rm(folder, { recursive: true }));

  describe.each(["5.4", "5.9", "6.0", "7.0"])("TypeScript %s", (version) => {
    describe.each(Object.entries(modules))("module %s", (_, module) => {
      describe.each([true, false])("exactOptionalPropertyTypes: %s", (exactOptionalPropertyTypes) => {
        test.each(Object.entries(worlds))(
          "%s",
          async (__, { files, options }) => {
            const compiler = join(folder, "node_modules", `typescript-${version}`);
            const all = { ...options, ...module, exactOptionalPropertyTypes };
            expect(await compile(compiler, user, files, all)).toBe("");
          },
          120_000,
        );
      });
    });
  });
});
