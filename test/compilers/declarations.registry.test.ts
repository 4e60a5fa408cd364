// The declarations of the packed package, compiled as users do: with each TypeScript since 5.4, without `skipLibCheck`. The others
// are installed from the registry first.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesOfPage, readBlocks, readSamples } from "../support/documents.ts";
import { compile, installCompilers, unpackPackage, type UserFolder } from "./compilers.ts";

const ours = fileURLToPath(new URL("../../node_modules/typescript", import.meta.url));
/** What has to compile where there are no types of Node. */
const ofWeb = ["halyard", "halyard/fetch", "halyard/client", "halyard/client/oauth"];

/** The first samples that people compile, by their paths in the folder. */
const samples = new Map([
  ...readSamples("README.md").map(({ code }, index) => [`readme-${index}.mts`, code] as const),
  ...["docs/start/first-server.md", "docs/start/first-client.md"].flatMap((page, index) =>
    [...filesOfPage(page)].map(([name, code]) => [`start-${index}-${name}`, code] as const),
  ),
]);
const [settings = ""] = readBlocks("docs/guides/javascript.md", "json");
const { compilerOptions } = JSON.parse(settings) as { compilerOptions: object };

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
      ...samples.keys(),
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

/** A server in a file that compiles to CommonJS. */
const inCommonJs = `import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
const server = new McpServer({ name: "hello", version: "1.0.0" });
server.tool("hello", {}, () => "Hello");
void serveStdio(server);
`;

/** A project with the settings of docs/guides/javascript.md, which writes its programs. */
const program = new Map([...filesOfPage("README.md")].map(([name, code]) => [`src/${name}`, code]));
const project = { files: [...program.keys()], options: { ...compilerOptions, noEmit: false } };
/** CommonJS can import the package since TypeScript 5.8. */
const projectWithCommonJs = { ...project, files: [...project.files, "src/common.cts"] };

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
  await mkdir(join(user.folder, "src"));
  const all = [...samples, ...program, ["src/common.cts", inCommonJs] as const];
  for (const [file, code] of all) await writeFile(join(user.folder, file), code);
}, 300_000);

afterAll(() => user.remove());

describe.each(Object.entries(worlds))("%s", (_, { files, options }) => {
  test("compile with the TypeScript of this repository, strictest", async () => {
    const strictest = { ...options, ...modules.nodenext, exactOptionalPropertyTypes: true };
    expect(await compile(ours, user, files, strictest)).toBe("");
  }, 300_000);
});

test("the settings of docs/guides/javascript.md compile with the TypeScript of this repository", async () => {
  const { files, options } = projectWithCommonJs;
  expect(await compile(ours, user, files, options)).toBe("");
}, 300_000);

describe("compilers since 5.4", () => {
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
          300_000,
        );
      });
    });
  });

  test.each([
    ["5.4", project],
    ["5.9", projectWithCommonJs],
    ["6.0", projectWithCommonJs],
    ["7.0", projectWithCommonJs],
  ])(
    "TypeScript %s compiles with the settings of docs/guides/javascript.md",
    async (version, { files, options }) => {
      const compiler = join(folder, "node_modules", `typescript-${version}`);
      expect(await compile(compiler, user, files, options)).toBe("");
    },
    300_000,
  );
});
