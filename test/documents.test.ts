// The documents speak of what is there: links lead somewhere, files that are named exist, and every page is in the index.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, test } from "vitest";
import {
  anchorsIn,
  documents,
  languagesIn,
  linksIn,
  readDocument,
  readTable,
  repositoryUrl,
} from "./support/documents.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const layers = (JSON.parse(readDocument("scripts/layers.json")) as string[])
  .filter((layer) => !layer.includes("."))
  .join("|");
/** Written by a program. */
const generated = new Set(["bench/results.md", "bench/soak-results.md"]);
const sourceFile = new RegExp(`\`((?:${layers})/[\\w./-]+\\.ts)\``, "g");

test.each(documents)("%s links to files and headings that exist", (path) => {
  const lost = linksIn(path).filter(({ file, anchor }) => {
    if (isMissing(file)) return true;
    return anchor !== undefined && !(file.endsWith(".md") && anchorsIn(file).includes(anchor));
  });
  expect(lost).toEqual([]);
});

describe("README.md", () => {
  const lines = readDocument("README.md").split("\n");

  test("has at most 130 lines, and code within the first 30", () => {
    expect(lines.length - 1).toBeLessThanOrEqual(130);
    expect(lines.slice(0, 30)).toContain("```ts");
  });

  test("says how to start the demo and the tests", () => {
    for (const command of ["npm ci && npm start", "npm ci && npm test"]) {
      expect(lines.filter((line) => line.startsWith(command))).toHaveLength(1);
    }
  });

  test("lists every import of the package", () => {
    const { exports } = JSON.parse(readDocument("package.json")) as {
      exports: Record<string, object | string>;
    };
    const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");
    const listed = readTable("README.md", "Imports").map((row) => row["import"]);
    expect(listed.toSorted()).toEqual(entries.map((entry) => entry.replace(".", "halyard")).toSorted());
  });
});

test.each(["README.md", "docs/reference/revisions.md"])("%s lists every revision with its era", (path) => {
  const listed = readTable(path, "Protocol revisions").map(({ revision, era }) => ({ date: revision, era }));
  expect(listed).toEqual(protocolRevisions);
});

describe("docs/", () => {
  const pages = documents.filter((path) => path.startsWith("docs/") && path !== "docs/README.md");

  test("README.md lists every page once, under the kind that its folder is for", () => {
    const kinds = {
      start: "Start here",
      guides: "Guides",
      reference: "Reference",
      explanation: "Explanation",
      internals: "Internals",
    };
    const sections = readDocument("docs/README.md").split(/^## /m).slice(1);
    expect(sections.map((section) => section.split("\n")[0])).toEqual(Object.values(kinds));
    for (const [index, folder] of Object.keys(kinds).entries()) {
      // The package has no pages on its source, so the index links to those in the repository.
      const section = (sections[index] ?? "").replaceAll(`](${repositoryUrl}docs/`, "](");
      const targets = [...section.matchAll(/\]\(([^):]+\.md)\)/g)].map(([, target]) => target ?? "");
      const inside = targets.filter((target) => !target.startsWith("../")).map((target) => `docs/${target}`);
      expect(inside.toSorted()).toEqual(
        pages.filter((page) => page.startsWith(`docs/${folder}/`)).toSorted(),
      );
    }
    expect(pages.filter((page) => !Object.keys(kinds).includes(page.split("/")[1] ?? ""))).toEqual([]);
  });

  test.each(pages.filter((page) => !page.startsWith("docs/reference/")))(
    "%s has at most 1,600 words, since it answers one question",
    (path) => {
      expect(readDocument(path).split(/\s+/).length).toBeLessThanOrEqual(1600);
    },
  );

  test.each(pages)("%s ends with where to go next", (path) => {
    const last = readDocument(path).trimEnd().split("\n\n").at(-1) ?? "";
    expect(last).toMatch(/^Next: /);
    expect(last).toMatch(/\]\(/);
  });
});

test.each(documents.filter((path) => !generated.has(path)))(
  "%s says what modern and legacy are before it speaks of them",
  (path) => {
    const prose = readDocument(path).replaceAll(/^```[^]*?^```$|^#.*$|`[^`]*`|\[[^\]]*\]\([^)]*\)/gm, "");
    for (const kind of ["modern", "legacy"]) {
      const first = new RegExp(`_?(?<![a-z])${kind}(?![a-z])_?`, "i").exec(prose)?.[0];
      expect([`_${kind}_`, undefined]).toContain(first?.toLowerCase());
    }
  },
);

/** Which test runs the blocks of code that are not TypeScript; where it is `none`, nothing on this machine can. */
const runBy: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": { sh: "test/examples.test.ts" },
  "examples/README.md": { sh: "test/interop/examples.test.ts" },
  "docs/start/first-server.md": { sh: "test/start.test.ts", text: "test/start.test.ts" },
  "docs/start/first-client.md": { sh: "test/start.test.ts", text: "test/start.test.ts" },
  "docs/guides/deploy.md": {
    nginx: "test/deploy/nginx.test.ts",
    ini: "test/deploy/nginx.test.ts",
    sh: "none",
  },
  "docs/guides/cluster.md": {
    nginx: "test/deploy/cluster.test.ts",
    yaml: "test/deploy/cluster.test.ts",
    sh: "test/cluster/run.long.test.ts",
  },
  "docs/guides/cluster-operations.md": { sh: "test/deploy/cluster.test.ts" },
  "docs/guides/health.md": { yaml: "test/transports/http/health.test.ts" },
  "docs/guides/dashboard.md": { text: "test/dashboard/serving.test.ts" },
  "docs/guides/why-silent.md": { sh: "test/dashboard/silence.long.test.ts" },
  "docs/guides/mounting.md": { sh: "test/runtimes/runtimes.registry.test.ts" },
  "docs/guides/hosts.md": {
    json: "test/hosts.test.ts",
    toml: "test/hosts.test.ts",
    sh: "test/hosts.test.ts",
  },
  "docs/guides/javascript.md": {
    json: "test/samples.test.ts",
    js: "test/samples.test.ts",
    cjs: "test/samples.test.ts",
  },
  "docs/guides/migrating-fastmcp.md": { js: "none" },
  "docs/guides/platforms.md": { dockerfile: "none", sh: "none", toml: "none" },
  "docs/guides/results.md": { text: "none" },
  "bench/README.md": { sh: "none" },
  "ARCHITECTURE.md": { "": "none", text: "none", mermaid: "none" },
};

test.each(documents)("%s has no block of code that no test runs", (path) => {
  const others = languagesIn(path).filter((language) => language !== "ts");
  expect(others.filter((language) => runBy[path]?.[language] === undefined)).toEqual([]);
  const tests = Object.values(runBy[path] ?? {}).filter((file) => file !== "none");
  expect(tests.filter(isMissing)).toEqual([]);
});

test.each(documents)("%s names files of the source and of the tests that exist", (path) => {
  const text = readDocument(path);
  const sources = [...text.matchAll(sourceFile)].map(([, file]) => `src/${file}`);
  const others = [...text.matchAll(/`((?:src|test|spec|scripts)\/[\w./-]+\.\w+)`/g)].map(([, file]) => file);
  expect([...sources, ...others].filter(isMissing)).toEqual([]);
});

test.each(documents.filter((path) => /^ARCHITECTURE\.md$|^docs\/internals\//.test(path)))(
  "%s names folders of the source that exist",
  (path) => {
    const folders = [...readDocument(path).matchAll(/`([\w./-]+\/)`/g)].map(([, folder = ""]) => folder);
    expect(folders.filter((folder) => isMissing(folder) && isMissing(`src/${folder}`))).toEqual([]);
  },
);

test("docs/explanation/cluster.md names for every guarantee the tests that show it", () => {
  const rows = readTable("docs/explanation/cluster.md", "Which message is delivered how often");
  expect(rows.length).toBeGreaterThanOrEqual(15);
  const shown = rows.map((row) => (row["shown by"] ?? "").split(", "));
  expect(shown.flat().filter((file) => !/^test\/.*\.test\.ts$/.test(file) || isMissing(file))).toEqual([]);
});

test("docs/reference/backplane.md lists the options of a backplane, and the events of a cluster", () => {
  const source =
    readDocument("src/cluster/engine/engine.ts").split("export interface BackplaneOptions")[1] ?? "";
  const options = [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name);
  expect(readTable("docs/reference/backplane.md", "Options").map(({ option }) => option)).toEqual(options);
  const [ofNodes = "", ofClients = ""] = [
    "src/cluster/node/backplane.ts",
    "src/server/diagnostics/events.ts",
  ].map(readDocument);
  const events =
    (ofNodes.split("/** A node has joined")[1] ?? "") +
    ofClients.split("/** The client of a session resumes")[1];
  const types = [...events.matchAll(/^ {2}readonly type: "([\w-]+)";/gm)].map(([, type]) => type);
  expect(readTable("docs/reference/backplane.md", "Events").map(({ type }) => type)).toEqual(types);
});

test("docs/guides/dashboard.md lists the options of a dashboard", () => {
  const source = readDocument("src/dashboard/options.ts").split("export interface DashboardOptions")[1] ?? "";
  const [own = ""] = source.split("\n}\n");
  const options = [...own.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name);
  expect(options.length).toBeGreaterThan(0);
  expect(readTable("docs/guides/dashboard.md", "Options").map(({ option }) => option)).toEqual(options);
});

test("docs/guides/client-changes.md lists what a client can listen for, and the official names lead there", () => {
  const source =
    readDocument("src/client/listening/filter.ts").split("export interface ListenFilter")[1] ?? "";
  const [own = ""] = source.split("\n}\n");
  const fields = [...own.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name = ""]) => name);
  expect(fields.length).toBeGreaterThan(0);
  expect(readTable("docs/guides/client-changes.md", "Listen for changes").map(({ field }) => field)).toEqual(
    fields,
  );
  const migrating = readDocument("docs/guides/migrating-official-client.md");
  for (const field of fields) expect(migrating).toContain(`listen({ ${field}: `);
});

test("SECURITY.md is in the package, and reports can be made where package.json says", () => {
  const parsed = JSON.parse(readDocument("package.json")) as Record<string, unknown>;
  const { files, repository, bugs, homepage } = parsed;
  expect(files).toContain("SECURITY.md");
  const { url } = repository as { url: string };
  const address = url.replace(/^git\+/, "").replace(/\.git$/, "");
  expect([bugs, homepage].every((link) => String(link).startsWith(address))).toBe(true);
  expect(readDocument("SECURITY.md")).toContain(`${address}/security/advisories/new`);
});

function isMissing(path: string | undefined): boolean {
  return path === undefined || !existsSync(root + path);
}
